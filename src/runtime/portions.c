// SPDX-License-Identifier: BSD-3-Clause
// How iterations with different numbers of entries below them are divided into portions for threads. The sum
// of iterations and entries before iteration i is i + pos[i] - pos[0], which grows with each i: a portion
// begins where it reaches the next multiple of the length that portions should have.
#include "runtime/portions.h"

#include "distal_kernel.h"

#include <omp.h>

enum {
    SHORT = 3,    // iterations and entries of a portion in tests
    LEAST = 4096, // iterations and entries of a portion, but that there are at least
    FEW = 16,     // portions, and at most
    MOST = 128,   // some for each thread, as equal numbers of entries may take different times
    LONG = 8,     // an iteration is long that has one in so many of all; as many portions are for these
};

static bool are_short;

void portions_short(bool is_short) {
    are_short = is_short;
}

static int64_t sum_of(const int64_t *pos, int64_t count) {
    return count + pos[count] - pos[0];
}

// The first iteration before which there are `sum` iterations and entries or more.
static int64_t first(const int64_t *pos, int64_t count, int64_t sum) {
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

// The first iteration of a part. It need not be exact: where iterations are about equally long, nothing is
// searched. Parts are in order, as tolerances are less than half a part.
static int64_t part_begin(const int64_t *pos, int64_t count, int64_t parts, int64_t part) {
    const int64_t all = sum_of(pos, count), sum = distal_part_begin(all, parts, part);
    const int64_t equal = distal_part_begin(count, parts, part);
    const int64_t difference = equal + pos[equal] - pos[0] - sum, tolerance = all / parts / 4;
    return -tolerance <= difference && difference <= tolerance ? equal : first(pos, count, sum);
}

static bool is_long(const int64_t *pos, int64_t count, int64_t i) {
    return 1 + pos[i + 1] - pos[i] > (sum_of(pos, count) - 1) / LONG;
}

// A long iteration contains the begin of one of as many equal parts of all, so each of these has the one that
// contains its begin, unless that contains the one before as well.
static int64_t find_long(const int64_t *pos, int64_t count, int64_t part, int64_t *end) {
    const int64_t sum = sum_of(pos, count), begin = distal_part_begin(sum, LONG, part);
    const int64_t i = first(pos, count, begin + 1) - 1;
    const int64_t before = i + pos[i] - pos[0];
    const bool has = is_long(pos, count, i) && (part == 0 || before > distal_part_begin(sum, LONG, part - 1));
    *end = i + has;
    return i;
}

int64_t distal_portions(const int64_t *pos, int64_t count) {
    if (count <= 0)
        return 0;
    if (!are_short && omp_get_max_threads() == 1)
        return 1;
    const int64_t parts = sum_of(pos, count) / (are_short ? SHORT : LEAST);
    return LONG + (parts < FEW ? FEW : parts < MOST ? parts : MOST);
}

int64_t distal_portion_begin(const int64_t *pos, int64_t count, int64_t portions, int64_t portion) {
    int64_t end;
    if (portions == 1)
        return 0;
    if (portion < LONG)
        return find_long(pos, count, portion, &end);
    return part_begin(pos, count, portions - LONG, portion - LONG);
}

int64_t distal_portion_end(const int64_t *pos, int64_t count, int64_t portions, int64_t portion) {
    int64_t end = count;
    if (portions == 1)
        return end;
    if (portion < LONG) {
        find_long(pos, count, portion, &end);
        return end;
    }
    // Of iterations that begin in a portion, only the last one may be long, as it may end behind it.
    const int64_t begin = part_begin(pos, count, portions - LONG, portion - LONG);
    end = part_begin(pos, count, portions - LONG, portion - LONG + 1);
    return begin < end && is_long(pos, count, end - 1) ? end - 1 : end;
}
