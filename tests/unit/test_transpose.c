// SPDX-License-Identifier: BSD-3-Clause
// What kernels copy blocks with (distal_kernel.h), against its definition: extents below and above those of
// vectors, lines and blocks, rows that begin at lines or not, streamed or not. Nothing else is written.
#if defined __x86_64__ && !defined __clang__
#pragma GCC target("avx2")
#define NEEDS_AVX2
#endif
#include "distal_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 300, GUARD = 0x5a };

static uint64_t random_state = 1;

static int64_t below(int64_t bound) {
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (int64_t)((random_state >> 33) % (uint64_t)bound);
}

static int64_t draw_extent(void) {
    static const int64_t extents[] = {0,  1,  2,  3,  4,  7,   8,   9,   15,  16,
                                      17, 31, 33, 64, 65, 127, 130, 257, MOST};
    return extents[below(sizeof extents / sizeof *extents)];
}

static void transpose(int64_t bytes, int64_t rows, int64_t cols, char *to, int64_t to_row, const char *from,
                      int64_t from_row, int stream) {
    if (bytes == 4)
        distal_transpose_4(rows, cols, to, to_row, from, from_row, stream);
    else if (bytes == 8)
        distal_transpose_8(rows, cols, to, to_row, from, from_row, stream);
    else
        distal_transpose_16(rows, cols, to, to_row, from, from_row, stream);
}

static void check_transpose(int64_t bytes) {
    const int64_t rows = draw_extent(), cols = draw_extent();
    const int64_t to_row = below(2) ? (cols + 15) / 16 * 16 : cols + below(3);
    const int64_t from_row = rows + below(20), before = below(2) ? 0 : bytes * below(16);
    const size_t size =
        (size_t)(before + (rows * to_row + 1) * bytes + DISTAL_LINE - 1) / DISTAL_LINE * DISTAL_LINE;
    char *const to = aligned_alloc(DISTAL_LINE, size), *const expected = malloc(size);
    char *const from = malloc((size_t)((cols * from_row + 1) * bytes));
    assert_true(to && expected && from);
    for (int64_t i = 0; i < cols * from_row * bytes; i++)
        from[i] = (char)below(256);
    memset(to, GUARD, size);
    memset(expected, GUARD, size);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            memcpy(expected + before + (r * to_row + c) * bytes, from + (c * from_row + r) * bytes,
                   (size_t)bytes);
    transpose(bytes, rows, cols, to + before, to_row, from, from_row, (int)below(2));
    assert_memory_equal(to, expected, size);
    free(to);
    free(expected);
    free(from);
}

static void test_transposes(void **state) {
    (void)state;
#ifdef NEEDS_AVX2
    if (!__builtin_cpu_supports("avx2"))
        skip();
#endif
    for (int i = 0; i < 2000; i++)
        check_transpose(4 << i % 3);
}

static void test_streams(void **state) {
    (void)state;
#ifdef NEEDS_AVX2
    if (!__builtin_cpu_supports("avx2"))
        skip();
#endif
    enum { SIZE = 1024 };
    char *const to = aligned_alloc(DISTAL_LINE, SIZE), from[SIZE], expected[SIZE];
    assert_non_null(to);
    for (int i = 0; i < SIZE; i++)
        from[i] = (char)below(256);
    for (int i = 0; i < 2000; i++) {
        const int64_t size = below(SIZE + 1), first = below(SIZE + 1 - size), begin = below(SIZE + 1 - size);
        memset(to, GUARD, SIZE);
        memset(expected, GUARD, SIZE);
        memcpy(expected + first, from + begin, (size_t)size);
        distal_stream(to + first, from + begin, size);
        assert_memory_equal(to, expected, SIZE);
    }
    free(to);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transposes),
        cmocka_unit_test(test_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
