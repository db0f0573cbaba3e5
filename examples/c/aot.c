// SPDX-License-Identifier: BSD-3-Clause
// Ahead of time: the kernel of ../summa.distal is C that `distal emit` has written and that is compiled with
// this program, so that nothing is compiled where it runs.
//     distal emit -o summa.c summa.distal
//     mpicc -O3 -fopenmp aot.c summa.c $(pkg-config --cflags --libs distal) -o aot
//     mpirun -n 4 aot summa.distal [n]
#include <distal.h>

#include <stdio.h>
#include <stdlib.h>

DISTAL_KERNEL(distal_kernel_0);

static distal_context *d;

static void ok(distal_status status) {
    if (status == DISTAL_OK)
        return;
    fputs(distal_error(d), stderr);
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    if (!file || !text || fread(text, 1, (1 << 16) - 1, file) == 0) {
        fprintf(stderr, "cannot read %s\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc < 2) {
        fputs("usage: aot summa.distal [n]\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    char *text = read_text(argv[1]);
    distal_tensor *A, *B, *C;
    distal_statement *product;
    distal_plan *plan;
    ok(distal_create(MPI_COMM_WORLD, &d));
    ok(distal_program(d, argv[1], text));
    // The sizes are of this run: the kernel serves them all.
    const int64_t n = argc > 2 ? atoll(argv[2]) : 300;
    ok(distal_param(d, "n", n));
    ok(distal_param(d, "chunk", 64));
    ok(distal_tensor_find(d, "A", &A));
    ok(distal_tensor_find(d, "B", &B));
    ok(distal_tensor_find(d, "C", &C));
    ok(distal_statement_find(d, "A", 0, &product));
    ok(distal_use(product, distal_kernel_0));
    ok(distal_tensor_fill(B, "iota"));
    ok(distal_tensor_fill(C, "ones"));
    ok(distal_plan_create(product, &plan));
    ok(distal_execute(plan));

    // Row i of B is i * n, i * n + 1, ...: its sum is known.
    distal_piece a;
    int wrong = 0, rank;
    ok(distal_tensor_local(A, &a));
    for (int64_t i = a.lo[0]; i < a.hi[0]; i++)
        for (int64_t j = a.lo[1]; j < a.hi[1]; j++)
            wrong |= ((double *)a.data)[(i - a.lo[0]) * a.stride[0] + (j - a.lo[1])] !=
                     (double)(i * n * n + n * (n - 1) / 2);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        puts(wrong ? "the product is wrong" : "the product is right");
    distal_free(d);
    free(text);
    MPI_Finalize();
    return wrong;
}
