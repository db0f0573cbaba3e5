// SPDX-License-Identifier: BSD-3-Clause
// Arrays of the caller in blocks as other libraries have them, used in place: those of PETSc and of NumPy's
// array_split, and at any boundaries. ranks: 6
#include "api.h"

#include <stdlib.h>

enum { N = 11, M = 5 };

typedef struct {
    int64_t first, count;
    double *values;
} Block;

// The block of rows of this rank: sizes differ by one at most, the larger ones first.
static Block split_block(int rank, int ranks, int64_t width) {
    const int64_t each = N / ranks, larger = N % ranks;
    Block block = {rank * each + (rank < larger ? rank : larger), each + (rank < larger), NULL};
    block.values = malloc(sizeof(double) * (size_t)(block.count * width + 1));
    for (int64_t i = 0; i < block.count * width; i++)
        block.values[i] = (double)(block.first * width + i);
    return block;
}

// y + A x, where x is one and A and y count.
static double expected(int64_t row) {
    return (double)(row + M * M * row + M * (M - 1) / 2);
}

static void attach(distal_context *d, const char *name, int order, const char *placement,
                   const Block *block) {
    distal_tensor *tensor;
    distal_piece piece;
    OK(distal_tensor_create(d, name, DISTAL_F64, order, (int64_t[]){N, M}, placement, &tensor));
    OK(distal_tensor_attach(tensor, block->values, order == 2 ? (int64_t[]){M, 1} : (int64_t[]){1}));
    OK(distal_tensor_local(tensor, &piece));
    CHECK(piece.hi[0] - piece.lo[0] == block->count, "%s has %d rows, not %d", name,
          (int)(piece.hi[0] - piece.lo[0]), (int)block->count);
    CHECK(block->count == 0 || (piece.lo[0] == block->first && piece.data == block->values),
          "%s begins at %d, not at %d", name, (int)piece.lo[0], (int)block->first);
}

// All rows but one on the last rank, none on those between.
static Block uneven_block(int rank, int ranks) {
    const int64_t first = rank == 0 ? 0 : ranks > 1 ? 1 : 0, end = rank == ranks - 1 ? N : 1;
    Block block = {first, rank == 0 || rank == ranks - 1 ? end - first : 0, NULL};
    block.values = calloc((size_t)block.count + 1, sizeof(double));
    return block;
}

// The same as a placement.
static void boundaries(int ranks, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "z(x) -> P(blocks(x, {0");
    for (int r = 1; r < ranks; r++)
        length += (size_t)snprintf(text + length, size - length, ", 1");
    snprintf(text + length, size - length, ", %d}))", N);
}

// In place: the arrays of the caller hold what is computed.
static void compute(MPI_Comm comm, int rank, int ranks) {
    char placement[100];
    distal_context *d = context_on(comm);
    Block a = split_block(rank, ranks, M), y = split_block(rank, ranks, 1), z = uneven_block(rank, ranks);
    boundaries(ranks, placement, sizeof placement);
    OK(distal_machine_grid(d, "P", 1, (int64_t[]){ranks}));
    attach(d, "A", 2, "A(x, y) -> P(balanced(x))", &a);
    attach(d, "y", 1, "y(x) -> P(balanced(x))", &y);
    attach(d, "z", 1, placement, &z);
    distal_tensor *x = declare(d, "x(5): f64", "x(x) -> P(*)");
    OK(distal_tensor_fill(x, "ones"));
    distal_plan *product = planned(d, "y(i) = y(i) + A(i, j) * x(j)", NULL);
    distal_plan *copy = planned(d, "z(i) = y(i)", NULL);
    OK(distal_execute(product));
    check_figures(d, product, rank);
    OK(distal_execute(copy));
    check_figures(d, copy, rank);
    for (int64_t i = 0; i < y.count; i++)
        CHECK(y.values[i] == expected(y.first + i), "y(%d) is %g", (int)(y.first + i), y.values[i]);
    for (int64_t i = 0; i < z.count; i++)
        CHECK(z.values[i] == expected(z.first + i), "z(%d) is %g", (int)(z.first + i), z.values[i]);
    distal_free(d);
    free(a.values);
    free(y.values);
    free(z.values);
}

int main(int argc, char **argv) {
    static const int counts[] = {1, 2, 3, 4, 6};
    report_start(&argc, &argv);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        run_case("api_lengths", counts[i], compute);
    return report_end();
}
