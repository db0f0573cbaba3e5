// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients (Hestenes and Stiefel 1952) for a sparse symmetric positive definite matrix: a .mtx
// file, or the matrix of a stencil on a grid. Matrix and vectors are distributed by rows, so
// that the ranks have as equal a number of entries as they can. distal computes the product, for which each
// rank gets the elements of the vector that its rows name, and the two sums, all planned once; in between,
// each rank changes its part of the vectors in place.
// mpirun -n 4 cg [n [matrix.mtx]]
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

static distal_tensor *declare(const char *text, const char *placement) {
    distal_tensor *tensor;
    ok(distal_tensor_declare(d, text, placement, &tensor));
    return tensor;
}

static distal_plan *plan(const char *text) {
    distal_statement *statement;
    distal_plan *result;
    ok(distal_statement_create(d, text, &statement));
    ok(distal_plan_create(statement, &result));
    return result;
}

static distal_piece local(distal_tensor *tensor) {
    distal_piece piece;
    ok(distal_tensor_local(tensor, &piece));
    return piece;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int64_t n = argc > 1 ? atoll(argv[1]) : 1000;
    ok(distal_create(MPI_COMM_WORLD, &d));
    ok(distal_param(d, "n", n));
    ok(distal_machine(d, "P", "grid(ranks)"));
    distal_tensor *A = declare("A(n, n): f64, csr", "A(i, j) -> P(weighted(i))"),
                  *x = declare("x(n): f64", "x(i) -> P(weighted(i, A))");
    distal_tensor *r = declare("r(n): f64", "r(i) -> P(weighted(i, A))"),
                  *p = declare("p(n): f64", "p(i) -> P(weighted(i, A))");
    distal_tensor *q = declare("q(n): f64", "q(i) -> P(weighted(i, A))"),
                  *pq = declare("pq: f64", "pq() -> P(*)");
    distal_tensor *rr = declare("rr: f64", "rr() -> P(*)");
    ok(distal_tensor_fill(A, argc > 2 ? argv[2] : "stencil:7"));
    distal_plan *product = plan("q(i) = A(i, j) * p(j)"), *curvature = plan("pq = p(i) * q(i)"),
                *square = plan("rr = r(i) * r(i)");

    // A x = b where b is all ones: x = 0, r = p = b.
    ok(distal_tensor_fill(x, "zeros"));
    ok(distal_tensor_fill(r, "ones"));
    ok(distal_tensor_fill(p, "ones"));
    ok(distal_execute(square));
    const distal_piece mine = local(x); // all vectors are distributed alike
    const int64_t count = mine.extent[0];
    double *at_x = mine.data, *at_r = local(r).data, *at_p = local(p).data;
    const double *at_q = local(q).data, *at_pq = local(pq).data, *at_rr = local(rr).data;
    const double first = *at_rr;
    double norm = first;
    int steps = 0;
    while (norm > 1e-20 * first && steps < 10 * n) {
        ok(distal_execute(product));
        ok(distal_execute(curvature));
        const double alpha = norm / *at_pq;
        for (int64_t i = 0; i < count; i++) {
            at_x[i] += alpha * at_p[i];
            at_r[i] -= alpha * at_q[i];
        }
        ok(distal_execute(square));
        const double beta = *at_rr / norm;
        for (int64_t i = 0; i < count; i++)
            at_p[i] = at_r[i] + beta * at_p[i];
        norm = *at_rr;
        steps++;
    }

    // The residual of the solution itself.
    for (int64_t i = 0; i < count; i++)
        at_p[i] = at_x[i];
    ok(distal_execute(product));
    for (int64_t i = 0; i < count; i++)
        at_r[i] = 1 - at_q[i];
    ok(distal_execute(square));
    const double error = sqrt(*at_rr / first);
    const int solved = error < 1e-8;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%d steps, relative residual %.1e: %s\n", steps, error, solved ? "solved" : "not solved");
    distal_free(d);
    MPI_Finalize();
    return !solved;
}
