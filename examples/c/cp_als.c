// SPDX-License-Identifier: BSD-3-Clause
// Canonical polyadic decomposition of a dense tensor by alternating least squares (Kolda and Bader, SIAM
// Review 2009, section 3.4). The tensor stays where it is, in blocks on a 3D grid; its products with two
// factor matrices (MTTKRP) go through distal; what remains are systems of RANK equations. Run on any number
// of ranks: mpirun -n 4 cp_als [I J K]
#include <distal.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = 5, SWEEPS = 200 };

static distal_context *d;
static int rank, ranks;

static void ok(distal_status status) {
    if (status == DISTAL_OK)
        return;
    fprintf(stderr, "rank %d: %s", rank, distal_error(d));
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

// A matrix with an extent of RANK in its second mode, whole on every rank, and where it lies.
typedef struct {
    distal_tensor *tensor;
    int64_t rows;
    double *at;
} Matrix;

static Matrix matrix_create(const char *name, int64_t rows, const char *source) {
    Matrix m = {.rows = rows};
    char placement[64];
    distal_piece piece;
    snprintf(placement, sizeof placement, "%s(x, r) -> P(*, *, *)", name);
    ok(distal_tensor_create(d, name, DISTAL_F64, 2, (int64_t[]){rows, RANK}, placement, &m.tensor));
    ok(distal_tensor_fill(m.tensor, source));
    ok(distal_tensor_local(m.tensor, &piece));
    m.at = piece.data;
    return m;
}

// Around zero, so that the columns differ in more than their lengths.
static void center(const Matrix *m) {
    for (int64_t i = 0; i < m->rows * RANK; i++)
        m->at[i] -= 0.5;
}

static void multiply_gram(const Matrix *m, double gram[RANK][RANK]) {
    for (int r = 0; r < RANK; r++)
        for (int s = 0; s < RANK; s++) {
            double sum = 0;
            for (int64_t i = 0; i < m->rows; i++)
                sum += m->at[i * RANK + r] * m->at[i * RANK + s];
            gram[r][s] *= sum;
        }
}

static void all_ones(double gram[RANK][RANK]) {
    for (int r = 0; r < RANK * RANK; r++)
        (&gram[0][0])[r] = 1;
}

// Solves x * gram = b for every row of b, by Cholesky's method, with a little on the diagonal.
static void solve(double gram[RANK][RANK], const Matrix *b, const Matrix *x) {
    double l[RANK][RANK] = {{0}};
    for (int r = 0; r < RANK; r++)
        for (int s = 0; s <= r; s++) {
            double sum = gram[r][s] + (r == s ? 1e-14 * gram[r][r] : 0);
            for (int k = 0; k < s; k++)
                sum -= l[r][k] * l[s][k];
            l[r][s] = r == s ? sqrt(fmax(sum, 1e-300)) : sum / l[s][s];
        }
    for (int64_t i = 0; i < b->rows; i++) {
        double *row = x->at + i * RANK;
        memcpy(row, b->at + i * RANK, sizeof(double) * RANK);
        for (int r = 0; r < RANK; r++) {
            for (int k = 0; k < r; k++)
                row[r] -= l[r][k] * row[k];
            row[r] /= l[r][r];
        }
        for (int r = RANK - 1; r >= 0; r--) {
            for (int k = r + 1; k < RANK; k++)
                row[r] -= l[k][r] * row[k];
            row[r] /= l[r][r];
        }
    }
}

// A statement whose work goes to the blocks of X.
static distal_plan *plan_on_blocks(const char *text) {
    distal_statement *statement;
    distal_plan *plan;
    ok(distal_statement_create(d, text, &statement));
    ok(distal_distribute_onto(statement, "i, j, k", "io, jo, ko", "ii, ji, ki", "X"));
    ok(distal_plan_create(statement, &plan));
    return plan;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t extents[] = {argc > 1 ? atoll(argv[1]) : 24, argc > 2 ? atoll(argv[2]) : 19,
                               argc > 3 ? atoll(argv[3]) : 22};
    int grid[3] = {0};
    MPI_Dims_create(ranks, 3, grid);
    ok(distal_create(MPI_COMM_WORLD, &d));
    ok(distal_machine_grid(d, "P", 3, (int64_t[]){grid[0], grid[1], grid[2]}));
    distal_tensor *X, *squares;
    ok(distal_tensor_create(d, "X", DISTAL_F64, 3, extents, "X(x, y, z) -> P(x, y, z)", &X));
    ok(distal_tensor_create(d, "squares", DISTAL_F64, 0, NULL, NULL, &squares));

    // A tensor of rank RANK, made from factors that are then forgotten.
    const char *const factor_names[] = {"A", "B", "C"}, *const product_names[] = {"U", "V", "W"};
    const char *const seeds[] = {"random:1", "random:2", "random:3"};
    const char *const starts[] = {"random:4", "random:5", "random:6"};
    Matrix factors[3], products[3];
    for (int m = 0; m < 3; m++) {
        factors[m] = matrix_create(factor_names[m], extents[m], seeds[m]);
        products[m] = matrix_create(product_names[m], extents[m], "zeros");
        center(&factors[m]);
    }
    distal_plan *build = plan_on_blocks("X(i, j, k) = A(i, r) * B(j, r) * C(k, r)");
    ok(distal_execute(build));
    for (int m = 0; m < 3; m++) {
        ok(distal_tensor_fill(factors[m].tensor, starts[m]));
        center(&factors[m]);
    }

    distal_plan *norm = plan_on_blocks("squares = X(i, j, k) * X(i, j, k)");
    distal_plan *mttkrp[] = {plan_on_blocks("U(i, r) = X(i, j, k) * B(j, r) * C(k, r)"),
                             plan_on_blocks("V(j, r) = X(i, j, k) * A(i, r) * C(k, r)"),
                             plan_on_blocks("W(k, r) = X(i, j, k) * A(i, r) * B(j, r)")};
    ok(distal_execute(norm));
    distal_piece piece;
    ok(distal_tensor_local(squares, &piece));
    const double norm_squared = *(double *)piece.data;

    double fit = 0, gram[RANK][RANK];
    int sweep = 0;
    for (; sweep < SWEEPS && fit < 0.99999; sweep++) {
        for (int m = 0; m < 3; m++) {
            ok(distal_execute(mttkrp[m]));
            all_ones(gram);
            multiply_gram(&factors[(m + 1) % 3], gram);
            multiply_gram(&factors[(m + 2) % 3], gram);
            solve(gram, &products[m], &factors[m]);
        }
        // |X - Y|^2 = |X|^2 - 2 <X, Y> + |Y|^2 for the model Y, from what is there already.
        double inner = 0, model = 0;
        for (int64_t i = 0; i < extents[2] * RANK; i++)
            inner += products[2].at[i] * factors[2].at[i];
        multiply_gram(&factors[2], gram);
        for (int r = 0; r < RANK * RANK; r++)
            model += (&gram[0][0])[r];
        fit = 1 - sqrt(fmax(norm_squared - 2 * inner + model, 0) / norm_squared);
    }
    if (rank == 0)
        printf("fit %.6f after %d sweeps on %d ranks\n", fit, sweep, ranks);
    distal_free(d);
    MPI_Finalize();
    return fit >= 0.9999 ? 0 : 1;
}
