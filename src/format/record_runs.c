// SPDX-License-Identifier: BSD-3-Clause
#include "format/record_runs.h"

#include "base/integer.h"

#include <omp.h>
#include <string.h>

enum { FEW = 32, MOST_BITS = 11 };

static void sort_few(uint64_t *items, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const uint64_t item = items[i];
        int64_t at = i;
        for (; at > 0 && items[at - 1] > item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

// One pass of a counting sort by `bits` bits. False: they are the same in all items, which are not moved.
static bool sort_digit(const uint64_t *from, uint64_t *to, int64_t count, int shift, int bits) {
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    int64_t next[1 << MOST_BITS], before = 0;
    memset(next, 0, sizeof *next << bits);
    for (int64_t i = 0; i < count; i++)
        next[from[i] >> shift & mask]++;
    if (next[from[0] >> shift & mask] == count)
        return false;
    for (uint64_t d = 0; d <= mask; d++) {
        const int64_t own = next[d];
        next[d] = before;
        before += own;
    }
    for (int64_t i = 0; i < count; i++)
        to[next[from[i] >> shift & mask]++] = from[i];
    return true;
}

static void sort_many(uint64_t *items, uint64_t *room, int64_t count, int shift, int bits) {
    enum { SHORT = 4096, SHORT_BITS = 8 };
    const int width = count < SHORT ? SHORT_BITS : MOST_BITS;
    uint64_t *from = items, *to = room;
    for (int done = 0; done < bits; done += width) {
        if (!sort_digit(from, to, count, shift + done, done + width < bits ? width : bits - done))
            continue;
        uint64_t *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, sizeof *items * (size_t)count);
}

// The first coordinate whose run begins at `at` or later.
static int64_t run_from(const Records *records, int64_t at) {
    int64_t first = 0, last = records->start_count;
    while (first < last) {
        const int64_t middle = first + (last - first) / 2;
        if (records->starts[middle] < at)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

bool record_runs_sort(const Records *records, int shift, int bits, int64_t longest, int team,
                      Budget *budget) {
    enum { PORTIONS = 16 }; // of a thread
    const int64_t portions = (int64_t)team * PORTIONS, room_count = saturated_mul(longest, team);
    uint64_t *room = budget_take(budget, room_count, sizeof *room, false);
    if (!room)
        return false;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
    for (int64_t portion = 0; portion < portions; portion++) {
        const int64_t end = run_from(records, part_begin(records->count, portions, portion + 1));
        for (int64_t x = run_from(records, part_begin(records->count, portions, portion)); x < end; x++) {
            uint64_t *items = records->items + records->starts[x];
            const int64_t count = records->starts[x + 1] - records->starts[x];
            if (count <= FEW)
                sort_few(items, count);
            else
                sort_many(items, room + omp_get_thread_num() * longest, count, shift, bits);
        }
    }
    budget_release(budget, room, room_count, sizeof *room);
    return true;
}
