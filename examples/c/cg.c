// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients (Hestenes and Stiefel 1952) for a sparse symmetric positive definite matrix: a .mtx
// file, or the matrix of a stencil on a grid. distal computes the product of matrix and vector and the two
// sums, each planned once; in between, vectors are changed in place. One process: cg [n [matrix.mtx]]
#include <distal.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static distal_context *d;

static void ok(distal_status status) {
    if (status == DISTAL_OK)
        return;
    fputs(distal_error(d), stderr);
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

static distal_tensor *declare(const char *text) {
    distal_tensor *tensor;
    ok(distal_tensor_declare(d, text, NULL, &tensor));
    return tensor;
}

static distal_plan *plan(const char *text) {
    distal_statement *statement;
    distal_plan *result;
    ok(distal_statement_create(d, text, &statement));
    ok(distal_plan_create(statement, &result));
    return result;
}

static double *elements(distal_tensor *tensor) {
    distal_piece piece;
    ok(distal_tensor_local(tensor, &piece));
    return piece.data;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int64_t n = argc > 1 ? atoll(argv[1]) : 1000;
    ok(distal_create(MPI_COMM_WORLD, &d));
    ok(distal_param(d, "n", n));
    distal_tensor *A = declare("A(n, n): f64, csr"), *x = declare("x(n): f64"), *r = declare("r(n): f64");
    distal_tensor *p = declare("p(n): f64"), *q = declare("q(n): f64");
    distal_tensor *pq = declare("pq: f64"), *rr = declare("rr: f64");
    ok(distal_tensor_fill(A, argc > 2 ? argv[2] : "stencil:7"));
    distal_plan *product = plan("q(i) = A(i, j) * p(j)"), *curvature = plan("pq = p(i) * q(i)"),
                *square = plan("rr = r(i) * r(i)"), *start = plan("x(i) = 0 * r(i)");

    // A x = b where b is all ones: x = 0, r = p = b.
    ok(distal_tensor_fill(r, "ones"));
    ok(distal_tensor_fill(p, "ones"));
    ok(distal_execute(start));
    ok(distal_execute(square));
    double *at_x = elements(x), *at_r = elements(r), *at_p = elements(p), *at_q = elements(q);
    const double *at_pq = elements(pq), *at_rr = elements(rr);
    const double first = *at_rr;
    double norm = first;
    int steps = 0;
    while (norm > 1e-20 * first && steps < 10 * n) {
        ok(distal_execute(product));
        ok(distal_execute(curvature));
        const double alpha = norm / *at_pq;
        for (int64_t i = 0; i < n; i++) {
            at_x[i] += alpha * at_p[i];
            at_r[i] -= alpha * at_q[i];
        }
        ok(distal_execute(square));
        const double beta = *at_rr / norm;
        for (int64_t i = 0; i < n; i++)
            at_p[i] = at_r[i] + beta * at_p[i];
        norm = *at_rr;
        steps++;
    }

    // The residual of the solution itself.
    for (int64_t i = 0; i < n; i++)
        at_p[i] = at_x[i];
    ok(distal_execute(product));
    double error = 0;
    for (int64_t i = 0; i < n; i++)
        error += (1 - at_q[i]) * (1 - at_q[i]);
    const int solved = sqrt(error / first) < 1e-8;
    printf("%d steps, relative residual %.1e: %s\n", steps, sqrt(error / first),
           solved ? "solved" : "not solved");
    distal_free(d);
    MPI_Finalize();
    return !solved;
}
