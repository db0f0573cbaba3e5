// SPDX-License-Identifier: BSD-3-Clause
// Whether prefetching gathered rows pays off: a model of a cache that holds the latest rows is given the
// coordinates of a few samples of the list. Where it lacks many of the rows, they come from memory, and what
// the processor executes out of order does not reach far enough; where it has them, prefetches are
// instructions for nothing.
#include "runtime/prefetch.h"

#include "distal_kernel.h"

enum {
    LINE = 64,
    CACHE_BYTES = 512 << 10, // a second-level cache
    MOST_ROWS = 4096,        // in the model; a power of two
    WARM_UP = 2048,          // entries of a sample that fill the cache, not counted
    COUNTED = 1024,          // entries of a sample whose misses are counted
    MOST_SAMPLES = 4,        // of a list
    ENTRIES = 1 << 17,       // of a list for each sample: with fewer, the model takes longer than it saves
    LEAST_MISS_RATE = 8,     // prefetching pays off where one access in 8 or more is a miss
};

static bool is_always;

void prefetch_always(bool always) {
    is_always = always;
}

static int64_t coordinate_at(const void *coordinates, bool wide, int64_t position) {
    return wide ? ((const int64_t *)coordinates)[position] : ((const int32_t *)coordinates)[position];
}

// How many of the rows of a sample are neither in a direct-mapped cache with a power of two of rows, nor
// follow one that is: processors find such sequences themselves.
static int64_t misses(const void *coordinates, bool wide, int64_t begin, int64_t rows) {
    int64_t cache[MOST_ROWS], count = 0;
    for (int64_t r = 0; r < rows; r++)
        cache[r] = -2; // no row, nor one before a row
    for (int64_t e = 0; e < WARM_UP + COUNTED; e++) {
        const int64_t row = coordinate_at(coordinates, wide, begin + e);
        // cppcheck-suppress uninitvar // there are rows
        const bool has = cache[row & (rows - 1)] == row || cache[(row - 1) & (rows - 1)] == row - 1;
        cache[row & (rows - 1)] = row;
        count += e >= WARM_UP && !has;
    }
    return count;
}

static int64_t prefetch_end(const void *coordinates, bool wide, int64_t count, int64_t bytes,
                            int64_t distance) {
    const int64_t samples = count / ENTRIES < MOST_SAMPLES ? count / ENTRIES : MOST_SAMPLES;
    int64_t rows = MOST_ROWS, missing = 0;
    if (is_always)
        return count - distance;
    if (samples == 0 || bytes < LINE)
        return 0;
    while (rows > 1 && rows > CACHE_BYTES / bytes)
        rows /= 2;
    for (int64_t p = 0; p < samples; p++)
        missing += misses(coordinates, wide, count / samples * p, rows);
    return missing * LEAST_MISS_RATE >= samples * COUNTED ? count - distance : 0;
}

int64_t distal_prefetch_end_i32(const int32_t *coordinates, int64_t count, int64_t bytes, int64_t distance) {
    return prefetch_end(coordinates, false, count, bytes, distance);
}

int64_t distal_prefetch_end_i64(const int64_t *coordinates, int64_t count, int64_t bytes, int64_t distance) {
    return prefetch_end(coordinates, true, count, bytes, distance);
}
