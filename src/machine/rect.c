// SPDX-License-Identifier: BSD-3-Clause
#include "machine/rect.h"

#include "base/integer.h"

#include <inttypes.h>

Rect rect_whole(int order, const int64_t *extents) {
    Rect rect = {.order = order};
    for (int d = 0; d < order; d++)
        rect.hi[d] = extents[d];
    return rect;
}

bool rect_is_empty(const Rect *rect) {
    for (int d = 0; d < rect->order; d++)
        if (rect->lo[d] >= rect->hi[d])
            return true;
    return false;
}

int64_t rect_volume(const Rect *rect) {
    if (rect_is_empty(rect))
        return 0;
    int64_t volume = 1;
    for (int d = 0; d < rect->order; d++)
        volume *= rect->hi[d] - rect->lo[d];
    return volume;
}

bool rect_equal(const Rect *a, const Rect *b) {
    if (a->order != b->order)
        return false;
    for (int d = 0; d < a->order; d++)
        if (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d])
            return false;
    return true;
}

int rect_compare(const Rect *a, const Rect *b) {
    for (int d = 0; d < a->order; d++) {
        if (a->lo[d] != b->lo[d])
            return a->lo[d] < b->lo[d] ? -1 : 1;
        if (a->hi[d] != b->hi[d])
            return a->hi[d] < b->hi[d] ? -1 : 1;
    }
    return 0;
}

bool rect_contains(const Rect *outer, const Rect *inner) {
    for (int d = 0; d < outer->order; d++)
        if (inner->lo[d] < outer->lo[d] || inner->hi[d] > outer->hi[d])
            return false;
    return true;
}

bool rect_intersect(const Rect *a, const Rect *b, Rect *common) {
    common->order = a->order;
    for (int d = 0; d < a->order; d++) {
        common->lo[d] = max_i64(a->lo[d], b->lo[d]);
        common->hi[d] = min_i64(a->hi[d], b->hi[d]);
        if (common->lo[d] >= common->hi[d])
            return false;
    }
    return true;
}

Rect rect_hull(const Rect *a, const Rect *b) {
    Rect hull = {.order = a->order};
    for (int d = 0; d < a->order; d++) {
        hull.lo[d] = min_i64(a->lo[d], b->lo[d]);
        hull.hi[d] = max_i64(a->hi[d], b->hi[d]);
    }
    return hull;
}

void rect_subtract(const Rect *a, const Rect *b, Arena *arena, RectArray *rest) {
    Rect common;
    if (!rect_intersect(a, b, &common)) {
        array_push(arena, *rest, *a);
        return;
    }
    // Cut off what lies before and behind the common part, mode by mode; what is left in the end is the
    // common part.
    Rect left = *a;
    for (int d = 0; d < a->order; d++) {
        Rect piece = left;
        if (left.lo[d] < common.lo[d]) {
            piece.hi[d] = common.lo[d];
            array_push(arena, *rest, piece);
        }
        piece = left;
        if (common.hi[d] < left.hi[d]) {
            piece.lo[d] = common.hi[d];
            array_push(arena, *rest, piece);
        }
        left.lo[d] = common.lo[d];
        left.hi[d] = common.hi[d];
    }
}

void rect_print(const Rect *rect, Text *to) {
    text_append(to, "[");
    for (int d = 0; d < rect->order; d++)
        text_printf(to, "%s%" PRId64 ":%" PRId64, d ? ", " : "", rect->lo[d], rect->hi[d]);
    text_append(to, "]");
}

int64_t region_volume(const Region *region) {
    int64_t volume = 0;
    for (int64_t i = 0; i < region->rects.count; i++)
        volume += rect_volume(&region->rects.items[i]);
    return volume;
}

bool region_equal(const Region *a, const Region *b) {
    if (a->rects.count != b->rects.count)
        return false;
    for (int64_t i = 0; i < a->rects.count; i++)
        if (!rect_equal(&a->rects.items[i], &b->rects.items[i]))
            return false;
    return true;
}

bool region_contains(const Region *region, const Rect *rect) {
    // The rectangles are disjoint, so what they have in common with `rect` must add up to it.
    int64_t covered = 0;
    for (int64_t i = 0; i < region->rects.count; i++) {
        Rect common;
        if (rect_intersect(&region->rects.items[i], rect, &common))
            covered += rect_volume(&common);
    }
    return covered == rect_volume(rect);
}

Rect region_hull(const Region *region) {
    Rect hull = region->rects.items[0];
    for (int64_t i = 1; i < region->rects.count; i++)
        hull = rect_hull(&hull, &region->rects.items[i]);
    return hull;
}

void region_subtract(Region *region, const Rect *rect, Arena *arena) {
    Rect common;
    bool touched = false;
    for (int64_t i = 0; i < region->rects.count && !touched; i++)
        touched = rect_intersect(&region->rects.items[i], rect, &common);
    if (!touched)
        return;
    RectArray rest = {0};
    for (int64_t i = 0; i < region->rects.count; i++)
        rect_subtract(&region->rects.items[i], rect, arena, &rest);
    region->rects = rest;
}

// Whether b continues a in one mode and agrees with it in the others; then *joined is both.
static bool joinable(const Rect *a, const Rect *b, Rect *joined) {
    int different = -1;
    for (int d = 0; d < a->order; d++) {
        if (a->lo[d] == b->lo[d] && a->hi[d] == b->hi[d])
            continue;
        if (different >= 0 || (a->hi[d] != b->lo[d] && b->hi[d] != a->lo[d]))
            return false;
        different = d;
    }
    *joined = rect_hull(a, b);
    return different >= 0;
}

void region_coalesce(Region *region) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t i = 0; i < region->rects.count; i++)
            for (int64_t j = i + 1; j < region->rects.count;) {
                if (joinable(&region->rects.items[i], &region->rects.items[j], &region->rects.items[i])) {
                    region->rects.items[j] = region->rects.items[--region->rects.count];
                    changed = true;
                } else {
                    j++;
                }
            }
    }
}
