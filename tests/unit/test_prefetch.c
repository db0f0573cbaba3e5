// SPDX-License-Identifier: BSD-3-Clause
// For which lists of coordinates gathered rows are prefetched.
#include "distal_kernel.h"
#include "runtime/prefetch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COUNT = 1 << 20, ROWS = 1 << 19, DISTANCE = 8, BYTES = 256 };

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}

static int64_t scattered(int64_t e) {
    return (int64_t)(mixed((uint64_t)e + 1) % ROWS);
}

static int64_t in_few_rows(int64_t e) {
    return (int64_t)(mixed((uint64_t)e + 1) % 500);
}

static int64_t band(int64_t e) {
    return e / 11 + e % 11;
}

// Five points of a grid with rows of 2000, which caches do not hold between one row and the next.
static int64_t stencil(int64_t e) {
    static const int64_t offsets[] = {0, 1999, 2000, 2001, 4000};
    return e / 5 + offsets[e % 5];
}

static int64_t in_one_row(int64_t e) {
    (void)e;
    return 0;
}

static void check(int64_t (*coordinate)(int64_t), int64_t count, int64_t bytes, bool expected) {
    int32_t *list = malloc(COUNT * sizeof *list);
    int64_t *wide = malloc(COUNT * sizeof *wide);
    for (int64_t e = 0; e < COUNT; e++)
        list[e] = (int32_t)(wide[e] = coordinate(e));
    const int64_t end = expected ? count - DISTANCE : 0;
    assert_int_equal(distal_prefetch_end_i32(list, count, bytes, DISTANCE), end);
    assert_int_equal(distal_prefetch_end_i64(wide, count, bytes, DISTANCE), end);
    free(list);
    free(wide);
}

static void where_rows_are_in_memory(void **state) {
    (void)state;
    check(scattered, COUNT, BYTES, true);
    check(scattered, COUNT, 64, true);
    check(scattered, COUNT, 1 << 20, true);
    check(scattered, COUNT - 1, BYTES, true);
}

static void not_where_they_are_in_caches(void **state) {
    (void)state;
    check(in_few_rows, COUNT, BYTES, false);
    check(in_one_row, COUNT, BYTES, false);
}

static void not_where_processors_find_them(void **state) {
    (void)state;
    check(band, COUNT, BYTES, false);
    check(stencil, COUNT, BYTES, false);
    check(stencil, COUNT, 1024, false);
}

static void not_where_it_is_not_worth_it(void **state) {
    (void)state;
    check(scattered, 1000, BYTES, false);
    check(scattered, 0, BYTES, false);
    check(scattered, COUNT, 56, false);
}

static void whenever_tests_say_so(void **state) {
    (void)state;
    prefetch_always(true);
    check(band, 1000, 8, true);
    prefetch_always(false);
    check(band, 1000, 8, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_rows_are_in_memory),       cmocka_unit_test(not_where_they_are_in_caches),
        cmocka_unit_test(not_where_processors_find_them), cmocka_unit_test(not_where_it_is_not_worth_it),
        cmocka_unit_test(whenever_tests_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
