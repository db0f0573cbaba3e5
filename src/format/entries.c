// SPDX-License-Identifier: BSD-3-Clause
#include "format/entries.h"

#include "base/integer.h"
#include "memory/memory.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "not enough memory for its entries";

int entries_team(int64_t count) {
    enum { WORTH = 1 << 15 };
    return (int)max_i64(min_i64(omp_get_max_threads(), count / WORTH), 1);
}

const char *entries_allocate(Entries *entries) {
    bool ok = true;
    for (int d = 0; d < entries->order; d++) {
        entries->coordinates[d] = memory_allocate(MEMORY_HOST, entries->count, TYPE_I64);
        ok = ok && entries->coordinates[d];
    }
    entries->values = memory_allocate(MEMORY_HOST, entries->count, entries->type);
    return ok && entries->values ? NULL : no_memory;
}

const char *entries_allocate_within(Entries *entries, int64_t limit, Arena *arena) {
    const int64_t bytes = entries_bytes(entries, entries->count);
    return bytes > limit
               ? arena_printf(arena, "not enough memory for its %" PRId64 " entries, %" PRId64 " bytes",
                              entries->count, bytes)
               : entries_allocate(entries);
}

void entries_free(Entries *entries) {
    for (int d = 0; d < entries->order; d++) {
        memory_release(MEMORY_HOST, entries->coordinates[d]);
        entries->coordinates[d] = NULL;
    }
    memory_release(MEMORY_HOST, entries->values);
    entries->values = NULL;
    entries->count = 0;
}

int64_t entries_bytes(const Entries *entries, int64_t count) {
    return saturated_mul(count,
                         entries->order * (int64_t)sizeof(int64_t) + (int64_t)type_info(entries->type)->size);
}

const char *entries_check(const Entries *entries, Arena *arena) {
    for (int d = 0; d < entries->order; d++) {
        const int64_t *x = entries->coordinates[d];
        const int64_t extent = entries->extents[d];
        int64_t wrong = entries->count;
#pragma omp parallel for num_threads(entries_team(entries->count)) reduction(min : wrong)
        for (int64_t e = 0; e < entries->count; e++)
            if (x[e] < 0 || x[e] >= extent)
                wrong = min_i64(wrong, e);
        if (wrong < entries->count)
            return arena_printf(arena, "entry %lld has coordinate %lld in mode %d, whose extent is %lld",
                                (long long)wrong, (long long)x[wrong], d, (long long)extent);
    }
    return NULL;
}

// Sets first[e] to 1 where entry e has other coordinates than the entry before it, else to 0.
static void mark_first(const Entries *entries, uint8_t *first) {
#pragma omp parallel for num_threads(entries_team(entries->count))
    for (int64_t e = 0; e < entries->count; e++) {
        bool differs = e == 0;
        for (int d = 0; d < entries->order && !differs; d++)
            differs = entries->coordinates[d][e] != entries->coordinates[d][e - 1];
        first[e] = differs;
    }
}

// Copies the items of a column that are kept to `to`, without gaps; begins[t] is where part t begins there.
static void compact(const void *from, void *to, size_t size, const uint8_t *keep, int64_t count, int team,
                    const int64_t *begins) {
#pragma omp parallel num_threads(team)
    for (int t = omp_get_thread_num(); t < team; t += omp_get_num_threads()) {
        char *next = (char *)to + begins[t] * (int64_t)size;
        const int64_t end = part_begin(count, team, t + 1);
        for (int64_t e = part_begin(count, team, t); e < end; e++) {
            if (!keep[e])
                continue;
            memcpy(next, (const char *)from + e * (int64_t)size, size);
            next += size;
        }
    }
}

// Adds to the value of each first entry those of the entries after it that have the same coordinates.
static void add_up(const Entries *entries, const uint8_t *first, int team) {
    const int64_t size = (int64_t)type_info(entries->type)->size;
    char *values = entries->values;
#pragma omp parallel num_threads(team)
    for (int t = omp_get_thread_num(); t < team; t += omp_get_num_threads()) {
        const int64_t end = part_begin(entries->count, team, t + 1);
        int64_t sum = -1; // the first one of its group; a group belongs to the part that it begins in
        for (int64_t e = part_begin(entries->count, team, t); e < entries->count; e++) {
            if (first[e] && e >= end)
                break;
            if (first[e])
                sum = e;
            else if (sum >= 0)
                memory_host.reduce(REDUCER_SUM, entries->type, values + sum * size, 1, values + e * size, 1,
                                   1);
            else if (e >= end)
                break;
        }
    }
}

static const char *keep_columns(Entries *entries, const uint8_t *keep, int team, int64_t *begins) {
    int64_t kept = 0;
#pragma omp parallel for num_threads(team)
    for (int t = 0; t < team; t++) {
        const int64_t end = part_begin(entries->count, team, t + 1);
        int64_t own = 0;
        for (int64_t e = part_begin(entries->count, team, t); e < end; e++)
            own += keep[e];
        begins[t] = own;
    }
    for (int t = 0; t < team; t++) {
        const int64_t own = begins[t];
        begins[t] = kept;
        kept += own;
    }
    if (kept == entries->count)
        return NULL;
    for (int d = 0; d <= entries->order; d++) {
        const bool is_values = d == entries->order;
        const ElementType type = is_values ? entries->type : TYPE_I64;
        void *from = is_values ? entries->values : entries->coordinates[d];
        void *to = memory_allocate(MEMORY_HOST, kept, type);
        if (!to)
            return no_memory;
        compact(from, to, type_info(type)->size, keep, entries->count, team, begins);
        memory_release(MEMORY_HOST, from);
        if (is_values)
            entries->values = to;
        else
            entries->coordinates[d] = to;
    }
    entries->count = kept;
    return NULL;
}

const char *entries_keep(Entries *entries, const uint8_t *keep) {
    const int team = entries_team(entries->count);
    int64_t *begins = malloc((size_t)team * sizeof *begins);
    const char *why = begins ? keep_columns(entries, keep, team, begins) : no_memory;
    free(begins);
    return why;
}

bool entries_is_within(const Entries *entries, int64_t e, const Rect *rect) {
    for (int d = 0; d < rect->order; d++)
        if (!rect_has(rect, d, entries->coordinates[d][e]))
            return false;
    return true;
}

const char *entries_keep_within(Entries *entries, const Region *region) {
    uint8_t *keep = malloc((size_t)entries->count + 1);
    if (!keep)
        return no_memory;
#pragma omp parallel for num_threads(entries_team(entries->count))
    for (int64_t e = 0; e < entries->count; e++) {
        keep[e] = 0;
        for (int64_t i = 0; i < region->rects.count && !keep[e]; i++)
            keep[e] = entries_is_within(entries, e, &region->rects.items[i]);
    }
    const char *why = entries_keep(entries, keep);
    free(keep);
    return why;
}

void entries_mode_order(int order, const int64_t *extents, int64_t count, const Rect *const *rects,
                        const int *stored, int *mode_order) {
    double parts[MAX_ORDER];
    for (int l = 0; l < order; l++) {
        const int mode = stored[l];
        double part = 0;
        for (int64_t i = 0; i < count; i++)
            part = fmax(part, (double)rect_count(rects[i], mode) / (double)extents[mode]);
        int at = l;
        for (; at > 0 && parts[mode_order[at - 1]] > part; at--)
            mode_order[at] = mode_order[at - 1];
        mode_order[at] = mode;
        parts[mode] = part;
    }
}

const char *entries_sum_duplicates(Entries *entries) {
    if (entries->count < 2)
        return NULL;
    uint8_t *first = malloc((size_t)entries->count);
    if (!first)
        return no_memory;
    mark_first(entries, first);
    add_up(entries, first, entries_team(entries->count));
    const char *why = entries_keep(entries, first);
    free(first);
    return why;
}

// The distinct values of a list, in order, by a bit for each value that there may be.
static const char *distinct_by_bits(const void *list, bool wide, int64_t count, int64_t extent,
                                    Entries *points) {
    uint64_t *bits = calloc((size_t)(extent / 64 + 1), sizeof *bits);
    if (!bits)
        return no_memory;
    points->count = 0;
    const int64_t *wide_list = list;
    const int32_t *narrow_list = list;
    for (int64_t e = 0; e < count; e++) {
        const int64_t x = wide ? wide_list[e] : narrow_list[e];
        bits[x / 64] |= (uint64_t)1 << x % 64;
    }
    for (int64_t w = 0; w <= extent / 64; w++)
        points->count += __builtin_popcountll(bits[w]);
    const char *why = entries_allocate(points);
    for (int64_t w = 0, p = 0; !why && w <= extent / 64; w++)
        for (uint64_t rest = bits[w]; rest; rest &= rest - 1)
            points->coordinates[0][p++] = w * 64 + __builtin_ctzll(rest);
    free(bits);
    return why;
}

const char *coordinates_distinct(const void *list, bool wide, int64_t count, int64_t extent,
                                 Entries *points) {
    *points = (Entries){.type = TYPE_I32, .order = 1, .count = count, .extents = {extent}};
    if (extent / 64 <= count)
        return distinct_by_bits(list, wide, count, extent, points);
    const char *why = entries_allocate(points);
    if (why || count == 0)
        return why;
    for (int64_t e = 0; e < count; e++)
        points->coordinates[0][e] = wide ? ((const int64_t *)list)[e] : ((const int32_t *)list)[e];
    memset(points->values, 0, (size_t)count * sizeof(int32_t));
    why = entries_sort(points, NULL);
    return why ? why : entries_sum_duplicates(points);
}

const char *entries_distinct(const Entries *entries, int mode_count, const int *modes, Entries *points) {
    if (mode_count == 1)
        return coordinates_distinct(entries->coordinates[modes[0]], true, entries->count,
                                    entries->extents[modes[0]], points);
    *points = (Entries){.type = TYPE_I32, .order = mode_count, .count = entries->count};
    for (int m = 0; m < mode_count; m++)
        points->extents[m] = entries->extents[modes[m]];
    const char *why = entries_allocate(points);
    if (why || entries->count == 0)
        return why;
    for (int m = 0; m < mode_count; m++)
        memcpy(points->coordinates[m], entries->coordinates[modes[m]],
               (size_t)entries->count * sizeof(int64_t));
    memset(points->values, 0, (size_t)entries->count * sizeof(int32_t));
    why = entries_sort(points, NULL);
    return why ? why : entries_sum_duplicates(points);
}
