// SPDX-License-Identifier: BSD-3-Clause
// Contractions on the emulated GPU against their definition, one element at a time: drawn loops of each
// dimension and around products, storage orders and padding, and costs by which more or less is copied to a
// little or a lot of space. The values are small integers, so that every type's sums are exact.
#include "runtime/gpu_contraction.h"

#include "memory/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DIMS = 4, DIM_LOOPS = 3, LOOPS = DIMS * DIM_LOOPS, LARGEST_WORK = 20000 };

typedef struct {
    int counts[DIMS]; // of m, n, k, and of the batch
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

// Whether the loops of a dimension index a tensor: m is in A and C, n in B and C, k in A and B, all have the
// batch.
static bool indexes(int dim, int tensor) {
    return dim == 3 || (tensor == 2 ? dim != 2 : dim == 2 || dim == tensor);
}

// Strides for the loops that index the tensor, in a drawn order, sometimes with a gap after one of them.
static void draw_strides(Case *drawn, int tensor) {
    int order[LOOPS] = {0}, count = 0;
    const bool in_order = below(3) == 0;
    for (int dim = 0, l = 0; dim < DIMS; dim++)
        for (int i = 0; i < drawn->counts[dim]; i++, l++)
            if (indexes(dim, tensor)) {
                const int at = in_order ? 0 : (int)below(count + 1);
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
    static const int64_t extents[] = {1, 2, 3, 4, 5, 8, 9, 33, 70};
    Case drawn;
    int64_t work;
    do {
        drawn = (Case){.counts = {0}};
        work = 1;
        for (int dim = 0; dim < DIMS; dim++) {
            drawn.counts[dim] = (int)below(DIM_LOOPS + 1);
            for (int i = 0; i < drawn.counts[dim]; i++) {
                drawn.loops[drawn.loop_count].extent = extents[below(9)];
                work *= drawn.loops[drawn.loop_count++].extent;
            }
        }
    } while (work > LARGEST_WORK);
    if (drawn.loop_count && below(20) == 0)
        drawn.loops[below(drawn.loop_count)].extent = -below(2);
    for (int tensor = 0; tensor < 3; tensor++)
        draw_strides(&drawn, tensor);
    return drawn;
}

static bool is_empty(const Case *drawn) {
    for (int loop = 0; loop < drawn->loop_count; loop++)
        if (drawn->loops[loop].extent <= 0)
            return true;
    return false;
}

static const Device *device;

static void *on_device(const void *from, int64_t bytes) {
    void *memory = device->allocate(bytes);
    assert_non_null(memory);
    device->copy(memory, bytes, from, bytes, bytes, 1);
    return memory;
}

// Those of a GPU; and those by which all is copied that may be, or what saves a product.
static GpuContractionCosts draw_costs(void) {
    static const GpuContractionCosts kinds[] = {{1e8, 25, 0}, {-1e9, 0, 0}, {0, 1, 0}, {1, 0, 0}};
    GpuContractionCosts costs = kinds[below(4)];
    costs.space = below(3) ? 1 << 20 : 8192 + below(2000);
    return costs;
}

#define DEFINE_TEST(suffix, type, element_type)                                                              \
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
        for (int64_t i = 0; i < (drawn->loops[loop].c ? drawn->loops[loop].extent : 1); i++)                 \
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
    static void check_##suffix(Case drawn, bool stores, uint64_t seed) {                                     \
        const int64_t size = (int64_t)sizeof(type), bytes = drawn.sizes[2] * size;                           \
        const GpuContractionCosts costs = draw_costs();                                                      \
        const type alpha = (type)(below(5) - 3);                                                             \
        type *a = values_##suffix(drawn.sizes[0]), *b = values_##suffix(drawn.sizes[1]),                     \
             *c = values_##suffix(drawn.sizes[2]), *expected = malloc((size_t)bytes);                        \
        type *device_a = on_device(a, drawn.sizes[0] * size),                                                \
             *device_b = on_device(b, drawn.sizes[1] * size), *device_c = on_device(c, bytes);               \
        const int64_t space_bytes = below(8) ? costs.space : 16;                                             \
        void *space = below(8) ? device->allocate(space_bytes) : NULL;                                       \
        memcpy(expected, c, (size_t)bytes);                                                                  \
        if (stores && !is_empty(&drawn))                                                                     \
            zero_##suffix(&drawn, 0, expected);                                                              \
        define_##suffix(&drawn, 0, alpha, a, b, expected);                                                   \
        gpu_contract(element_type, drawn.counts, drawn.loops,                                                \
                     (distal_contraction_space){space, space ? space_bytes : 0, 1}, &costs, stores, &alpha,  \
                     device_a, device_b, device_c);                                                          \
        device->copy(c, bytes, device_c, bytes, bytes, 1);                                                   \
        assert_false(device_failed());                                                                       \
        for (int64_t i = 0; i < drawn.sizes[2]; i++)                                                         \
            if (c[i] != expected[i])                                                                         \
                fail_msg("element %lld of %lld is wrong in the case drawn from %llu", (long long)i,          \
                         (long long)drawn.sizes[2], (unsigned long long)seed);                               \
        device->release(device_a);                                                                           \
        device->release(device_b);                                                                           \
        device->release(device_c);                                                                           \
        device->release(space);                                                                              \
        free(a);                                                                                             \
        free(b);                                                                                             \
        free(c);                                                                                             \
        free(expected);                                                                                      \
    }                                                                                                        \
                                                                                                             \
    static void test_##suffix(void **unused) {                                                               \
        (void)unused;                                                                                        \
        for (int number = 0; number < 300; number++) {                                                       \
            const uint64_t seed = state;                                                                     \
            const Case drawn = draw_case();                                                                  \
            check_##suffix(drawn, below(2), seed);                                                           \
        }                                                                                                    \
    }

DEFINE_TEST(f32, float, TYPE_F32)
DEFINE_TEST(f64, double, TYPE_F64)
DEFINE_TEST(c64, float _Complex, TYPE_C64)
DEFINE_TEST(c128, double _Complex, TYPE_C128)
DEFINE_TEST(i32, int32_t, TYPE_I32)
DEFINE_TEST(i64, int64_t, TYPE_I64)

static int open_emulated(void **unused) {
    (void)unused;
    const char *why;
    setenv("DISTAL_GPU", "emulated", 1);
    device = device_open(0, &why);
    return device ? 0 : -1;
}

static int close_emulated(void **unused) {
    (void)unused;
    device_close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_f32), cmocka_unit_test(test_f64),
                                       cmocka_unit_test(test_c64), cmocka_unit_test(test_c128),
                                       cmocka_unit_test(test_i32), cmocka_unit_test(test_i64)};
    return cmocka_run_group_tests_name("contractions on a GPU", tests, open_emulated, close_emulated);
}
