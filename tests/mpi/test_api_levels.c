// SPDX-License-Identifier: BSD-3-Clause
// Sparse tensors through the calls of the library: arrays of the caller in place and converted, entries in
// any order, results in place, values that change under a structure that stays, files, and what is refused.
// ranks: 3
#include "api.h"

#include <stdlib.h>
#include <unistd.h>

// 3 x 4: (0, 3) 1, (2, 0) 2, (2, 1) 3.
static int64_t pos64[] = {0, 1, 1, 3}, crd64[] = {3, 0, 1};
static int32_t pos32[] = {0, 1, 1, 3}, crd32[] = {3, 0, 1}, rows32[] = {0, 2, 2};
static int64_t all64[] = {0, 3};

static void check_product(distal_context *d, distal_tensor *y, double a, double b, double c) {
    double whole[3] = {-1, -1, -1};
    OK(distal_tensor_gather(y, whole));
    CHECK(whole[0] == a && whole[1] == b && whole[2] == c, "y is %g %g %g", whole[0], whole[1], whole[2]);
}

// The same matrix in four forms, with the arrays that are used in place.
static void test_attached(MPI_Comm comm, int rank, int ranks) {
    (void)ranks;
    const struct {
        const char *declaration;
        distal_level_arrays levels[2];
        bool in_place;
    } forms[] = {
        {"B(3, 4): f64, csr", {{0}, {.pos = pos64, .crd = crd32}}, true},
        {"B(3, 4): f64, csr", {{0}, {.pos = pos32, .crd = crd64, .pos_bits = 32, .crd_bits = 64}}, false},
        {"B(3, 4): f64, coo", {{.pos = all64, .crd = rows32}, {.crd = crd32}}, true},
        {"B(4, 3): f64, csc", {{0}, {.pos = pos64, .crd = crd32}}, true}, // the transpose
    };
    for (int f = 0; f < 4; f++) {
        distal_context *d = context_on(comm);
        double values[] = {1, 2, 3};
        distal_tensor *B = declare(d, forms[f].declaration, NULL), *y = declare(d, "y(3): f64", NULL);
        distal_tensor *x = declare(d, "x(4): f64", NULL);
        OK(distal_tensor_attach_levels(B, rank == 0 ? forms[f].levels : NULL, rank == 0 ? values : NULL));
        distal_plan *plan = planned(d, f == 3 ? "y(i) = B(j, i) * x(j)" : "y(i) = B(i, j) * x(j)", NULL);
        OK(distal_tensor_fill(x, "ones"));
        OK(distal_execute(plan));
        check_product(d, y, 1, 0, 5);
        distal_level_arrays levels[2];
        void *data = values;
        int64_t count = 0;
        OK(distal_tensor_levels(B, levels, &data, &count));
        CHECK(count == (rank == 0 ? 3 : 0), "%lld values", (long long)count);
        if (rank == 0) {
            CHECK(data == values, "values are copied");
            CHECK((levels[1].crd == crd32) == forms[f].in_place, "crd of form %d", f);
            CHECK(levels[1].position_count == 3 && levels[1].crd_bits == 32, "positions");
            values[2] = 7;
        }
        OK(distal_execute(plan));
        check_product(d, y, 1, 0, 9);
        distal_free(d);
    }
}

// Entries in any order with duplicates; other entries without another plan.
static void test_entries(MPI_Comm comm, int rank, int ranks) {
    (void)ranks;
    distal_context *d = context_on(comm);
    distal_tensor *B = declare(d, "B(3, 4): f64, csr", NULL), *y = declare(d, "y(3): f64", NULL),
                  *x = declare(d, "x(4): f64", NULL);
    distal_plan *plan = planned(d, "y(i) = B(i, j) * x(j)", NULL);
    OK(distal_tensor_fill(x, "ones"));
    OK(distal_execute(plan)); // no entries yet
    check_product(d, y, 0, 0, 0);
    const int64_t rows[] = {2, 0, 2, 2}, columns[] = {1, 3, 0, 1};
    const double values[] = {1, 1, 2, 2};
    const int64_t *const coordinates[] = {rows, columns};
    OK(distal_tensor_entries(B, rank == 0 ? 4 : 0, coordinates, values));
    OK(distal_execute(plan));
    check_product(d, y, 1, 0, 5);
    distal_level_arrays levels[2];
    OK(distal_tensor_levels(B, levels, NULL, NULL));
    if (rank == 0)
        CHECK(memcmp(levels[1].pos, pos64, sizeof pos64) == 0 &&
                  memcmp(levels[1].crd, crd32, sizeof crd32) == 0,
              "the structure");
    OK(distal_tensor_entries(B, rank == 0 ? 1 : 0, coordinates, values));
    OK(distal_execute(plan));
    check_product(d, y, 0, 0, 1);
    double whole[12];
    OK(distal_tensor_gather(B, whole));
    CHECK(whole[9] == 1 && whole[0] == 0, "the whole");
    distal_free(d);
}

// Results with a structure: an operand's, which is shared, an assembled one, which is read in place, and that
// of a copy, which stays while the operand has other values.
static void test_results(MPI_Comm comm, int rank, int ranks) {
    (void)ranks;
    distal_context *d = context_on(comm);
    distal_tensor *B = declare(d, "B(3, 4): f64, csr", NULL), *A = declare(d, "A(3, 4): f64, csr", NULL),
                  *C = declare(d, "C(3, 3): f64, csr", NULL), *D = declare(d, "D(3, 4): f64, csc", NULL);
    double values[] = {1, 2, 3};
    const void *first = NULL;
    const distal_level_arrays given[] = {{0}, {.pos = pos64, .crd = crd32}};
    OK(distal_tensor_attach_levels(B, rank == 0 ? given : NULL, rank == 0 ? values : NULL));
    distal_plan *doubled = planned(d, "A(i, j) = 2 * B(i, j)", NULL),
                *square = planned(d, "C(i, k) = B(i, j) * B(k, j)", NULL),
                *moved = planned(d, "D(i, j) = B(i, j)", NULL);
    for (int round = 1; round <= 3; round++) {
        values[0] = round;
        OK(distal_execute(doubled));
        OK(distal_execute(square));
        OK(distal_execute(moved));
        distal_level_arrays a[2], c[2], by_columns[2];
        void *of_a, *of_c, *of_d;
        int64_t a_count, c_count, d_count;
        OK(distal_tensor_levels(A, a, &of_a, &a_count));
        OK(distal_tensor_levels(C, c, &of_c, &c_count));
        OK(distal_tensor_levels(D, by_columns, &of_d, &d_count));
        if (rank != 0)
            continue;
        CHECK(a_count == 3 && ((double *)of_a)[0] == 2 * round && ((double *)of_a)[2] == 6, "A");
        CHECK(c_count == 2 && ((double *)of_c)[0] == round * round && ((double *)of_c)[1] == 13, "C");
        CHECK(c_count == 2 && ((const int32_t *)c[1].crd)[0] == 0 && ((const int32_t *)c[1].crd)[1] == 2,
              "columns of C");
        // By columns: (2, 0), (2, 1), (0, 3).
        CHECK(d_count == 3 && ((double *)of_d)[0] == 2 && ((double *)of_d)[1] == 3 &&
                  ((double *)of_d)[2] == round,
              "D");
        CHECK(round == 1 || by_columns[1].crd == first, "the structure of D");
        first = by_columns[1].crd;
    }
    distal_free(d);
}

static void test_files(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    distal_tensor *B = declare(d, "B(8, 8): f64, csr", NULL), *C = declare(d, "C(8, 8): f64, coo", NULL);
    char path[64];
    snprintf(path, sizeof path, "/tmp/distal-api-sparse-%d.mtx", ranks);
    OK(distal_tensor_fill(B, "rmat:1:3:20"));
    OK(distal_tensor_write(B, path));
    OK(distal_tensor_fill(C, path));
    double b[64], c[64];
    OK(distal_tensor_gather(B, b));
    OK(distal_tensor_gather(C, c));
    CHECK(memcmp(b, c, sizeof b) == 0, "what was written is not what was read");
    MPI_Barrier(comm);
    if (rank == 0)
        unlink(path);
    distal_free(d);
}

// Fibers of which each rank has a part: all ranks have those that are stored, or it is a diagnostic on all.
static void test_fibers(MPI_Comm comm, int rank, int ranks) {
    enum { EXTENT = 12 };
    static const char *const placements[] = {"F(x, y) -> M(y)", "F(x, y) -> M(cyclic(y, 2))"};
    for (int p = 0; p < 2; p++) {
        distal_context *d = context_on(comm);
        const int64_t first = p == 0 ? EXTENT / ranks * rank : 2 * rank,
                      end = p == 0 ? EXTENT / ranks * (rank + 1) : EXTENT - 2 * (ranks - 1 - rank);
        const int64_t count = end - first;
        int64_t pos[] = {0, 2};
        int32_t rows[] = {1, 3};
        double values[2 * EXTENT] = {0}, whole[6 * EXTENT];
        OK(distal_machine(d, "M", "grid(ranks)"));
        distal_tensor *F = declare(d, "F(6, 12): f64, {compressed, dense}", placements[p]),
                      *x = declare(d, "x(12): f64", NULL), *y = declare(d, "y(6): f64", NULL);
        distal_plan *plan = planned(d, "y(i) = F(i, j) * x(j)", NULL);
        for (int64_t j = first; j < end; j++)
            for (int r = 0; r < 2 && (p == 0 || j / 2 % ranks == rank); r++)
                values[r * count + j - first] = (double)(100 * rows[r] + j);
        const distal_level_arrays levels[] = {{.pos = pos, .crd = rows}, {.first = first, .count = count}};
        OK(distal_tensor_fill(x, "ones"));
        OK(distal_tensor_attach_levels(F, levels, values));
        OK(distal_tensor_gather(F, whole));
        for (int e = 0; e < 6 * EXTENT; e++) {
            const int i = e / EXTENT, j = e % EXTENT;
            CHECK(whole[e] == (i == 1 || i == 3 ? 100 * i + j : 0), "F(%d, %d) is %g", i, j, whole[e]);
        }
        OK(distal_execute(plan));
        check_figures(d, plan, rank);
        OK(distal_tensor_gather(y, whole));
        CHECK(whole[0] == 0 && whole[1] == 100 * EXTENT + 66 && whole[3] == 300 * EXTENT + 66, "y is %g %g",
              whole[1], whole[3]);
        pos[1] = 2 - (rank == ranks - 1);
        CHECK(ranks == 1 || distal_tensor_attach_levels(F, levels, values) == DISTAL_INVALID,
              "a fiber of other ranks is missing");
        CHECK(ranks == 1 ||
                  strstr(distal_error(d), "on rank 2 lack fiber (3, *), of which another rank stores a part"),
              "it says: %s", distal_error(d));
        pos[1] = 1;
        OK(distal_tensor_attach_levels(F, levels, values));
        OK(distal_execute(plan));
        OK(distal_tensor_gather(y, whole));
        distal_free(d);
    }
}

#define WRONG(call, text)                                                                                    \
    do {                                                                                                     \
        CHECK((call) != DISTAL_OK, "%s goes well", #call);                                                   \
        CHECK(strstr(distal_error(d), text), "%s says: %s", #call, distal_error(d));                         \
    } while (0)

static void refuse_levels(distal_context *d, distal_tensor *tensor, int rank, distal_level_arrays first,
                          distal_level_arrays second, const char *text) {
    static double values[3];
    const distal_level_arrays levels[] = {first, second};
    WRONG(distal_tensor_attach_levels(tensor, rank == 0 ? levels : NULL, values), text);
}

// Ranks that have the same part at home: of one dimension, or of one of two.
static void test_replicas(MPI_Comm comm, int rank, int ranks) {
    static const char *const placements[] = {"B(x, y) -> M(*)", "B(x, y) -> R(x, *)"};
    for (int p = 0; p < 2; p++) {
        distal_context *d = context_on(comm);
        double values[] = {1, 2, 3};
        int32_t columns[] = {3, 0, 1};
        OK(distal_machine(d, "M", "grid(ranks)"));
        OK(distal_machine(d, "R", "grid(1, ranks)"));
        distal_tensor *B = declare(d, "B(3, 4): f64, csr", placements[p]), *y = declare(d, "y(3): f64", NULL),
                      *x = declare(d, "x(4): f64", NULL);
        const distal_level_arrays levels[] = {{0}, {.pos = pos64, .crd = columns}};
        OK(distal_tensor_attach_levels(B, levels, values));
        values[1] = rank == ranks - 1 ? 5 : 2;
        if (ranks > 1)
            WRONG(distal_tensor_attach_levels(B, levels, values),
                  "the arrays of tensor 'B' on rank 2 differ from those on rank 0, which has the same part");
        values[1] = 2;
        columns[2] = rank == ranks - 1 ? 2 : 1;
        if (ranks > 1)
            WRONG(distal_tensor_attach_levels(B, levels, values), "on rank 2 differ from those on rank 0");
        columns[2] = 1;
        OK(distal_tensor_attach_levels(B, levels, values));
        distal_plan *plan = planned(d, "y(i) = B(i, j) * x(j)", NULL);
        OK(distal_tensor_fill(x, "ones"));
        OK(distal_execute(plan));
        check_product(d, y, 1, 0, 5);
        distal_free(d);
    }
}

static void test_refused(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    distal_tensor *B = declare(d, "B(3, 4): f64, csr", NULL), *D = declare(d, "D(3, 4): f64", NULL),
                  *C = declare(d, "C(3, 4): f64, coo", NULL),
                  *F = declare(d, "F(16, 576460752303423488): f64, {compressed, dense}", NULL);
    distal_level_arrays levels[2];
    distal_piece piece;
    const double values[3] = {0};
    int64_t far[] = {0, 0, 4}, near[] = {0, 0, 0};
    const int64_t *const outside[] = {near, far}, *const missing[] = {near, NULL};
    WRONG(distal_tensor_levels(D, levels, NULL, NULL),
          "tensor 'D' is dense: it has pieces, and no levels with arrays");
    WRONG(distal_tensor_entries(D, 0, outside, values), "tensor 'D' is dense");
    WRONG(distal_tensor_local(B, &piece), "tensor 'B' is sparse: it has levels with arrays, and no pieces");
    WRONG(distal_tensor_levels(B, NULL, NULL, NULL), "NULL");
    WRONG(distal_tensor_levels(NULL, levels, NULL, NULL) == DISTAL_OK
              ? DISTAL_OK
              : distal_tensor_entries(B, -1, outside, values),
          "-1 is no number of entries for tensor 'B'");
    WRONG(distal_tensor_entries(B, rank == 0 ? 3 : 0, outside, values),
          "tensor 'B' cannot have such entries: entry 2 has coordinate 4 in mode 1, whose extent is 4");
    WRONG(distal_tensor_entries(B, rank == 0 ? 3 : 0, missing, values),
          "the coordinates or the values of the entries of tensor 'B' are NULL");
    if (ranks > 1)
        WRONG(distal_tensor_entries(B, rank == 1 ? 3 : 0, outside, values),
              "tensor 'B' cannot have such entries: entry 2 has coordinate 4 in mode 1, whose extent is 4");
    WRONG(distal_tensor_attach_levels(B, NULL, NULL), "the array of levels of tensor 'B' is NULL");
    const distal_level_arrays dense = {0}, fine = {.pos = pos64, .crd = crd32};
    const distal_level_arrays good[] = {dense, fine};
    WRONG(distal_tensor_attach_levels(B, good, NULL), "the values of tensor 'B' are NULL");
    refuse_levels(d, B, rank, dense, dense, "pos of level 1 is NULL, where tensor 'B' has elements");
    refuse_levels(d, B, rank, dense, (distal_level_arrays){.pos = pos64},
                  "crd of level 1 is NULL, where tensor 'B' has elements");
    refuse_levels(d, B, rank, dense, (distal_level_arrays){.pos = pos64, .crd = crd32, .pos_bits = 16},
                  "the elements of pos of level 1 of tensor 'B' have 16 bits, and 32 or 64 are possible");
    refuse_levels(d, B, rank, dense, (distal_level_arrays){.pos = (int64_t[]){0, 1, 2, -1}, .crd = crd32},
                  "pos of level 1 of tensor 'B' ends with a negative number");
    refuse_levels(
        d, B, rank, dense, (distal_level_arrays){.pos = (int64_t[]){1, 1, 1, 3}, .crd = crd32},
        "tensor 'B' cannot have such arrays: pos of level 1 (compressed) begins with 1 in place of 0");
    refuse_levels(d, B, rank, dense, (distal_level_arrays){.pos = (int64_t[]){0, 2, 1, 3}, .crd = crd32},
                  "pos of level 1 (compressed) decreases from element 1 to the next one");
    refuse_levels(d, B, rank, dense, (distal_level_arrays){.pos = pos64, .crd = (int32_t[]){3, 0, 4}},
                  "crd of level 1 (compressed) has 4 as element 2, and mode 1 has extent 4");
    refuse_levels(d, B, rank, dense, (distal_level_arrays){.pos = pos64, .crd = (int32_t[]){3, 1, 1}},
                  "the coordinates at position 2 of level 1 (compressed) are not after those before them");
    refuse_levels(
        d, B, rank, dense,
        (distal_level_arrays){.pos = pos64, .crd = (int64_t[]){3, 0, INT64_C(1) << 40}, .crd_bits = 64},
        "element 2 of crd of level 1 of tensor 'B' is 1099511627776, which does not fit 32 bits");
    refuse_levels(d, C, rank, (distal_level_arrays){.pos = all64, .crd = rows32},
                  (distal_level_arrays){.crd = (int32_t[]){3, 1, 0}},
                  "the coordinates at position 2 of level 0 (compressed) are not after those before them");
    int32_t all[16];
    for (int i = 0; i < 16; i++)
        all[i] = i;
    refuse_levels(d, F, rank, (distal_level_arrays){.pos = (int64_t[]){0, 16}, .crd = all}, dense,
                  "level 1 of tensor 'F' has more than 2^63 positions");
    distal_free(d);
}

int main(int argument_count, char **arguments) {
    report_start(&argument_count, &arguments);
    for (int ranks = 1; ranks <= 3; ranks += 2) {
        run_case("api_levels/attached", ranks, test_attached);
        run_case("api_levels/entries", ranks, test_entries);
        run_case("api_levels/results", ranks, test_results);
        run_case("api_levels/files", ranks, test_files);
        run_case("api_levels/fibers", ranks, test_fibers);
        run_case("api_levels/replicas", ranks, test_replicas);
        run_case("api_levels/refused", ranks, test_refused);
    }
    return report_end();
}
