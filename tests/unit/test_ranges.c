// SPDX-License-Identifier: BSD-3-Clause
// Rows in ranges of coordinates: where they are worth it, and that every entry is in one of them.
#include "distal_kernel.h"
#include "runtime/ranges.h"

#include <stdlib.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROWS = 300, BYTES = 256, MANY = INT32_MAX };

// Rows of `length` entries at coordinates that are `distance` apart.
typedef struct {
    int64_t pos[ROWS + 1];
    int32_t *narrow;
    int64_t *wide;
} Matrix;

static Matrix *make(int64_t length, int64_t distance, int64_t first) {
    Matrix *matrix = calloc(1, sizeof *matrix);
    assert_non_null(matrix);
    matrix->narrow = calloc((size_t)(ROWS * length + 1), sizeof *matrix->narrow);
    matrix->wide = calloc((size_t)(ROWS * length + 1), sizeof *matrix->wide);
    for (int64_t r = 0; r < ROWS; r++) {
        matrix->pos[r + 1] = matrix->pos[r] + length;
        for (int64_t e = 0; e < length; e++) {
            matrix->narrow[r * length + e] = (int32_t)(first + e * distance);
            matrix->wide[r * length + e] = first + e * distance;
        }
    }
    return matrix;
}

static void release(Matrix *matrix) {
    free(matrix->narrow);
    free(matrix->wide);
    free(matrix);
}

static int64_t ranges_of(const Matrix *matrix, int64_t count, int64_t bytes, int64_t end) {
    const int64_t ranges = distal_ranges_i32(matrix->pos, count, matrix->narrow, bytes, end);
    assert_int_equal(ranges, distal_ranges_i64(matrix->pos, count, matrix->wide, bytes, end));
    return ranges;
}

// Each entry is in one range, and those of a range are below its bound.
static void check_ranges(const Matrix *matrix, int64_t ranges) {
    for (int64_t r = 0; r < ROWS; r++) {
        int64_t begin = matrix->pos[r];
        for (int64_t range = 0; range < ranges; range++) {
            const int64_t bound = distal_range_bound_i32(matrix->pos, ROWS, matrix->narrow, ranges, range);
            assert_int_equal(bound, distal_range_bound_i64(matrix->pos, ROWS, matrix->wide, ranges, range));
            const int64_t end = distal_range_end_i32(matrix->narrow, begin, matrix->pos[r + 1], bound);
            assert_int_equal(end, distal_range_end_i64(matrix->wide, begin, matrix->pos[r + 1], bound));
            assert_true(begin <= end && end <= matrix->pos[r + 1]);
            assert_true(end == begin || matrix->narrow[end - 1] < bound);
            assert_true(end == matrix->pos[r + 1] || matrix->narrow[end] >= bound);
            begin = end;
        }
        assert_int_equal(begin, matrix->pos[r + 1]);
    }
}

static void of_rows_with_many_entries(void **state) {
    (void)state;
    // Four second-level caches are gathered from, of which each row has 4000 elements.
    enum { ELEMENTS = 4000, DISTANCE = 64 };
    const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    const int64_t bytes = (cache > 0 ? cache : 1 << 20) * 4 / (ELEMENTS * DISTANCE);
    Matrix *matrix = make(ELEMENTS, DISTANCE, 1000);
    assert_in_range(ranges_of(matrix, ROWS, bytes, MANY), 2, 16);
    check_ranges(matrix, ranges_of(matrix, ROWS, bytes, MANY));
    check_ranges(matrix, 16);
    check_ranges(matrix, 1);
    release(matrix);
}

static void not_where_it_is_not_worth_it(void **state) {
    (void)state;
    Matrix *matrix = make(2000, 128, 0), *few = make(20, 12800, 0), *near = make(2000, 1, 5);
    assert_int_equal(ranges_of(matrix, ROWS, BYTES / 8, 0), 1);      // what is gathered is in caches
    assert_int_equal(ranges_of(matrix, ROWS, BYTES * 100, MANY), 1); // more ranges than that pays off for
    assert_int_equal(ranges_of(matrix, 0, BYTES, MANY), 1);
    assert_int_equal(ranges_of(few, ROWS, BYTES, MANY), 1);
    assert_int_equal(ranges_of(near, ROWS, 8, MANY), 1);
    release(matrix);
    release(few);
    release(near);
}

static void of_any_rows_in_tests(void **state) {
    (void)state;
    ranges_always(true);
    for (int64_t length = 0; length < 40; length++) {
        Matrix *matrix = make(length, 3, INT32_MAX - 120);
        const int64_t ranges = ranges_of(matrix, ROWS, 8, 0);
        assert_int_equal(ranges, length > 0 ? 3 : 1);
        check_ranges(matrix, ranges);
        release(matrix);
    }
    ranges_always(false);
}

static void in_fewer_portions(void **state) {
    (void)state;
    assert_int_equal(distal_ranged_portions(144, 1), 144);
    assert_int_equal(distal_ranged_portions(1, 5), 1);
    assert_in_range(distal_ranged_portions(144, 5), 17, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_rows_with_many_entries),
        cmocka_unit_test(not_where_it_is_not_worth_it),
        cmocka_unit_test(of_any_rows_in_tests),
        cmocka_unit_test(in_fewer_portions),
    };
    return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
