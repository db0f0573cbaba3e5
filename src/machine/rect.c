// SPDX-License-Identifier: BSD-3-Clause
#include "machine/rect.h"

#include "base/integer.h"

Rect rect_whole(int order, const int64_t *extents) {
    Rect rect = {.order = order};
    for (int d = 0; d < order; d++)
        rect.hi[d] = extents[d];
    return rect;
}

PositionSet rect_mode(const Rect *rect, int mode) {
    return (PositionSet){rect->lo[mode], rect->hi[mode], rect->periodic[mode]};
}

void rect_set_mode(Rect *rect, int mode, PositionSet coords) {
    rect->lo[mode] = coords.lo;
    rect->hi[mode] = coords.hi;
    rect->periodic[mode] = coords.periodic;
}

int64_t rect_count(const Rect *rect, int mode) {
    return positions_count(rect_mode(rect, mode));
}

Rect rect_copy(const Rect *rect, Arena *arena) {
    Rect copy = *rect;
    for (int d = 0; d < rect->order; d++)
        if (rect->periodic[d])
            copy.periodic[d] = periodic_copy(rect->periodic[d], arena);
    return copy;
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
        volume = saturated_mul(volume, rect_count(rect, d));
    return volume;
}

bool rect_equal(const Rect *a, const Rect *b) {
    if (a->order != b->order)
        return false;
    for (int d = 0; d < a->order; d++)
        if (!positions_equal(rect_mode(a, d), rect_mode(b, d)))
            return false;
    return true;
}

int rect_compare(const Rect *a, const Rect *b) {
    for (int d = 0; d < a->order; d++) {
        const int modes = positions_compare(rect_mode(a, d), rect_mode(b, d));
        if (modes != 0)
            return modes;
    }
    return 0;
}

bool rect_contains(const Rect *outer, const Rect *inner) {
    for (int d = 0; d < outer->order; d++)
        if (!positions_contain(rect_mode(outer, d), rect_mode(inner, d)))
            return false;
    return true;
}

bool rect_intersect(const Rect *a, const Rect *b, Arena *arena, Rect *common) {
    common->order = a->order;
    for (int d = 0; d < a->order; d++) {
        rect_set_mode(common, d, positions_intersect(rect_mode(a, d), rect_mode(b, d), arena));
        if (common->lo[d] >= common->hi[d])
            return false;
    }
    return true;
}

int64_t rect_common(const Rect *a, const Rect *b) {
    int64_t volume = 1;
    for (int d = 0; d < a->order && volume > 0; d++)
        volume = saturated_mul(volume, positions_common(rect_mode(a, d), rect_mode(b, d)));
    return volume;
}

// Appends a \ b to `rest`: disjoint rectangles, at most three for each mode.
static void rect_subtract(const Rect *a, const Rect *b, Arena *arena, RectArray *rest) {
    Rect common = {0}; // for clang-tidy, which does not see that it is set
    if (!rect_intersect(a, b, arena, &common)) {
        array_push(arena, *rest, *a);
        return;
    }
    // Mode by mode, the parts outside of the intersection are split off; the intersection is left.
    Rect left = *a;
    for (int d = 0; d < a->order; d++) {
        PositionSet parts[3];
        const int count = positions_subtract(rect_mode(&left, d), rect_mode(&common, d), arena, parts);
        for (int i = 0; i < count; i++) {
            Rect piece = left;
            rect_set_mode(&piece, d, parts[i]);
            array_push(arena, *rest, piece);
        }
        rect_set_mode(&left, d, rect_mode(&common, d));
    }
}

int64_t region_volume(const Region *region) {
    int64_t volume = 0;
    for (int64_t i = 0; i < region->rects.count; i++)
        volume = saturated_add(volume, rect_volume(&region->rects.items[i]));
    return volume;
}

Region region_copy(const Region *region, Arena *arena) {
    Region copy = {0};
    for (int64_t i = 0; i < region->rects.count; i++)
        array_push(arena, copy.rects, rect_copy(&region->rects.items[i], arena));
    return copy;
}

bool region_equal(const Region *a, const Region *b) {
    if (a->rects.count != b->rects.count)
        return false;
    for (int64_t i = 0; i < a->rects.count; i++)
        if (!rect_equal(&a->rects.items[i], &b->rects.items[i]))
            return false;
    return true;
}

RectChunks rect_chunks(const Rect *rect, const int *mode_order, int64_t most) {
    RectChunks chunks = {.rect = *rect, .parts = 1, .count = !rect_is_empty(rect)};
    for (int l = 0; l < rect->order; l++)
        chunks.mode_order[l] = mode_order ? mode_order[l] : l;
    if (chunks.count == 0 || rect->order == 0)
        return chunks;
    int64_t below = 1; // elements with one coordinate of the mode that is cut, and of those before
    for (chunks.cut = rect->order - 1; chunks.cut > 0; chunks.cut--) {
        const int64_t more = saturated_mul(below, rect_count(rect, chunks.mode_order[chunks.cut]));
        if (more > most)
            break;
        below = more;
    }
    const int64_t coordinates = rect_count(rect, chunks.mode_order[chunks.cut]);
    chunks.parts = ceil_div(coordinates, max_i64(1, most / below));
    chunks.count = chunks.parts;
    for (int l = 0; l < chunks.cut; l++)
        chunks.count = saturated_mul(chunks.count, rect_count(rect, chunks.mode_order[l]));
    return chunks;
}

Rect rect_chunk(const RectChunks *chunks, int64_t index) {
    Rect chunk = chunks->rect;
    for (int l = chunks->cut; l >= 0 && chunk.order > 0; l--) {
        const int mode = chunks->mode_order[l];
        const PositionSet all = rect_mode(&chunks->rect, mode);
        const int64_t count = positions_count(all), parts = l == chunks->cut ? chunks->parts : count;
        const int64_t part = index % parts;
        rect_set_mode(
            &chunk, mode,
            positions_slice(all, part_begin(count, parts, part), part_begin(count, parts, part + 1)));
        index /= parts;
    }
    return chunk;
}

bool region_contains(const Region *region, const Rect *rect) {
    // The rectangles are disjoint, so the volumes of their intersections with `rect` must add up to that of
    // `rect`, where that is a number.
    int64_t covered = 0;
    if (rect_volume(rect) == INT64_MAX) {
        for (int64_t i = 0; i < region->rects.count; i++)
            if (rect_contains(&region->rects.items[i], rect))
                return true;
        return false;
    }
    for (int64_t i = 0; i < region->rects.count; i++)
        covered = saturated_add(covered, rect_common(&region->rects.items[i], rect));
    return covered == rect_volume(rect);
}

void region_subtract(Region *region, const Rect *rect, Arena *arena) {
    bool touched = false;
    for (int64_t i = 0; i < region->rects.count && !touched; i++)
        touched = rect_common(&region->rects.items[i], rect) > 0;
    if (!touched)
        return;
    RectArray rest = {0};
    for (int64_t i = 0; i < region->rects.count; i++)
        rect_subtract(&region->rects.items[i], rect, arena, &rest);
    region->rects = rest;
}

void region_subtract_all(Region *region, const Region *other, Arena *arena) {
    for (int64_t i = 0; i < other->rects.count && region->rects.count > 0; i++)
        region_subtract(region, &other->rects.items[i], arena);
}

Region region_without(const Region *region, const Region *other, Arena *arena) {
    Region rest = region_copy(region, arena);
    region_subtract_all(&rest, other, arena);
    return rest;
}

// Whether b continues a in one mode and agrees with it in the others; then *joined is both.
static bool joinable(const Rect *a, const Rect *b, Rect *joined) {
    int different = -1;
    for (int d = 0; d < a->order; d++) {
        if (positions_equal(rect_mode(a, d), rect_mode(b, d)))
            continue;
        if (different >= 0 || a->periodic[d] || b->periodic[d] ||
            (a->hi[d] != b->lo[d] && b->hi[d] != a->lo[d]))
            return false;
        different = d;
    }
    if (different < 0)
        return false;
    *joined = *a;
    joined->lo[different] = min_i64(a->lo[different], b->lo[different]);
    joined->hi[different] = max_i64(a->hi[different], b->hi[different]);
    return true;
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
