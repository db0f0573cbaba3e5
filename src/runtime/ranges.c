// SPDX-License-Identifier: BSD-3-Clause
// Into how many ranges of coordinates rows are divided: as many as make what is gathered in one fit into half
// of a second-level cache, the other half being for what else loops use. A row must have enough entries in
// each, since each time memory is waited for and what the row computes is written and read again.
#include "runtime/ranges.h"

#include "distal_kernel.h"

#include <unistd.h>

enum {
    CACHE_BYTES = 1 << 20, // where the system does not know
    MOST_RANGES = 16,
    LEAST_ENTRIES = 256, // of a row, in a range
    LEAST_ENTRIES_INTEL = 32,
    SAMPLES = 32, // rows of which the last coordinate is looked at
    TEST_RANGES = 3,
    RANGED_PORTIONS = 32, // many rows each, as each portion gathers all ranges from memory
};

static bool is_always;

void ranges_always(bool always) {
    is_always = always;
}

// The least and the greatest coordinate of some rows; false: they have none.
typedef struct {
    int64_t first, last;
} Extent;

static int64_t coordinate_at(const void *coordinates, bool wide, int64_t position) {
    return wide ? ((const int64_t *)coordinates)[position] : ((const int32_t *)coordinates)[position];
}

// The extent of the coordinates of a sample of the rows; no range follows from it that some entry is not in.
static Extent extent_of(const int64_t *pos, int64_t count, const void *coordinates, bool wide) {
    Extent extent = {INT64_MAX, INT64_MIN};
    for (int64_t s = 0; s < SAMPLES; s++) {
        const int64_t row = count / SAMPLES * s + count % SAMPLES * s / SAMPLES;
        if (row >= count || pos[row] == pos[row + 1])
            continue;
        const int64_t first = coordinate_at(coordinates, wide, pos[row]);
        const int64_t last = coordinate_at(coordinates, wide, pos[row + 1] - 1);
        extent.first = first < extent.first ? first : extent.first;
        extent.last = last > extent.last ? last : extent.last;
    }
    return extent;
}

// A visit of a row has a fixed cost, which its entries repay by hits in the second-level cache. The lower the
// latency of the last-level cache, the less an entry repays (docs/performance.md).
static int64_t least_entries(void) {
#ifdef __x86_64__
    if (__builtin_cpu_is("intel"))
        return LEAST_ENTRIES_INTEL;
#endif
    return LEAST_ENTRIES;
}

static int64_t cache_bytes(void) {
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? bytes : CACHE_BYTES;
}

static int64_t ranges_of(const int64_t *pos, int64_t count, const void *coordinates, bool wide, int64_t bytes,
                         int64_t prefetch_end) {
    const int64_t entries = count > 0 ? pos[count] - pos[0] : 0;
    if (is_always && entries > 0)
        return TEST_RANGES;
    const int64_t least = least_entries();
    if (prefetch_end <= 0 || bytes <= 0 || entries / least < 2 * count)
        return 1;
    const Extent extent = extent_of(pos, count, coordinates, wide);
    if (extent.last < extent.first)
        return 1;
    const int64_t fit = cache_bytes() / 2 / bytes, rows = extent.last - extent.first + 1;
    const int64_t ranges = fit > 0 ? rows / fit + (rows % fit > 0) : MOST_RANGES + 1;
    return ranges <= MOST_RANGES && entries / ranges / least >= count ? ranges : 1;
}

int64_t distal_ranges_i32(const int64_t *pos, int64_t count, const int32_t *coordinates, int64_t bytes,
                          int64_t prefetch_end) {
    return ranges_of(pos, count, coordinates, false, bytes, prefetch_end);
}

int64_t distal_ranges_i64(const int64_t *pos, int64_t count, const int64_t *coordinates, int64_t bytes,
                          int64_t prefetch_end) {
    return ranges_of(pos, count, coordinates, true, bytes, prefetch_end);
}

static int64_t bound_of(const int64_t *pos, int64_t count, const void *coordinates, bool wide, int64_t ranges,
                        int64_t range) {
    if (range + 1 >= ranges)
        return INT64_MAX;
    const Extent extent = extent_of(pos, count, coordinates, wide);
    return extent.last < extent.first
               ? INT64_MAX
               : extent.first + distal_part_begin(extent.last - extent.first + 1, ranges, range + 1);
}

int64_t distal_range_bound_i32(const int64_t *pos, int64_t count, const int32_t *coordinates, int64_t ranges,
                               int64_t range) {
    return bound_of(pos, count, coordinates, false, ranges, range);
}

int64_t distal_range_bound_i64(const int64_t *pos, int64_t count, const int64_t *coordinates, int64_t ranges,
                               int64_t range) {
    return bound_of(pos, count, coordinates, true, ranges, range);
}

int64_t distal_ranged_portions(int64_t portions, int64_t ranges) {
    return ranges > 1 && !is_always && portions > RANGED_PORTIONS ? RANGED_PORTIONS : portions;
}
