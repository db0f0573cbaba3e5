// SPDX-License-Identifier: BSD-3-Clause
// What calls of the library cost beyond the arithmetic, for bench/small.py: executes a planned product of n x
// n matrices, blocks of rows of two of which are on each rank and the third on all, as a plan and by its
// text, makes another plan of it and frees that, and calls the BLAS with the same extents alone. Prints the
// largest of the medians of the ranks, in seconds: plan, text, making a plan, BLAS.
#include <cblas.h>
#include <distal.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEAT = 2001, BATCH = 10 };

static distal_context *d;
static distal_statement *s;
static distal_plan *plan;
static const char statement[] = "A(i, j) = B(i, k) * C(k, j)";
static double *a, *b, *c;
static int n, rows;

static void execute(void) {
    distal_check(d, distal_execute(plan));
}

static void compute(void) {
    distal_check(d, distal_compute(d, statement));
}

static void plan_again(void) {
    distal_plan *another;
    distal_check(d, distal_plan_create(s, &another));
    distal_plan_free(another);
}

static void multiply(void) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, n, n, 1, b, n, c, n, 0, a, n);
}

static int compare(const void *left, const void *right) {
    const double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

static double median(void (*body)(void)) {
    static double seconds[REPEAT];
    for (int i = 0; i < REPEAT; i++) {
        seconds[i] = -MPI_Wtime();
        for (int call = 0; call < BATCH; call++)
            body();
        seconds[i] += MPI_Wtime();
    }
    qsort(seconds, REPEAT, sizeof *seconds, compare);
    double most = seconds[REPEAT / 2] / BATCH;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    n = argc > 1 ? atoi(argv[1]) : 32;
    distal_tensor *A, *B, *C;
    distal_piece piece;
    distal_check(NULL, distal_create(MPI_COMM_WORLD, &d));
    distal_check(d, distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    distal_check(d, distal_tensor_create(d, "A", DISTAL_F64, 2, (int64_t[]){n, n}, "A(x, y) -> M(x)", &A));
    distal_check(d, distal_tensor_create(d, "B", DISTAL_F64, 2, (int64_t[]){n, n}, "B(x, y) -> M(x)", &B));
    distal_check(d, distal_tensor_create(d, "C", DISTAL_F64, 2, (int64_t[]){n, n}, "C(x, y) -> M(*)", &C));
    distal_check(d, distal_tensor_fill(B, "random:1"));
    distal_check(d, distal_tensor_fill(C, "random:2"));
    distal_check(d, distal_statement_create(d, statement, &s));
    distal_check(d, distal_plan_create(s, &plan));
    distal_check(d, distal_tensor_local(B, &piece));
    rows = (int)piece.extent[0];
    b = piece.data;
    distal_check(d, distal_tensor_local(C, &piece));
    c = piece.data;
    a = malloc(sizeof(double) * (size_t)n * (size_t)n);
    if (!a)
        MPI_Abort(MPI_COMM_WORLD, 1);
    execute(), compute(), plan_again(), multiply();
    const double seconds[] = {median(execute), median(compute), median(plan_again), median(multiply)};
    if (rank == 0)
        printf("%.9f %.9f %.9f %.9f\n", seconds[0], seconds[1], seconds[2], seconds[3]);
    free(a);
    distal_free(d);
    MPI_Finalize();
}
