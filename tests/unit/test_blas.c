// SPDX-License-Identifier: BSD-3-Clause
// The leaf kernels against the definition of what they compute, one element at a time, over sizes,
// storage orders, padding, strides and element types.
#include "distal_kernel.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const int64_t sizes[] = {0, 1, 2, 3, 7, 17, 64, 65};
enum { SIZE_COUNT = sizeof(sizes) / sizeof(*sizes), LARGEST = 65, MATRIX = LARGEST * LARGEST * 4 };

// How a matrix is laid out: strides for a number of rows and columns.
enum { BY_ROWS, BY_COLUMNS, PADDED_ROWS, PADDED_COLUMNS, SPREAD, LAYOUT_COUNT };

static void strides(int layout, int64_t rows, int64_t cols, int64_t *row, int64_t *col) {
    switch (layout) {
    case BY_ROWS:
        *row = cols, *col = 1;
        return;
    case BY_COLUMNS:
        *row = 1, *col = rows;
        return;
    case PADDED_ROWS:
        *row = cols + 3, *col = 1;
        return;
    case PADDED_COLUMNS:
        *row = 1, *col = rows + 5;
        return;
    default: // no unit stride at all
        *row = 2 * cols + 1, *col = 2;
        return;
    }
}

#define DEFINE_TESTS(suffix, type, distance, tolerance)                                                      \
    static type a_##suffix[MATRIX], b_##suffix[MATRIX], c_##suffix[MATRIX], expected_##suffix[MATRIX];       \
                                                                                                             \
    static void fill_##suffix(type *values, uint64_t seed) {                                                 \
        for (int64_t p = 0; p < MATRIX; p++) {                                                               \
            seed = seed * 6364136223846793005U + 1442695040888963407U;                                       \
            values[p] = VALUE_##suffix(seed);                                                                \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static void fresh_##suffix(void) {                                                                       \
        fill_##suffix(a_##suffix, 1);                                                                        \
        fill_##suffix(b_##suffix, 2);                                                                        \
        fill_##suffix(c_##suffix, 3);                                                                        \
        fill_##suffix(expected_##suffix, 3);                                                                 \
    }                                                                                                        \
                                                                                                             \
    /* Everything: what a kernel may not touch is compared too. */                                           \
    static void compare_##suffix(void) {                                                                     \
        for (int64_t p = 0; p < MATRIX; p++)                                                                 \
            assert_true(distance(c_##suffix[p], expected_##suffix[p]) <= tolerance);                         \
    }                                                                                                        \
                                                                                                             \
    static void gemm_##suffix(int64_t m, int64_t n, int64_t k, int of_a, int of_b, int of_c) {               \
        int64_t a_row, a_col, b_row, b_col, c_row, c_col;                                                    \
        strides(of_a, m, k, &a_row, &a_col);                                                                 \
        strides(of_b, k, n, &b_row, &b_col);                                                                 \
        strides(of_c, m, n, &c_row, &c_col);                                                                 \
        const type alpha = VALUE_##suffix(77);                                                               \
        fresh_##suffix();                                                                                    \
        for (int64_t i = 0; i < m; i++)                                                                      \
            for (int64_t j = 0; j < n; j++)                                                                  \
                for (int64_t s = 0; s < k; s++)                                                              \
                    expected_##suffix[i * c_row + j * c_col] =                                               \
                        ADD_##suffix(expected_##suffix[i * c_row + j * c_col],                               \
                                     MUL_##suffix(alpha, MUL_##suffix(a_##suffix[i * a_row + s * a_col],     \
                                                                      b_##suffix[s * b_row + j * b_col])));  \
        distal_gemm_##suffix(m, n, k, alpha, a_##suffix, a_row, a_col, b_##suffix, b_row, b_col, c_##suffix, \
                             c_row, c_col);                                                                  \
        compare_##suffix();                                                                                  \
    }                                                                                                        \
                                                                                                             \
    static void test_gemm_##suffix(void **state) {                                                           \
        (void)state;                                                                                         \
        for (int m = 0; m < SIZE_COUNT; m++)                                                                 \
            for (int n = 0; n < SIZE_COUNT; n++)                                                             \
                for (int k = 0; k < SIZE_COUNT; k++) {                                                       \
                    /* A different combination of layouts for each size, all of them in the end. */          \
                    const int which = m * 31 + n * 7 + k;                                                    \
                    gemm_##suffix(sizes[m], sizes[n], sizes[k], which % LAYOUT_COUNT,                        \
                                  which / LAYOUT_COUNT % LAYOUT_COUNT, which / 25 % LAYOUT_COUNT);           \
                }                                                                                            \
        for (int layouts = 0; layouts < LAYOUT_COUNT * LAYOUT_COUNT * LAYOUT_COUNT; layouts++)               \
            gemm_##suffix(7, 17, 3, layouts % LAYOUT_COUNT, layouts / LAYOUT_COUNT % LAYOUT_COUNT,           \
                          layouts / 25);                                                                     \
        /* So much longer than wide that threads take parts of the rows. */                                  \
        omp_set_num_threads(2);                                                                              \
        for (int layouts = 0; layouts < LAYOUT_COUNT * LAYOUT_COUNT * LAYOUT_COUNT; layouts++)               \
            gemm_##suffix(601, 5, 7, layouts % LAYOUT_COUNT, layouts / LAYOUT_COUNT % LAYOUT_COUNT,          \
                          layouts / 25);                                                                     \
    }                                                                                                        \
                                                                                                             \
    static void test_gemv_##suffix(void **state) {                                                           \
        (void)state;                                                                                         \
        for (int m = 0; m < SIZE_COUNT; m++)                                                                 \
            for (int k = 0; k < SIZE_COUNT; k++)                                                             \
                for (int layout = 0; layout < LAYOUT_COUNT; layout++) {                                      \
                    const int64_t rows = sizes[m], cols = sizes[k], x_stride = 1 + (m + layout) % 3,         \
                                  y_stride = 1 + (k + layout) % 2;                                           \
                    const type alpha = VALUE_##suffix(5);                                                    \
                    int64_t row, col;                                                                        \
                    strides(layout, rows, cols, &row, &col);                                                 \
                    fresh_##suffix();                                                                        \
                    for (int64_t i = 0; i < rows; i++)                                                       \
                        for (int64_t s = 0; s < cols; s++)                                                   \
                            expected_##suffix[i * y_stride] =                                                \
                                ADD_##suffix(expected_##suffix[i * y_stride],                                \
                                             MUL_##suffix(alpha, MUL_##suffix(a_##suffix[i * row + s * col], \
                                                                              b_##suffix[s * x_stride])));   \
                    distal_gemv_##suffix(rows, cols, alpha, a_##suffix, row, col, b_##suffix, x_stride,      \
                                         c_##suffix, y_stride);                                              \
                    compare_##suffix();                                                                      \
                }                                                                                            \
    }                                                                                                        \
                                                                                                             \
    static void test_ger_##suffix(void **state) {                                                            \
        (void)state;                                                                                         \
        for (int m = 0; m < SIZE_COUNT; m++)                                                                 \
            for (int n = 0; n < SIZE_COUNT; n++)                                                             \
                for (int layout = 0; layout < LAYOUT_COUNT; layout++) {                                      \
                    const int64_t rows = sizes[m], cols = sizes[n], x_stride = 1 + (m + layout) % 3,         \
                                  y_stride = (n + layout) % 3;                                               \
                    const type alpha = VALUE_##suffix(9);                                                    \
                    int64_t row, col;                                                                        \
                    strides(layout, rows, cols, &row, &col);                                                 \
                    fresh_##suffix();                                                                        \
                    for (int64_t i = 0; i < rows; i++)                                                       \
                        for (int64_t j = 0; j < cols; j++)                                                   \
                            expected_##suffix[i * row + j * col] =                                           \
                                ADD_##suffix(expected_##suffix[i * row + j * col],                           \
                                             MUL_##suffix(alpha, MUL_##suffix(a_##suffix[i * x_stride],      \
                                                                              b_##suffix[j * y_stride])));   \
                    distal_ger_##suffix(rows, cols, alpha, a_##suffix, x_stride, b_##suffix, y_stride,       \
                                        c_##suffix, row, col);                                               \
                    compare_##suffix();                                                                      \
                }                                                                                            \
    }                                                                                                        \
                                                                                                             \
    static void test_dot_and_axpy_##suffix(void **state) {                                                   \
        (void)state;                                                                                         \
        for (int n = 0; n < SIZE_COUNT; n++)                                                                 \
            for (int64_t x_stride = 0; x_stride < 4; x_stride++)                                             \
                for (int64_t y_stride = 1; y_stride < 4; y_stride++) {                                       \
                    const type alpha = VALUE_##suffix(11);                                                   \
                    type sum = 0;                                                                            \
                    fresh_##suffix();                                                                        \
                    for (int64_t i = 0; i < sizes[n]; i++) {                                                 \
                        sum = ADD_##suffix(                                                                  \
                            sum, MUL_##suffix(a_##suffix[i * x_stride], b_##suffix[i * y_stride]));          \
                        expected_##suffix[i * y_stride] = ADD_##suffix(                                      \
                            expected_##suffix[i * y_stride], MUL_##suffix(alpha, a_##suffix[i * x_stride])); \
                    }                                                                                        \
                    const type dot =                                                                         \
                        distal_dot_##suffix(sizes[n], a_##suffix, x_stride, b_##suffix, y_stride);           \
                    assert_true(distance(dot, sum) <= tolerance);                                            \
                    distal_axpy_##suffix(sizes[n], alpha, a_##suffix, x_stride, c_##suffix, y_stride);       \
                    compare_##suffix();                                                                      \
                }                                                                                            \
    }

static double unit(uint64_t seed) {
    return (double)(seed >> 11) * 0x1p-53 - 0.5;
}

static uint64_t mixed(uint64_t seed) {
    return seed * 0x9E3779B97F4A7C15U;
}

#define VALUE_f32(seed) ((float)unit(mixed(seed)))
#define VALUE_f64(seed) unit(mixed(seed))
#define VALUE_c64(seed) ((float _Complex)(unit(mixed(seed)) + unit(mixed((seed) + 1)) * _Complex_I))
#define VALUE_c128(seed) (unit(mixed(seed)) + unit(mixed((seed) + 1)) * _Complex_I)
// Large enough to wrap around.
#define VALUE_i32(seed) ((int32_t)(uint32_t)(mixed(seed) >> 32))
#define VALUE_i64(seed) ((int64_t)mixed(seed))
#define ADD_f32(a, b) ((a) + (b))
#define ADD_f64(a, b) ((a) + (b))
#define ADD_c64(a, b) ((a) + (b))
#define ADD_c128(a, b) ((a) + (b))
#define ADD_i32(a, b) ((int32_t)((uint32_t)(a) + (uint32_t)(b)))
#define ADD_i64(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define MUL_f32(a, b) ((a) * (b))
#define MUL_f64(a, b) ((a) * (b))
#define MUL_c64(a, b) ((a) * (b))
#define MUL_c128(a, b) ((a) * (b))
#define MUL_i32(a, b) ((int32_t)((uint32_t)(a) * (uint32_t)(b)))
#define MUL_i64(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))

#define REAL_DISTANCE(a, b) fabs((double)((a) - (b)))
#define COMPLEX_DISTANCE(a, b) cabs((a) - (b))
#define INTEGER_DISTANCE(a, b) ((a) != (b))

DEFINE_TESTS(f32, float, REAL_DISTANCE, 1e-4)
DEFINE_TESTS(f64, double, REAL_DISTANCE, 1e-12)
DEFINE_TESTS(c64, float _Complex, COMPLEX_DISTANCE, 1e-4)
DEFINE_TESTS(c128, double _Complex, COMPLEX_DISTANCE, 1e-12)
DEFINE_TESTS(i32, int32_t, INTEGER_DISTANCE, 0)
DEFINE_TESTS(i64, int64_t, INTEGER_DISTANCE, 0)

#define TESTS(suffix)                                                                                        \
    cmocka_unit_test(test_gemm_##suffix), cmocka_unit_test(test_gemv_##suffix),                              \
        cmocka_unit_test(test_ger_##suffix), cmocka_unit_test(test_dot_and_axpy_##suffix)

int main(void) {
    const struct CMUnitTest tests[] = {TESTS(f32),  TESTS(f64), TESTS(c64),
                                       TESTS(c128), TESTS(i32), TESTS(i64)};
    return cmocka_run_group_tests_name("blas", tests, NULL, NULL);
}
