// SPDX-License-Identifier: BSD-3-Clause
// ScaLAPACK's product of square matrices, pdgemm, for bench/network.py: prints the seconds of each execution,
// of the slowest rank. The result is compared before, by products with a vector.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int cols);
void Cblacs_gridinfo(int context, int *rows, int *cols, int *row, int *col);
int numroc_(const int *n, const int *nb, const int *at, const int *first, const int *count);
void descinit_(int *descriptor, const int *m, const int *n, const int *mb, const int *nb, const int *row,
               const int *col, const int *context, const int *leading, int *info);
void pdgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
             const double *alpha, const double *a, const int *ia, const int *ja, const int *desca,
             const double *b, const int *ib, const int *jb, const int *descb, const double *beta, double *c,
             const int *ic, const int *jc, const int *descc);

enum { DESCRIPTOR = 9 };
static const int zero = 0, one = 1;
static const double unit = 1, nothing = 0;

// A matrix of `rows` x `cols` in blocks of nb x nb.
typedef struct {
    int descriptor[DESCRIPTOR], rows, cols;
    double *elements;
} Matrix;

static Matrix create(int context, int rows, int cols, int nb) {
    int grid_rows, grid_cols, row, col, info;
    Cblacs_gridinfo(context, &grid_rows, &grid_cols, &row, &col);
    const int local_rows = numroc_(&rows, &nb, &row, &zero, &grid_rows),
              local_cols = numroc_(&cols, &nb, &col, &zero, &grid_cols),
              leading = local_rows > 1 ? local_rows : 1;
    const size_t count = (size_t)leading * (size_t)(local_cols > 1 ? local_cols : 1);
    Matrix matrix = {.rows = rows, .cols = cols, .elements = malloc(count * sizeof(double))};
    if (!matrix.elements)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < count; i++)
        matrix.elements[i] = drand48() - 0.5;
    descinit_(matrix.descriptor, &rows, &cols, &nb, &nb, &zero, &zero, &context, &leading, &info);
    return matrix;
}

static void multiply(const Matrix *a, const Matrix *b, const Matrix *c) {
    pdgemm_("N", "N", &c->rows, &c->cols, &a->cols, &unit, a->elements, &one, &one, a->descriptor,
            b->elements, &one, &one, b->descriptor, &nothing, c->elements, &one, &one, c->descriptor);
}

// Whether c x = a (b x) for a vector x.
static int is_product(int context, const Matrix *a, const Matrix *b, const Matrix *c, int nb) {
    const Matrix x = create(context, c->cols, 1, nb), bx = create(context, b->rows, 1, nb),
                 expected = create(context, c->rows, 1, nb), found = create(context, c->rows, 1, nb);
    int grid_rows, grid_cols, row, col, ok = 1;
    multiply(b, &x, &bx);
    multiply(a, &bx, &expected);
    multiply(c, &x, &found);
    Cblacs_gridinfo(context, &grid_rows, &grid_cols, &row, &col);
    for (int i = 0; col == 0 && i < numroc_(&c->rows, &nb, &row, &zero, &grid_rows); i++)
        ok = ok && fabs(found.elements[i] - expected.elements[i]) < 1e-9 * c->rows;
    MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return ok;
}

// network_pdgemm N BLOCK GRID_ROWS REPEAT CHECK
int main(int argc, char **argv) {
    int context, ranks, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int n = atoi(argv[1]), nb = atoi(argv[2]), rows = atoi(argv[3]), repeat = atoi(argv[4]);
    srand48(rank);
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", rows, ranks / rows);
    const Matrix a = create(context, n, n, nb), b = create(context, n, n, nb), c = create(context, n, n, nb);
    for (int i = 0; i <= repeat; i++) { // the first one is not timed
        MPI_Barrier(MPI_COMM_WORLD);
        double seconds = -MPI_Wtime();
        multiply(&a, &b, &c);
        seconds += MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0 && i > 0)
            printf("%.9f\n", seconds);
    }
    const int ok = !atoi(argv[5]) || is_product(context, &a, &b, &c, nb);
    if (!ok && rank == 0)
        fprintf(stderr, "the result of pdgemm is wrong\n");
    MPI_Finalize();
    return !ok;
}
