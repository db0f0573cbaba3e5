// SPDX-License-Identifier: BSD-3-Clause
#include "machine/union.h"

#include "base/integer.h"

#include <stdlib.h>

static int compare_int64(const void *left, const void *right) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

static int compare_rects(const void *left, const void *right) {
    return rect_compare(left, right);
}

// The mode that is compared last: rectangles that agree in the others come together.
typedef struct {
    const Rect *rect;
    int last_mode;
} Sorted;

static int compare_sorted(const void *left, const void *right) {
    const Sorted *a = left, *b = right;
    for (int d = 0; d < a->rect->order; d++) {
        const int order = positions_compare(rect_mode(a->rect, d), rect_mode(b->rect, d));
        if (d != a->last_mode && order != 0)
            return order;
    }
    return positions_compare(rect_mode(a->rect, a->last_mode), rect_mode(b->rect, a->last_mode));
}

// Whether b, which comes after a, is equal to it in all modes but `mode`, and there continues it, overlaps it
// or is equal as well.
static bool continues(const Rect *a, const Rect *b, int mode) {
    for (int d = 0; d < a->order; d++)
        if (d != mode && !positions_equal(rect_mode(a, d), rect_mode(b, d)))
            return false;
    if (!a->periodic[mode] && !b->periodic[mode])
        return b->lo[mode] <= a->hi[mode];
    return positions_equal(rect_mode(a, mode), rect_mode(b, mode));
}

static void join_along(RectArray *rects, int mode, Arena *arena) {
    Sorted *sorted = arena_array(arena, Sorted, rects->count);
    for (int64_t i = 0; i < rects->count; i++)
        sorted[i] = (Sorted){&rects->items[i], mode};
    qsort(sorted, (size_t)rects->count, sizeof *sorted, compare_sorted);
    RectArray joined = {0};
    for (int64_t i = 0; i < rects->count; i++) {
        Rect *before = joined.count ? &joined.items[joined.count - 1] : NULL;
        if (before && continues(before, sorted[i].rect, mode))
            before->hi[mode] = max_i64(before->hi[mode], sorted[i].rect->hi[mode]);
        else
            array_push(arena, joined, *sorted[i].rect);
    }
    *rects = joined;
}

static void join(RectArray *rects, Arena *arena) {
    for (int64_t before = 0; rects->count > 1 && rects->count != before;) {
        before = rects->count;
        for (int d = 0; d < rects->items[0].order; d++)
            join_along(rects, d, arena);
    }
}

// How many pairs of rectangles have bounds that overlap in the mode.
static int64_t overlapping_pairs(const RectArray *rects, int mode, Arena *arena) {
    int64_t *lo = arena_array(arena, int64_t, rects->count), *hi = arena_array(arena, int64_t, rects->count);
    for (int64_t i = 0; i < rects->count; i++) {
        lo[i] = rects->items[i].lo[mode];
        hi[i] = rects->items[i].hi[mode];
    }
    qsort(lo, (size_t)rects->count, sizeof *lo, compare_int64);
    qsort(hi, (size_t)rects->count, sizeof *hi, compare_int64);
    int64_t pairs = 0;
    for (int64_t i = 0, ended = 0; i < rects->count; i++) {
        while (hi[ended] <= lo[i])
            ended++;
        pairs += i - ended;
    }
    return pairs;
}

static int compare_lo(const void *left, const void *right) {
    const Sorted *a = left, *b = right;
    const int64_t lo_a = a->rect->lo[a->last_mode], lo_b = b->rect->lo[b->last_mode];
    return lo_a < lo_b ? -1 : lo_a > lo_b ? 1 : rect_compare(a->rect, b->rect);
}

// Appends to `parts` the rectangle without those of `parts` with these indices.
static void add_rest(const Rect *rect, const int64_t *others, int64_t count, RectArray *parts, Arena *arena) {
    Region rest = {0};
    array_push(arena, rest.rects, *rect);
    for (int64_t i = 0; i < count && rest.rects.count > 0; i++)
        region_subtract(&rest, &parts->items[others[i]], arena);
    for (int64_t i = 0; i < rest.rects.count; i++)
        array_push(arena, *parts, rest.rects.items[i]);
}

// Makes the rectangles disjoint, by removing from each the parts of those before it, in the order of a mode
// in which few overlap. Returns whether some overlap.
static bool separate(RectArray *rects, Arena *arena) {
    int mode = 0;
    int64_t fewest = INT64_MAX;
    for (int d = 0; d < rects->items[0].order; d++) {
        const int64_t pairs = overlapping_pairs(rects, d, arena);
        mode = pairs < fewest ? d : mode;
        fewest = min_i64(fewest, pairs);
    }
    if (fewest == 0)
        return false;
    Sorted *sorted = arena_array(arena, Sorted, rects->count);
    for (int64_t i = 0; i < rects->count; i++)
        sorted[i] = (Sorted){&rects->items[i], mode};
    qsort(sorted, (size_t)rects->count, sizeof *sorted, compare_lo);
    RectArray parts = {0};
    Array(int64_t) open = {0}; // parts that later ones may overlap
    for (int64_t i = 0; i < rects->count; i++) {
        int64_t kept = 0;
        for (int64_t k = 0; k < open.count; k++)
            if (parts.items[open.items[k]].hi[mode] > sorted[i].rect->lo[mode])
                open.items[kept++] = open.items[k];
        open.count = kept;
        const int64_t first = parts.count;
        add_rest(sorted[i].rect, open.items, open.count, &parts, arena);
        for (int64_t k = first; k < parts.count; k++)
            array_push(arena, open, k);
    }
    *rects = parts;
    return true;
}

Region region_union(RectArray *rects, Arena *arena) {
    if (rects->count > 0 && rects->items[0].order == 0)
        rects->count = 1;
    join(rects, arena);
    if (rects->count > 1 && separate(rects, arena))
        join(rects, arena);
    if (rects->count > 1)
        qsort(rects->items, (size_t)rects->count, sizeof(Rect), compare_rects);
    return (Region){*rects};
}
