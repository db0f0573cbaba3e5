// SPDX-License-Identifier: BSD-3-Clause
// Figure 2 of the DISTAL paper (PLDI 2022) in C: a distributed matrix product, SUMMA on a gx x gy grid.
// Run on gx * gy ranks: mpirun -n 4 figure2 [gx gy n chunk]
#include <distal.h>

#include <stdio.h>
#include <stdlib.h>

static distal_context *d;

// Ends the program where a call has failed, as every rank gets the same status.
static void ok(distal_status status) {
    if (status == DISTAL_OK)
        return;
    fputs(distal_error(d), stderr);
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const char *params[] = {"gx", "gy", "n", "chunk"}; // parameters of the generated code
    const int64_t values[] = {2, 2, 500, 64};
    ok(distal_create(MPI_COMM_WORLD, &d));
    for (int i = 0; i < 4; i++)
        ok(distal_param(d, params[i], argc > i + 1 ? atoll(argv[i + 1]) : values[i]));

    // The target machine is a 2D grid of processors, and three matrices are tiled onto it.
    distal_tensor *A, *B, *C;
    ok(distal_machine(d, "M", "grid(gx, gy)"));
    ok(distal_tensor_declare(d, "A(n, n): f64", "A(x, y) -> M(x, y)", &A));
    ok(distal_tensor_declare(d, "B(n, n): f64", "B(x, y) -> M(x, y)", &B));
    ok(distal_tensor_declare(d, "C(n, n): f64", "C(x, y) -> M(x, y)", &C));

    // The computation, a matrix-matrix multiply.
    distal_statement *s;
    ok(distal_statement_create(d, "A(i, j) = B(i, k) * C(k, j)", &s));

    // Its mapping onto the machine. A tile of i and j for each processor:
    ok(distal_divide(s, "i", "io", "ii", "gx"));
    ok(distal_divide(s, "j", "jo", "ji", "gy"));
    ok(distal_reorder(s, "io, jo, ii, ji"));
    ok(distal_distribute(s, "io, jo"));
    // The k loop in chunks, outside of the tile:
    ok(distal_split(s, "k", "ko", "ki", "chunk"));
    ok(distal_reorder(s, "io, jo, ko, ii, ji, ki"));
    // Each processor works on its own piece of A and receives chunks of B and C as ko steps:
    ok(distal_communicate(s, "A", "jo"));
    ok(distal_communicate(s, "B, C", "ko"));
    // The leaves are a library call:
    ok(distal_substitute(s, "ii, ji, ki", "gemm"));

    // Compile, plan, execute.
    distal_plan *plan;
    ok(distal_compile(s));
    ok(distal_tensor_fill(B, "random:1"));
    ok(distal_tensor_fill(C, "ones"));
    ok(distal_plan_create(s, &plan));
    ok(distal_execute(plan));

    // With C all ones, each row of A holds the sum of that row of B. This rank's piece is read in place.
    distal_piece a;
    int64_t bytes;
    double sum = 0;
    ok(distal_tensor_local(A, &a));
    for (int64_t i = a.lo[0]; i < a.hi[0]; i++)
        for (int64_t j = a.lo[1]; j < a.hi[1]; j++)
            sum += ((double *)a.data)[(i - a.lo[0]) * a.stride[0] + (j - a.lo[1]) * a.stride[1]];
    ok(distal_plan_counted(plan, "B", &bytes, NULL));
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(rank ? &sum : MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum of A: %.6f; B received by rank 0: %lld bytes\n", sum, (long long)bytes);
    distal_free(d);
    MPI_Finalize();
}
