// SPDX-License-Identifier: BSD-3-Clause
// Both functions of a program with a product of sparse matrices, compiled ahead of time: what finds the
// entries of the product, or of a workspace, and what computes values, compared with a product of dense
// matrices. Arguments: the text of the program, and by what it multiplies the product.
#include <distal.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 23 };

DISTAL_KERNEL(distal_kernel_0);

static distal_context *d;

static void ok(distal_status status) {
    if (status == DISTAL_OK)
        return;
    fputs(distal_error(d), stderr);
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const double factor = atof(argv[2]);
    static double a[N][N], b[N][N], c[N][N];
    distal_tensor *A, *B, *C;
    distal_statement *product;
    distal_plan *plan;
    int rank, wrong = 0;
    ok(distal_create(MPI_COMM_WORLD, &d));
    ok(distal_program(d, "product", argv[1]));
    ok(distal_param(d, "n", N));
    ok(distal_tensor_find(d, "A", &A));
    ok(distal_tensor_find(d, "B", &B));
    ok(distal_tensor_find(d, "C", &C));
    ok(distal_statement_find(d, "A", 0, &product));
    ok(distal_use(product, distal_kernel_0));
    ok(distal_tensor_fill(B, "sparse:1:60"));
    ok(distal_tensor_fill(C, "sparse:2:60"));
    ok(distal_plan_create(product, &plan));
    ok(distal_execute(plan));
    ok(distal_tensor_gather(A, a));
    ok(distal_tensor_gather(B, b));
    ok(distal_tensor_gather(C, c));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N && rank == 0; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += b[i][k] * c[k][j];
            wrong |= fabs(a[i][j] - factor * sum) > 1e-12;
        }
    if (rank == 0)
        puts(wrong ? "the product is wrong" : "the product is right");
    distal_free(d);
    MPI_Finalize();
    return wrong;
}
