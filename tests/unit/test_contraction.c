// SPDX-License-Identifier: BSD-3-Clause
// Contractions against their definition, one element at a time: drawn loops, storage orders and padding,
// extents below and above those of the blocks that are copied. The values are small integers, so that every
// type's sums are exact.
#include "runtime/contraction.h"

#include "distal_kernel.h"
#include "runtime/panels.h"

#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DIM_LOOPS = 3, LOOPS = 3 * DIM_LOOPS + 2, LARGEST_WORK = 1000000, TEAM = 36 };

typedef struct {
    int counts[4]; // of m, n, k and of the batch
    int threads;   // that the space is for
    int team;      // of these, those that divide the space, one of which computes the case
    int loop_count;
    distal_contraction_loop loops[LOOPS];
    int64_t sizes[3]; // elements of A, B, C with what lies between
} Case;

static uint64_t state = 1;

static int64_t below(int64_t bound) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (int64_t)((state >> 33) % (uint64_t)bound);
}

static int64_t *stride_of(distal_contraction_loop *loop, int tensor) {
    return tensor == 0 ? &loop->a : tensor == 1 ? &loop->b : &loop->c;
}

// Whether the loops of a dimension index a tensor: m is in A and C, n in B and C, k in A and B, a batch in
// all.
static bool indexes(int dim, int tensor) {
    return dim == 3 || (tensor == 2 ? dim != 2 : dim == 2 || dim == tensor);
}

// Strides for the loops that index the tensor, in a drawn order, sometimes with a gap after one of them.
static void draw_strides(Case *drawn, int tensor) {
    int order[LOOPS] = {0}, count = 0;
    for (int dim = 0, l = 0; dim < 4; dim++)
        for (int i = 0; i < drawn->counts[dim]; i++, l++)
            if (indexes(dim, tensor)) {
                const int at = (int)below(count + 1);
                order[count++] = order[at];
                order[at] = l;
            }
    int64_t stride = below(5) == 0 ? 2 : 1;
    for (int i = 0; i < count; i++) {
        *stride_of(&drawn->loops[order[i]], tensor) = stride;
        stride *= drawn->loops[order[i]].extent > 0 ? drawn->loops[order[i]].extent : 1;
        stride += below(6) == 0 ? below(4) : 0;
    }
    drawn->sizes[tensor] = stride;
}

static Case draw_case(void) {
    static const int64_t extents[] = {1, 2, 3, 5, 8, 9, 23, 26, 64, 70, 130, 301, 530};
    Case drawn;
    int64_t work;
    // Every fourth has large loops, on which products in place are worthwhile.
    const bool large = below(4) == 0;
    const int team = below(4) ? 1 : below(2) ? 2 + (int)below(6) : TEAM;
    do {
        drawn = (Case){.team = team, .threads = team > 1 ? team : 1 + (int)below(7)};
        work = 1;
        for (int dim = 0; dim < 3; dim++) {
            drawn.counts[dim] = 1 + (int)below(large ? 2 : DIM_LOOPS);
            for (int i = 0; i < drawn.counts[dim]; i++) {
                const int64_t extent = large && i == 0 ? 64 + below(9) : extents[below(large ? 4 : 13)];
                drawn.loops[drawn.loop_count++].extent = extent;
                work = work > LARGEST_WORK ? work : work * extent;
            }
        }
        drawn.counts[3] = below(2) ? (int)below(3) : 0;
        for (int i = 0; i < drawn.counts[3]; i++) {
            const int64_t extent = extents[below(large ? 6 : 13)];
            drawn.loops[drawn.loop_count++].extent = extent;
            work = work > LARGEST_WORK ? work : work * extent;
        }
    } while (work > LARGEST_WORK);
    if (below(20) == 0)
        drawn.loops[below(drawn.loop_count)].extent = -below(2);
    for (int tensor = 0; tensor < 3; tensor++)
        draw_strides(&drawn, tensor);
    return drawn;
}

// One dimension is longer than a tile may be.
static Case draw_long_case(void) {
    Case drawn = {.counts = {1, 1, 1}, .threads = 2, .team = 1, .loop_count = 3};
    const int dim = (int)below(3);
    drawn.counts[dim]++;
    drawn.loop_count++;
    for (int loop = 0; loop < drawn.loop_count; loop++)
        drawn.loops[loop].extent = 1 + below(7);
    drawn.loops[dim].extent = (4000 + below(2000)) / drawn.loops[dim + 1].extent;
    for (int tensor = 0; tensor < 3; tensor++)
        draw_strides(&drawn, tensor);
    return drawn;
}

// Whether nothing is computed.
static bool is_empty(const Case *drawn) {
    for (int loop = 0; loop < drawn->loop_count; loop++)
        if (drawn->loops[loop].extent <= 0)
            return true;
    return false;
}

#define DEFINE_TEST(suffix, type)                                                                            \
    static void define_##suffix(const Case *drawn, int loop, type alpha, const type *a, const type *b,       \
                                type *c) {                                                                   \
        if (loop == drawn->loop_count) {                                                                     \
            *c += alpha * *a * *b;                                                                           \
            return;                                                                                          \
        }                                                                                                    \
        const distal_contraction_loop *at = &drawn->loops[loop];                                             \
        for (int64_t i = 0; i < at->extent; i++)                                                             \
            define_##suffix(drawn, loop + 1, alpha, a + i * at->a, b + i * at->b, c + i * at->c);            \
    }                                                                                                        \
                                                                                                             \
    static void zero_##suffix(const Case *drawn, int loop, type *c) {                                        \
        if (loop == drawn->loop_count) {                                                                     \
            *c = 0;                                                                                          \
            return;                                                                                          \
        }                                                                                                    \
        const int first = drawn->counts[0] + drawn->counts[1];                                               \
        const bool summed = loop >= first && loop < first + drawn->counts[2];                                \
        for (int64_t i = 0; i < (summed ? 1 : drawn->loops[loop].extent); i++)                               \
            zero_##suffix(drawn, loop + 1, c + i * drawn->loops[loop].c);                                    \
    }                                                                                                        \
                                                                                                             \
    static type *values_##suffix(int64_t count) {                                                            \
        type *values = calloc((size_t)count, sizeof *values);                                                \
        for (int64_t i = 0; i < count; i++)                                                                  \
            values[i] = (type)(below(9) - 4);                                                                \
        return values;                                                                                       \
    }                                                                                                        \
                                                                                                             \
    /* By distal_contract_*, or by the functions for one kind of processor. */                               \
    static void contract_##suffix(const Case *drawn, const Panels *panels, void *space, int stores,          \
                                  const type *a, const type *b, type *c) {                                   \
        const int m = drawn->counts[0], n = drawn->counts[1], k = drawn->counts[2];                          \
        const Product product = {dimension_create(drawn->loops, m, OF_C),                                    \
                                 dimension_create(drawn->loops + m, n, OF_C),                                \
                                 dimension_create(drawn->loops + m + n, k, OF_A)};                           \
        if (!panels)                                                                                         \
            distal_contract_##suffix(m, n, k, drawn->counts[3], drawn->loops,                                \
                                     contraction_part(space, drawn->threads, 0, drawn->team), stores, -3, a, \
                                     b, c);                                                                  \
        else if (!is_empty(drawn))                                                                           \
            panels->suffix(&product, space, PANELS_SPACE, omp_get_max_threads(), stores, -3, a, b, c);       \
    }                                                                                                        \
                                                                                                             \
    static void check_##suffix(Case drawn, int stores, uint64_t seed) {                                      \
        const Panels *panels[PANELS_COUNT + 1] = {NULL};                                                     \
        const int variants = drawn.counts[3] > 0 ? 1 : 1 + panels_available(panels + 1);                     \
        const int64_t space_bytes = contraction_space(TEAM);                                                 \
        char *space = aligned_alloc(64, (size_t)space_bytes);                                                \
        omp_set_num_threads(drawn.threads);                                                                  \
        type *a = values_##suffix(drawn.sizes[0]), *b = values_##suffix(drawn.sizes[1]),                     \
             *before = values_##suffix(drawn.sizes[2]), *c = values_##suffix(drawn.sizes[2]),                \
             *expected = malloc((size_t)drawn.sizes[2] * sizeof *c);                                         \
        memcpy(expected, before, (size_t)drawn.sizes[2] * sizeof *c);                                        \
        if (stores && !is_empty(&drawn))                                                                     \
            zero_##suffix(&drawn, 0, expected);                                                              \
        define_##suffix(&drawn, 0, -3, a, b, expected);                                                      \
        for (int variant = 0; variant < variants; variant++) {                                               \
            memcpy(c, before, (size_t)drawn.sizes[2] * sizeof *c);                                           \
            memset(space, 0x5a, (size_t)space_bytes);                                                        \
            contract_##suffix(&drawn, panels[variant], space, stores, a, b, c);                              \
            const int64_t used = contraction_space(drawn.threads) / drawn.team;                              \
            for (int64_t i = used; drawn.team > 1 && variant == 0 && i < space_bytes; i++)                   \
                assert_int_equal(space[i], 0x5a); /* that of other threads */                                \
            for (int64_t i = 0; i < drawn.sizes[2]; i++)                                                     \
                if (c[i] != expected[i])                                                                     \
                    fail_msg("element %lld of %lld is wrong in the case drawn from %llu, variant %d",        \
                             (long long)i, (long long)drawn.sizes[2], (unsigned long long)seed, variant);    \
        }                                                                                                    \
        free(a);                                                                                             \
        free(b);                                                                                             \
        free(before);                                                                                        \
        free(c);                                                                                             \
        free(expected);                                                                                      \
        free(space);                                                                                         \
    }                                                                                                        \
                                                                                                             \
    static void test_##suffix(void **unused) {                                                               \
        (void)unused;                                                                                        \
        for (int number = 0; number < 60; number++) {                                                        \
            const uint64_t seed = state;                                                                     \
            const Case drawn = number % 5 ? draw_case() : draw_long_case();                                  \
            check_##suffix(drawn, (int)below(2), seed);                                                      \
        }                                                                                                    \
    }

DEFINE_TEST(f32, float)
DEFINE_TEST(f64, double)
DEFINE_TEST(c64, float _Complex)
DEFINE_TEST(c128, double _Complex)
DEFINE_TEST(i32, int32_t)
DEFINE_TEST(i64, int64_t)

// Strides without gaps, in which the loops of a dimension follow each other in a drawn order.
static void draw_packed(Case *drawn, int tensor) {
    const int inner = (int)below(2);
    int dims[2], count = 0, first[3] = {0};
    for (int dim = 0; dim < 3; dim++) {
        first[dim] = dim > 0 ? first[dim - 1] + drawn->counts[dim - 1] : 0;
        if (indexes(dim, tensor))
            dims[count++] = dim;
    }
    drawn->sizes[tensor] = 1;
    for (int d = 0; d < 2; d++) {
        const int dim = dims[d ^ inner], of = drawn->counts[dim], begin = (int)below(of);
        for (int i = 0; i < of; i++) {
            distal_contraction_loop *loop = &drawn->loops[first[dim] + (begin + i) % of];
            *stride_of(loop, tensor) = drawn->sizes[tensor];
            drawn->sizes[tensor] *= loop->extent;
        }
    }
}

// Results larger than the last-level cache, with few products in each sum.
static void test_large_results(void **unused) {
    (void)unused;
    for (int number = 0; number < 6; number++) {
        const uint64_t seed = state;
        const int64_t columns = 3 + below(4), column = 64 + below(40), rows = 1 + below(70);
        const int64_t row = (1 << 22) / (columns * column * rows) + 1;
        Case drawn = {.counts = {2, 2, 2}, .threads = 2, .team = 1, .loop_count = 6};
        const int64_t extents[] = {row, rows, columns, column, 1 + below(3), 2};
        for (int loop = 0; loop < drawn.loop_count; loop++)
            drawn.loops[loop].extent = extents[loop];
        for (int tensor = 0; tensor < 3; tensor++)
            draw_packed(&drawn, tensor);
        check_f64(drawn, 1, seed);
    }
}

// Products whose columns, or whose sum, threads divide, in more than one tile of each dimension.
static void test_divided(void **unused) {
    (void)unused;
    const int64_t extents[][3] = {
        {131, 300, 401}, {41, 310, 1000}, {81, 650, 1000}, {17, 30, 9001}, {3, 7, 40009}};
    for (int number = 0; number < 10; number++) {
        const uint64_t seed = state;
        Case drawn = {.counts = {1, 1, 1}, .threads = 1 + number % 3, .team = 1};
        for (int dim = 0; dim < 3; dim++) {
            const int64_t extent = extents[number / 2][dim], inner = number % 2 ? 1 + below(8) : 1;
            drawn.loops[drawn.loop_count++].extent = (extent + inner - 1) / inner;
            drawn.counts[dim] = inner > 1 ? 2 : 1;
            if (inner > 1)
                drawn.loops[drawn.loop_count++].extent = inner;
        }
        for (int tensor = 0; tensor < 3; tensor++)
            draw_packed(&drawn, tensor);
        check_f64(drawn, number % 2, seed);
        check_f32(drawn, number % 2, seed);
    }
}

// A batch along which A is contiguous, and as many columns as panels may have: copies and panels divide what
// a thread of a large team has.
static void test_little_space(void **unused) {
    (void)unused;
    enum { M = 64, N = 4080, K = 1, BATCH = 3 };
    const Case batch = {
        .counts = {1, 1, 1, 1},
        .threads = TEAM,
        .team = TEAM,
        .loop_count = 4,
        .loops = {{M, K * BATCH, 0, N}, {N, 0, 1, 1}, {K, BATCH, N, 0}, {BATCH, 1, K * N, M * N}},
        .sizes = {M * K * BATCH, K * N * BATCH, M * N * BATCH}};
    check_c128(batch, 1, 0);
    check_f64(batch, 0, 0);
}

// Few products of which each is one long sum: their blocks cannot be divided further, however many threads
// there are.
static void test_long_sums(void **unused) {
    (void)unused;
    enum { K = 270000, BATCH = 2 };
    const Case batch = {.counts = {1, 1, 1, 1},
                        .threads = 7,
                        .team = 1,
                        .loop_count = 4,
                        .loops = {{1, 1, 0, 1}, {1, 0, 1, 1}, {K, BATCH, BATCH, 0}, {BATCH, 1, 1, 1}},
                        .sizes = {K * BATCH, K * BATCH, BATCH}};
    check_f32(batch, 1, 0);
    check_i64(batch, 0, 0);
}

// Threads of a team that call at the same time, each with a result of its own, divide the space.
static void test_callers(void **unused) {
    (void)unused;
    enum { M = 61, N = 20, K = 700 };
    const distal_contraction_loop loops[] = {{M, K, 0, N}, {N, 0, 1, 1}, {K, 1, N, 0}};
    double *a = values_f64(M * K), *b = values_f64(K * N), *expected = calloc(M * N, sizeof *expected);
    for (int i = 0; i < M * N; i++)
        for (int k = 0; k < K; k++)
            expected[i] += a[i / N * K + k] * b[k * N + i % N];
    for (int team = 1; team <= 67; team = 3 * team + team / 7) {
        void *space = malloc((size_t)contraction_space(team));
        double *c = calloc((size_t)team * M * N, sizeof *c);
#pragma omp parallel num_threads(team)
        distal_contract_f64(1, 1, 1, 0, loops, contraction_part(space, team, omp_get_thread_num(), team), 0,
                            1, a, b, c + omp_get_thread_num() * M * N);
        for (int i = 0; i < team * M * N; i++)
            if (c[i] != expected[i % (M * N)])
                fail_msg("element %d of thread %d of %d is wrong", i % (M * N), i / (M * N), team);
        free(c);
        free(space);
    }
    free(a);
    free(b);
    free(expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_f32),           cmocka_unit_test(test_f64),
                                       cmocka_unit_test(test_c64),           cmocka_unit_test(test_c128),
                                       cmocka_unit_test(test_i32),           cmocka_unit_test(test_i64),
                                       cmocka_unit_test(test_large_results), cmocka_unit_test(test_divided),
                                       cmocka_unit_test(test_little_space),  cmocka_unit_test(test_long_sums),
                                       cmocka_unit_test(test_callers)};
    return cmocka_run_group_tests_name("contraction", tests, NULL, NULL);
}
