// SPDX-License-Identifier: BSD-3-Clause
// How iterations with different numbers of entries below them are divided into portions for threads. The sum
// of iterations and entries before iteration i is i + pos[i] - pos[0], which grows with each i: a portion
// begins where it reaches the next multiple of the length that portions should have.
#include "runtime/portions.h"

#include "distal_kernel.h"

#include <omp.h>

enum {
    // Work is counted in iterations plus entries.
    TEST_WORK = 3,     // of a portion, in tests
    LEAST_WORK = 4096, // of a portion, if there are more than LEAST_PORTIONS
    LEAST_PORTIONS = 16,
    MOST_PORTIONS = 128, // several for each thread, as portions of equal work may take different times
    LONG_PORTIONS = 16,  // for long iterations: those with more than 1 / LONG_PORTIONS of the work
};

static bool short_portions;

void portions_short(bool is_short) {
    short_portions = is_short;
}

static int64_t total_work(const int64_t *pos, int64_t count) {
    return count + pos[count] - pos[0];
}

// The first iteration before which the work is `sum` or more.
static int64_t first_with_work(const int64_t *pos, int64_t count, int64_t sum) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (middle + pos[middle] - pos[0] < sum)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The first iteration of a part. It is searched only where equal numbers of iterations differ by more than a
// quarter of a part from equal work; with less than half a part, parts stay in order.
static int64_t part_begin(const int64_t *pos, int64_t count, int64_t parts, int64_t part) {
    const int64_t all = total_work(pos, count), sum = distal_part_begin(all, parts, part);
    const int64_t equal = distal_part_begin(count, parts, part);
    const int64_t difference = equal + pos[equal] - pos[0] - sum, tolerance = all / parts / 4;
    return -tolerance <= difference && difference <= tolerance ? equal : first_with_work(pos, count, sum);
}

// Whether an iteration has more than 1 / `parts` of the work.
static bool is_long(const int64_t *pos, int64_t count, int64_t i, int64_t parts) {
    return 1 + pos[i + 1] - pos[i] > (total_work(pos, count) - 1) / parts;
}

// With all work in equal parts, each long iteration contains the begin of a part. Finds the one that contains
// the begin of part `part`, unless it contains that of the part before; *end is the iteration after it, or
// the same where there is none.
static int64_t find_long(const int64_t *pos, int64_t count, int64_t parts, int64_t part, int64_t *end) {
    const int64_t sum = total_work(pos, count), begin = distal_part_begin(sum, parts, part);
    const int64_t i = first_with_work(pos, count, begin + 1) - 1;
    const int64_t before = i + pos[i] - pos[0];
    const bool has =
        is_long(pos, count, i, parts) && (part == 0 || before > distal_part_begin(sum, parts, part - 1));
    *end = i + has;
    return i;
}

int64_t distal_portions(const int64_t *pos, int64_t count, int64_t work) {
    if (count <= 0)
        return 0;
    if (!short_portions && (work <= DISTAL_PARALLEL_WORK || omp_get_max_threads() == 1))
        return 1;
    const int64_t parts = total_work(pos, count) / (short_portions ? TEST_WORK : LEAST_WORK);
    return LONG_PORTIONS + (parts < LEAST_PORTIONS  ? LEAST_PORTIONS
                            : parts < MOST_PORTIONS ? parts
                                                    : MOST_PORTIONS);
}

// Threads share the entries of iterations with more than half of what one of them would have of all work.
// Others are better off whole: what threads read at the same time is then often the same.
int64_t distal_shared_portions(const int64_t *pos, int64_t count, int64_t portions, int64_t work) {
    const int64_t threads = omp_get_max_threads();
    const int64_t shared = short_portions || threads > LONG_PORTIONS / 2 ? LONG_PORTIONS : 2 * threads;
    if (portions <= 1 || (!short_portions && work / shared <= DISTAL_PARALLEL_WORK))
        return 0;
    for (int64_t part = 0, end; part < shared; part++)
        if (find_long(pos, count, shared, part, &end) < end)
            return shared;
    return 0;
}

int64_t distal_portion_begin(const int64_t *pos, int64_t count, int64_t portions, int64_t shared,
                             int64_t portion) {
    int64_t end;
    if (portions == 1)
        return 0;
    if (portion < 0)
        return find_long(pos, count, shared, portion + shared, &end);
    if (portion < LONG_PORTIONS)
        return find_long(pos, count, LONG_PORTIONS, portion, &end);
    return part_begin(pos, count, portions - LONG_PORTIONS, portion - LONG_PORTIONS);
}

int64_t distal_portion_end(const int64_t *pos, int64_t count, int64_t portions, int64_t shared,
                           int64_t portion) {
    int64_t end = count;
    if (portions == 1)
        return end;
    if (portion < 0) {
        find_long(pos, count, shared, portion + shared, &end);
        return end;
    }
    if (portion < LONG_PORTIONS) {
        const int64_t i = find_long(pos, count, LONG_PORTIONS, portion, &end);
        return i < end && shared > 0 && is_long(pos, count, i, shared) ? i : end;
    }
    // Only the last iteration that begins in a portion can be long, as its work exceeds that of a portion.
    const int64_t begin = part_begin(pos, count, portions - LONG_PORTIONS, portion - LONG_PORTIONS);
    end = part_begin(pos, count, portions - LONG_PORTIONS, portion - LONG_PORTIONS + 1);
    return begin < end && is_long(pos, count, end - 1, LONG_PORTIONS) ? end - 1 : end;
}
