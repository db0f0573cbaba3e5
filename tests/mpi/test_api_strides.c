// SPDX-License-Identifier: BSD-3-Clause
// Memory of the caller with strides that kernels cannot work with: every third number of an array, columns
// where rows are stored, on all ranks or on the last one only. ranks: 6
#include "api.h"

#include <stdlib.h>

enum { M = 13, N = 11 };
static const double gap = -7;

typedef struct {
    distal_tensor *tensor;
    distal_piece box;
    double *memory;
    int64_t length;
} Array;

// A tensor whose blocks of rows are spread over memory on this rank where `spread`.
static Array attach(distal_context *d, const char *name, bool spread, bool by_columns) {
    Array array = {0};
    char placement[32];
    snprintf(placement, sizeof placement, "%s(x, y) -> M(x)", name);
    OK(distal_tensor_create(d, name, DISTAL_F64, 2, (int64_t[]){M, N}, placement, &array.tensor));
    int64_t count = 0;
    OK(distal_tensor_piece_count(array.tensor, &count));
    if (count > 0)
        OK(distal_tensor_box(array.tensor, 0, &array.box));
    const int64_t rows = array.box.hi[0] - array.box.lo[0];
    int64_t stride[] = {N, 1};
    if (spread) {
        stride[0] = by_columns ? 3 : 3 * N + 2;
        stride[1] = by_columns ? 3 * rows + 1 : 3;
    }
    array.length = 4 * N * (rows + 1);
    array.memory = malloc(sizeof(double) * (size_t)array.length);
    for (int64_t i = 0; i < array.length; i++)
        array.memory[i] = gap;
    OK(distal_tensor_attach(array.tensor, array.memory, stride));
    if (count > 0)
        OK(distal_tensor_piece(array.tensor, 0, &array.box));
    CHECK(array.box.data == (count ? array.memory : NULL), "the piece is elsewhere");
    return array;
}

// Compares with the whole tensor, of which every element is where the strides say, and all else is as before.
static void check_memory(distal_context *d, const Array *array, const double *expected) {
    double *whole = malloc(sizeof(double) * M * N), *seen = malloc(sizeof(double) * (size_t)array->length);
    OK(distal_tensor_gather(array->tensor, whole));
    memcpy(seen, array->memory, sizeof(double) * (size_t)array->length);
    const distal_piece *box = &array->box;
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            CHECK(whole[i * N + j] == expected[i * N + j], "element %d, %d is %g, not %g", (int)i, (int)j,
                  whole[i * N + j], expected[i * N + j]);
            if (i < box->lo[0] || i >= box->hi[0])
                continue;
            double *at = &seen[(i - box->lo[0]) * box->stride[0] + j * box->stride[1]];
            CHECK(*at == expected[i * N + j], "in memory, element %d, %d is %g", (int)i, (int)j, *at);
            *at = gap;
        }
    for (int64_t i = 0; i < array->length; i++)
        CHECK(seen[i] == gap, "%g stands in a gap", seen[i]);
    free(whole);
    free(seen);
}

static void compute(MPI_Comm comm, int ranks, bool spread) {
    distal_context *d = NULL;
    OK(distal_create(comm, &d));
    OK(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    Array a = attach(d, "A", spread, false), b = attach(d, "B", spread, true),
          c = attach(d, "C", false, false);
    OK(distal_tensor_fill(b.tensor, "iota"));
    OK(distal_tensor_fill(c.tensor, "ones"));
    OK(distal_tensor_fill(a.tensor, "const:5"));

    distal_statement *first, *second;
    distal_plan *store, *add;
    OK(distal_statement_create(d, "A(i, j) = 2 * B(i, j) + C(i, j)", &first));
    OK(distal_statement_create(d, "A(i, j) += B(i, j)", &second));
    OK(distal_plan_create(first, &store));
    OK(distal_plan_create(second, &add));
    double expected[M * N], iota[M * N];
    for (int i = 0; i < M * N; i++)
        iota[i] = i;
    for (int round = 0; round < 3; round++) {
        OK(distal_execute(store));
        OK(distal_execute(add));
        OK(distal_execute(add));
        for (int i = 0; i < M * N; i++)
            expected[i] = 4 * i + 1;
        check_memory(d, &a, expected);
        check_memory(d, &b, iota);
    }
    OK(distal_redistribute(b.tensor, a.tensor));
    check_memory(d, &b, expected);
    // Memory of other strides makes the plans stale, as any other memory does.
    OK(distal_tensor_attach(a.tensor, a.memory, NULL));
    CHECK(distal_execute(store) == DISTAL_INVALID, "a stale plan was executed");
    distal_free(d);
    free(a.memory);
    free(b.memory);
    free(c.memory);
}

static void test_all(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    compute(comm, ranks, true);
}

static void test_last(MPI_Comm comm, int rank, int ranks) {
    compute(comm, ranks, rank == ranks - 1);
}

int main(int argc, char **argv) {
    static const int counts[] = {1, 2, 3, 6};
    report_start(&argc, &argv);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        run_case("api_strides/all", counts[i], test_all);
        run_case("api_strides/last", counts[i], test_last);
    }
    return report_end();
}
