// SPDX-License-Identifier: BSD-3-Clause
#include "machine/boundaries.h"

#include "base/integer.h"

#include <string.h>

bool division_equal(const Division *a, const Division *b) {
    return a->balance == b->balance && strcmp(a->tensor, b->tensor) == 0 && a->mode_count == b->mode_count &&
           memcmp(a->modes, b->modes, sizeof(int) * (size_t)a->mode_count) == 0 && a->depth == b->depth &&
           memcmp(a->parts, b->parts, sizeof(int64_t) * (size_t)a->depth) == 0;
}

int64_t division_parts(const Division *division) {
    int64_t parts = 1;
    for (int d = 0; d < division->depth; d++)
        parts = saturated_mul(parts, division->parts[d]);
    return parts;
}

void division_positions(const Division *division, int64_t total, int64_t *positions) {
    const int64_t count = division_parts(division);
    for (int64_t q = 0; q < count; q++) {
        int64_t rest = q, inner = count, length = total, start = 0, end = total;
        for (int d = 0; d < division->depth; d++) {
            inner /= division->parts[d];
            length = ceil_div(length, division->parts[d]);
            start = min_i64(start + rest / inner * length, end);
            end = min_i64(start + length, end);
            rest %= inner;
        }
        positions[q] = start;
    }
    positions[count] = total;
}

// The coordinates in row-major order, where every one holds an entry.
const Boundaries *boundaries_even(const Division *division, const int64_t *extents, Arena *arena) {
    const int modes = division->mode_count;
    const int64_t count = division_parts(division);
    Boundaries *even = arena_new(arena, Boundaries);
    int64_t *positions = arena_array(arena, int64_t, count + 1);
    int64_t *starts = arena_array(arena, int64_t, (count + 1) * modes);
    int64_t *lasts = arena_array(arena, int64_t, (count + 1) * modes);
    int64_t below[MAX_ORDER] = {0},
            total = 1; // coordinates with one coordinate of a mode and those before it
    for (int m = modes - 1; m >= 0; m--) {
        below[m] = total;
        total = saturated_mul(total, extents[m]);
    }
    division_positions(division, total, positions);
    for (int64_t q = 0; q <= count && total > 0; q++) {
        int64_t start = positions[q], last = q < count ? positions[q + 1] - 1 : 0;
        for (int m = 0; m < modes; m++) {
            starts[q * modes + m] = start / below[m];
            lasts[q * modes + m] = max_i64(last, 0) / below[m];
            start %= below[m];
            last = max_i64(last, 0) % below[m];
        }
    }
    for (int64_t q = 0; q <= count; q++)
        if (positions[q] == total && q > 0) {
            memset(&starts[q * modes], 0, sizeof(int64_t) * (size_t)modes);
            starts[q * modes] = extents[0];
        }
    *even = (Boundaries){*division, count, total, positions, starts, lasts, starts};
    return even;
}

const Boundaries *boundaries_copy(const Boundaries *boundaries, Arena *arena) {
    const size_t modes = (size_t)boundaries->division.mode_count, count = (size_t)boundaries->count;
    Boundaries *copy = arena_copy(arena, boundaries, sizeof *boundaries);
    copy->division.tensor = arena_string(arena, copy->division.tensor, strlen(copy->division.tensor));
    copy->positions = arena_copy(arena, copy->positions, sizeof(int64_t) * (count + 1));
    copy->starts = arena_copy(arena, copy->starts, sizeof(int64_t) * (count + 1) * modes);
    copy->lasts = arena_copy(arena, copy->lasts, sizeof(int64_t) * count * modes);
    copy->first = arena_copy(arena, copy->first, sizeof(int64_t) * modes);
    return copy;
}

const Boundaries *boundaries_find(const BoundariesArray *list, const Division *division) {
    for (int64_t i = 0; list && i < list->count; i++)
        if (division_equal(&list->items[i]->division, division))
            return list->items[i];
    return NULL;
}

int64_t boundaries_longest(const Boundaries *boundaries) {
    int64_t most = 0;
    for (int64_t q = 0; q < boundaries->count; q++)
        most = max_i64(most, boundaries->starts[q + 1] - boundaries->starts[q]);
    return most;
}

int boundaries_compare(const Boundaries *boundaries, const int64_t *a, const int64_t *b) {
    for (int m = 0; m < boundaries->division.mode_count; m++)
        if (a[m] != b[m])
            return a[m] < b[m] ? -1 : 1;
    return 0;
}

int64_t boundaries_part(const Boundaries *boundaries, const int64_t *coordinates) {
    // The last part that begins there or before; parts before it that begin there as well are empty.
    int64_t first = 0, last = boundaries->count;
    while (last - first > 1) {
        const int64_t middle = first + (last - first) / 2;
        const int64_t *start = &boundaries->starts[middle * boundaries->division.mode_count];
        if (boundaries_compare(boundaries, start, coordinates) <= 0)
            first = middle;
        else
            last = middle;
    }
    return first;
}

// What `rect` has of these coordinates of one mode.
static bool clip(Rect *rect, int mode, int64_t lo, int64_t hi) {
    rect->lo[mode] = max_i64(rect->lo[mode], lo);
    rect->hi[mode] = min_i64(rect->hi[mode], hi);
    return rect->lo[mode] < rect->hi[mode];
}

void boundaries_rects(const Boundaries *boundaries, int64_t first, int64_t last, const Rect *rect,
                      Arena *arena, RectArray *rects) {
    const int count = boundaries->division.mode_count, *modes = boundaries->division.modes;
    const int64_t *from = &boundaries->starts[first * count], *to = &boundaries->starts[last * count];
    if (boundaries_compare(boundaries, from, to) >= 0)
        return;
    int common = 0; // modes in which both have the same coordinate
    while (from[common] == to[common])
        common++;
    Rect within = *rect;
    for (int m = 0; m < common; m++)
        if (!clip(&within, modes[m], from[m], from[m] + 1))
            return;
    // From `from` to the end of its row, of its plane, and so on; what is between; and the same to `to`.
    for (int m = count - 1; m > common; m--) {
        Rect part = within;
        bool any = clip(&part, modes[m], from[m] + (m < count - 1), INT64_MAX);
        for (int outer = common; outer < m; outer++)
            any = any && clip(&part, modes[outer], from[outer], from[outer] + 1);
        if (any)
            array_push(arena, *rects, part);
    }
    Rect between = within;
    if (clip(&between, modes[common], from[common] + (common < count - 1), to[common]))
        array_push(arena, *rects, between);
    for (int m = common + 1; m < count; m++) {
        Rect part = within;
        bool any = clip(&part, modes[m], 0, to[m]);
        for (int outer = common; outer < m; outer++)
            any = any && clip(&part, modes[outer], to[outer], to[outer] + 1);
        if (any)
            array_push(arena, *rects, part);
    }
}
