// SPDX-License-Identifier: BSD-3-Clause
// Whether requesting rows ahead pays: a model of a cache that holds the latest rows is given the coordinates
// of a few parts of the list. Where it lacks many of the rows, they come from memory, and what the processor
// executes out of order does not reach far enough; where it has them, requests are instructions for nothing.
#include "runtime/ahead.h"

#include "distal_kernel.h"

enum {
    LINE = 64,
    CACHE_BYTES = 512 << 10, // a second-level cache
    ROWS = 4096,             // in the model, at most; a power of two
    WARM = 2048,             // entries of a part that only fill the cache, and
    COUNTED = 1024,          // those after them
    PARTS = 4,               // at most
    ENTRIES = 1 << 17,       // of the list, for each part: with fewer, the model takes longer than it saves
    LEAST_MISSES = 8,        // one in so many
};

static bool is_always;

void ahead_always(bool always) {
    is_always = always;
}

static int64_t coordinate_at(const void *coordinates, bool wide, int64_t position) {
    return wide ? ((const int64_t *)coordinates)[position] : ((const int32_t *)coordinates)[position];
}

// How many of the rows of a part are neither in a direct-mapped cache with a power of two of rows, nor follow
// one that is: processors find such sequences themselves.
static int64_t misses(const void *coordinates, bool wide, int64_t begin, int64_t rows) {
    int64_t cache[ROWS], count = 0;
    for (int64_t r = 0; r < rows; r++)
        cache[r] = -2; // no row, nor one before a row
    for (int64_t e = 0; e < WARM + COUNTED; e++) {
        const int64_t row = coordinate_at(coordinates, wide, begin + e);
        const bool has = cache[row & (rows - 1)] == row || cache[(row - 1) & (rows - 1)] == row - 1;
        cache[row & (rows - 1)] = row;
        count += e >= WARM && !has;
    }
    return count;
}

static int64_t ahead(const void *coordinates, bool wide, int64_t count, int64_t bytes, int64_t distance) {
    const int64_t parts = count / ENTRIES < PARTS ? count / ENTRIES : PARTS;
    int64_t rows = ROWS, missing = 0;
    if (is_always)
        return count - distance;
    if (parts == 0 || bytes < LINE)
        return 0;
    while (rows > 1 && rows > CACHE_BYTES / bytes)
        rows /= 2;
    for (int64_t p = 0; p < parts; p++)
        missing += misses(coordinates, wide, count / parts * p, rows);
    return missing * LEAST_MISSES >= parts * COUNTED ? count - distance : 0;
}

int64_t distal_ahead_i32(const int32_t *coordinates, int64_t count, int64_t bytes, int64_t distance) {
    return ahead(coordinates, false, count, bytes, distance);
}

int64_t distal_ahead_i64(const int64_t *coordinates, int64_t count, int64_t bytes, int64_t distance) {
    return ahead(coordinates, true, count, bytes, distance);
}
