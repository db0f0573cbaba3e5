// SPDX-License-Identifier: BSD-3-Clause
// Canonical polyadic decomposition of a sparse tensor by alternating least squares (Kolda and Bader, SIAM
// Review 2009, section 3.4). The tensor comes from a FROSTT file, or is a sum of RANK outer products of
// sparse vectors, distributed by its first mode. Its products with two factor matrices (MTTKRP) go through
// distal, each planned once; what remains are systems of RANK equations, which every rank solves.
// mpirun -n 2 sparse_cp_als [tensor.tns]
#include <distal.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RANK = 5, SWEEPS = 50 };

static distal_context *d;
static int rank;

static void ok(distal_status status) {
    if (status == DISTAL_OK)
        return;
    fprintf(stderr, "rank %d: %s", rank, distal_error(d));
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

static double *elements(distal_tensor *tensor) {
    distal_piece piece;
    ok(distal_tensor_local(tensor, &piece));
    return piece.data;
}

// A file has no extents: they are the largest coordinates. Of a file that cannot be read they stay as they
// are; distal_tensor_fill says why.
static void read_extents(const char *path, int64_t extents[3]) {
    FILE *file = rank == 0 ? fopen(path, "r") : NULL;
    char line[256];
    long long x[3];
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%lld %lld %lld", &x[0], &x[1], &x[2]) == 3)
            for (int m = 0; m < 3; m++)
                extents[m] = x[m] > extents[m] ? x[m] : extents[m];
    if (file)
        fclose(file);
    MPI_Bcast(extents, 3, MPI_INT64_T, 0, MPI_COMM_WORLD);
}

// X becomes the sum of outer products of the columns of sparse matrices.
static void fill_low_rank(void) {
    distal_tensor *F = declare("F(I, R): f64, csf", "F(i, r) -> P(i)"),
                  *G = declare("G(J, R): f64, csf", "G(j, r) -> P(*)"),
                  *H = declare("H(K, R): f64, csf", "H(k, r) -> P(*)");
    ok(distal_tensor_fill(F, "sparse:1:60"));
    ok(distal_tensor_fill(G, "sparse:2:60"));
    ok(distal_tensor_fill(H, "sparse:3:60"));
    ok(distal_execute(plan("X(i, j, k) = F(i, r) * G(j, r) * H(k, r)")));
}

// A dense matrix with RANK columns, whole on every rank, and where it lies.
typedef struct {
    int64_t rows;
    double *at;
} Matrix;

static Matrix matrix_create(const char *text, const char *placement, int64_t rows, const char *source) {
    distal_tensor *tensor = declare(text, placement);
    ok(distal_tensor_fill(tensor, source));
    return (Matrix){rows, elements(tensor)};
}

// gram *= transpose(m) * m, element by element.
static void multiply_gram(const Matrix *m, double gram[RANK][RANK]) {
    for (int r = 0; r < RANK; r++)
        for (int s = 0; s < RANK; s++) {
            double sum = 0;
            for (int64_t i = 0; i < m->rows; i++)
                sum += m->at[i * RANK + r] * m->at[i * RANK + s];
            gram[r][s] *= sum;
        }
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
    memcpy(x->at, b->at, sizeof(double) * RANK * (size_t)b->rows);
    for (double *row = x->at; row < x->at + RANK * x->rows; row += RANK) {
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

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int64_t extents[] = {100, 90, 80};
    if (argc > 1) {
        memcpy(extents, (int64_t[]){1, 1, 1}, sizeof extents);
        read_extents(argv[1], extents);
    }
    ok(distal_create(MPI_COMM_WORLD, &d));
    ok(distal_machine(d, "P", "grid(ranks)"));
    ok(distal_param(d, "I", extents[0]));
    ok(distal_param(d, "J", extents[1]));
    ok(distal_param(d, "K", extents[2]));
    ok(distal_param(d, "R", RANK));
    distal_tensor *X = declare("X(I, J, K): f64, csf", "X(i, j, k) -> P(i)"),
                  *squares = declare("squares: f64", "squares() -> P(*)");
    if (argc > 1)
        ok(distal_tensor_fill(X, argv[1]));
    else
        fill_low_rank();

    const Matrix factors[] = {matrix_create("A(I, R): f64", "A(x, r) -> P(*)", extents[0], "random:4"),
                              matrix_create("B(J, R): f64", "B(x, r) -> P(*)", extents[1], "random:5"),
                              matrix_create("C(K, R): f64", "C(x, r) -> P(*)", extents[2], "random:6")};
    const Matrix products[] = {matrix_create("U(I, R): f64", "U(x, r) -> P(*)", extents[0], "zeros"),
                               matrix_create("V(J, R): f64", "V(x, r) -> P(*)", extents[1], "zeros"),
                               matrix_create("W(K, R): f64", "W(x, r) -> P(*)", extents[2], "zeros")};
    distal_plan *mttkrp[] = {plan("U(i, r) = X(i, j, k) * B(j, r) * C(k, r)"),
                             plan("V(j, r) = X(i, j, k) * A(i, r) * C(k, r)"),
                             plan("W(k, r) = X(i, j, k) * A(i, r) * B(j, r)")};
    ok(distal_execute(plan("squares = X(i, j, k) * X(i, j, k)")));
    const double norm_squared = *elements(squares);

    double fit = 0, before = -1, gram[RANK][RANK];
    for (int sweep = 1; sweep <= SWEEPS && fabs(fit - before) > 1e-6; sweep++) {
        for (int m = 0; m < 3; m++) {
            ok(distal_execute(mttkrp[m]));
            for (int r = 0; r < RANK * RANK; r++)
                gram[r / RANK][r % RANK] = 1;
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
            model += gram[r / RANK][r % RANK];
        before = fit;
        fit = 1 - sqrt(fmax(norm_squared - 2 * inner + model, 0) / norm_squared);
        if (rank == 0)
            printf("sweep %d: fit %.6f\n", sweep, fit);
    }
    distal_free(d);
    MPI_Finalize();
}
