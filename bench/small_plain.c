// SPDX-License-Identifier: BSD-3-Clause
// SUMMA and Cannon's algorithm as one would write them by hand, for bench/small.py: square matrices in blocks
// on a grid of processes, a broadcast of a panel of each operand or a shift of its block in each step, and
// the BLAS. small_plain summa|cannon N ROWS COLUMNS CHUNK REPEAT prints the seconds of each product, of the
// slowest rank. N is a multiple of both extents of the grid, and so are blocks of the chunk.
#include <cblas.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n, rows, columns, chunk; // of the grid
static int row, column, height, width;
static MPI_Comm in_row, in_column, all;
static double *a, *b, *c, *b_panel, *c_panel;

static double *elements(int count) {
    double *result = malloc(sizeof(double) * (size_t)count);
    if (!result)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < count; i++)
        result[i] = drand48() - 0.5;
    return result;
}

static void multiply(int depth, const double *left, int ld_left, const double *right, double beta) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, height, width, depth, 1, left, ld_left, right,
                width, beta, a, width);
}

static void summa(void) {
    const int depth_b = n / columns, depth_c = n / rows; // of the blocks of B and C
    for (int k = 0; k < n; k += chunk) {
        const int owner_b = k / depth_b, owner_c = k / depth_c;
        double *right = owner_c == row ? c + (size_t)(k - owner_c * depth_c) * (size_t)width : c_panel;
        for (int i = 0; owner_b == column && i < height; i++)
            memcpy(b_panel + (size_t)i * (size_t)chunk,
                   b + (size_t)i * (size_t)depth_b + (k - owner_b * depth_b), sizeof(double) * (size_t)chunk);
        MPI_Bcast(b_panel, height * chunk, MPI_DOUBLE, owner_b, in_row);
        MPI_Bcast(right, chunk * width, MPI_DOUBLE, owner_c, in_column);
        multiply(chunk, b_panel, chunk, right, k > 0);
    }
}

// The blocks of B go to the left and those of C up, by as many processes as the first argument says.
static void shift(int b_by, int c_by, const double *from_b, double *to_b, const double *from_c,
                  double *to_c) {
    const int size = height * height;
    MPI_Sendrecv(from_b, size, MPI_DOUBLE, (column - b_by + columns) % columns, 0, to_b, size, MPI_DOUBLE,
                 (column + b_by) % columns, 0, in_row, MPI_STATUS_IGNORE);
    MPI_Sendrecv(from_c, size, MPI_DOUBLE, (row - c_by + rows) % rows, 0, to_c, size, MPI_DOUBLE,
                 (row + c_by) % rows, 0, in_column, MPI_STATUS_IGNORE);
}

static void cannon(void) {
    static double *next_b, *next_c;
    if (!next_b) {
        next_b = elements(height * height);
        next_c = elements(height * height);
    }
    shift(row, column, b, b_panel, c, c_panel);
    for (int step = 0; step < rows; step++) {
        multiply(height, b_panel, height, c_panel, step > 0);
        if (step == rows - 1)
            break;
        shift(1, 1, b_panel, next_b, c_panel, next_c);
        double *kept = b_panel;
        b_panel = next_b, next_b = kept;
        kept = c_panel, c_panel = next_c, next_c = kept;
    }
}

// Whether the sum of the result is that of the products of column sums of B and row sums of C.
static int is_right(void) {
    double *of_b = calloc((size_t)n, sizeof(double)), *of_c = calloc((size_t)n, sizeof(double)), sum = 0;
    for (int i = 0; i < height; i++)
        for (int k = 0; k < n / columns; k++)
            of_b[column * (n / columns) + k] += b[i * (n / columns) + k];
    for (int k = 0; k < n / rows; k++)
        for (int j = 0; j < width; j++)
            of_c[row * (n / rows) + k] += c[k * width + j];
    for (int i = 0; i < height * width; i++)
        sum += a[i];
    MPI_Allreduce(MPI_IN_PLACE, of_b, n, MPI_DOUBLE, MPI_SUM, all);
    MPI_Allreduce(MPI_IN_PLACE, of_c, n, MPI_DOUBLE, MPI_SUM, all);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, all);
    for (int k = 0; k < n; k++)
        sum -= of_b[k] * of_c[k];
    free(of_b);
    free(of_c);
    return fabs(sum) < 1e-9 * n * n;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    all = MPI_COMM_WORLD;
    int rank;
    MPI_Comm_rank(all, &rank);
    if (argc < 7)
        MPI_Abort(all, 2);
    const int is_summa = strcmp(argv[1], "summa") == 0, repeat = atoi(argv[6]);
    n = atoi(argv[2]), rows = atoi(argv[3]), columns = atoi(argv[4]), chunk = atoi(argv[5]);
    row = rank / columns, column = rank % columns, height = n / rows, width = n / columns;
    srand48(rank);
    MPI_Comm_split(all, row, column, &in_row);
    MPI_Comm_split(all, column, row, &in_column);
    a = elements(height * width);
    b = elements(height * (n / columns));
    c = elements(n / rows * width);
    b_panel = elements(height * (is_summa ? chunk : height));
    c_panel = elements((is_summa ? chunk : height) * width);
    for (int i = 0; i <= repeat; i++) { // the first one is not timed
        MPI_Barrier(all);
        double seconds = -MPI_Wtime();
        (is_summa ? summa : cannon)();
        seconds += MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, all);
        if (rank == 0 && i > 0)
            printf("%.9f\n", seconds);
    }
    const int ok = is_right();
    if (!ok && rank == 0)
        fprintf(stderr, "the result of %s is wrong\n", argv[1]);
    MPI_Finalize();
    return !ok;
}
