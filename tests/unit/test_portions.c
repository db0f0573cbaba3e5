// SPDX-License-Identifier: BSD-3-Clause
// Iterations that have different numbers of entries below them, in portions for threads.
#include "distal_kernel.h"
#include "runtime/portions.h"

#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COUNT = 200000, MANY = 1000000, LONG = 16 };

static int64_t equal(int64_t i) {
    return i * 0 + 11;
}

static int64_t none(int64_t i) {
    return i * 0;
}

static int64_t front(int64_t i) {
    return i < COUNT / 1000 ? 5000 : 1;
}

static int64_t one_long(int64_t i) {
    return i == COUNT - 1 ? MANY : 4;
}

static int64_t some_long(int64_t i) {
    return i % 50000 == 7 ? MANY : i % 3;
}

static int64_t all_in_one(int64_t i) {
    return i == COUNT / 2 ? MANY : 0;
}

static int64_t (*const lengths[])(int64_t) = {equal, none, front, one_long, some_long, all_in_one};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static int64_t *positions(int64_t (*length)(int64_t), int64_t first) {
    int64_t *pos = malloc((COUNT + 1) * sizeof *pos);
    pos[0] = first;
    for (int64_t i = 0; i < COUNT; i++)
        pos[i + 1] = pos[i] + length(i);
    return pos;
}

// Each iteration is in one portion. Long ones come first, each by itself, and others have at most one and a
// half times the average before their last iteration. Where a row can be shared, those with more than half of
// what a thread has of all work are in portions before these.
static void check(const int64_t *pos, int64_t count, bool shares) {
    const int64_t work = distal_work(pos, count, 1), portions = distal_portions(pos, count, work);
    const int64_t shared = shares ? distal_shared_portions(pos, count, portions, work) : 0;
    const int64_t all = count + pos[count] - pos[0],
                  most = portions > LONG ? 3 * all / 2 / (portions - LONG) + 2 : all;
    assert_true(shared == 0 || portions > 1);
    int *seen = calloc(COUNT, sizeof *seen);
    for (int64_t p = -shared; p < portions; p++) {
        const int64_t begin = distal_portion_begin(pos, count, portions, shared, p);
        const int64_t end = distal_portion_end(pos, count, portions, shared, p);
        assert_true(0 <= begin && begin <= end && end <= count);
        for (int64_t i = begin; i < end; i++) {
            const int64_t each = 1 + pos[i + 1] - pos[i];
            assert_int_equal(seen[i]++, 0);
            if (portions > LONG)
                assert_int_equal(p < LONG, LONG * each >= all);
            if (portions > LONG && shared > 0)
                assert_int_equal(p < 0, shared * each >= all);
        }
        if (p < LONG && portions > LONG)
            assert_true(end - begin <= 1);
        else if (begin < end)
            assert_true(end - 1 - begin + pos[end - 1] - pos[begin] <= most);
    }
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(seen[i], 1);
    free(seen);
}

static void check_all(void) {
    static const int64_t counts[] = {0, 1, 2, 3, 64, 65, 1000, COUNT - 1, COUNT};
    for (int l = 0; l < LENGTHS; l++) {
        int64_t *pos = positions(lengths[l], 1000 * l);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (int shares = 0; shares < 2; shares++) {
                check(pos, counts[c], shares);
                check(pos + (COUNT - counts[c]), counts[c], shares);
            }
        }
        free(pos);
    }
}

static void with_each_iteration_once(void **state) {
    (void)state;
    omp_set_num_threads(2);
    check_all();
    portions_short(true);
    check_all();
    portions_short(false);
}

static int64_t portions_of(const int64_t *pos, int64_t count, int64_t each) {
    return distal_portions(pos, count, distal_work(pos, count, each));
}

static void not_many_of_little_work(void **state) {
    (void)state;
    omp_set_num_threads(2);
    int64_t *pos = positions(equal, 0);
    assert_int_equal(portions_of(pos, 0, 1), 0);
    assert_int_equal(portions_of(pos, 100, 1), 1);
    assert_in_range(portions_of(pos, COUNT, 1), 50, 200);
    omp_set_num_threads(1);
    assert_int_equal(portions_of(pos, COUNT, 1), 1);
    free(pos);
}

// Threads share a row of which one would have more than half of its part of all work, if it is worth a team.
static void shared_rows(void **state) {
    (void)state;
    int64_t *pos = positions(one_long, 0);
    static const int64_t three[] = {0, MANY, 2 * MANY, 3 * MANY}, eight[] = {0, 8};
    for (int threads = 1; threads <= 16; threads *= 2) {
        omp_set_num_threads(threads);
        const int64_t shared = threads == 1 ? 0 : threads > 8 ? 16 : 2 * threads;
        const int64_t work = distal_work(pos, COUNT, 1);
        assert_int_equal(distal_shared_portions(pos, COUNT, distal_portions(pos, COUNT, work), work), shared);
        assert_int_equal(distal_shared_portions(three, 3, portions_of(three, 3, 1), 3 * MANY), shared);
        assert_int_equal(distal_shared_portions(eight, 1, portions_of(eight, 1, 3000), 27000), 0);
        assert_int_equal(distal_shared_portions(NULL, 0, 0, 0), 0);
    }
    free(pos);
    pos = positions(equal, 0);
    assert_int_equal(distal_shared_portions(pos, COUNT, portions_of(pos, COUNT, 1), 12 * COUNT), 0);
    free(pos);
}

// Three long rows are work for a team, and so are few entries with a row of a dense matrix each.
static void several_of_few_iterations(void **state) {
    (void)state;
    static const int64_t pos[] = {0, MANY, 2 * MANY, 3 * MANY}, entries[] = {0, 5, 7, 20};
    omp_set_num_threads(2);
    assert_int_equal(distal_work(pos, 3, 1), 3 + 3 * MANY);
    assert_in_range(portions_of(pos, 3, 1), 3, 200);
    assert_int_equal(distal_work(entries, 3, 1000), 23000);
    assert_in_range(portions_of(entries, 3, 1000), 3, 200);
    assert_int_equal(portions_of(entries, 3, 1), 1);
    assert_int_equal(distal_work(NULL, 0, 1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_each_iteration_once),
        cmocka_unit_test(not_many_of_little_work),
        cmocka_unit_test(several_of_few_iterations),
        cmocka_unit_test(shared_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
