// SPDX-License-Identifier: BSD-3-Clause
#include "machine/boundaries.h"

#include "base/integer.h"
#include "machine/divide.h"

#include <string.h>

// Every coordinate holds an entry: in row-major order. As many outer modes are counted as have no more
// coordinates than MOST_STORED: all that has the same coordinates in these is in one part.
typedef struct {
    const int64_t *extents;
    int modes, counted;
    int64_t total;
} EvenKeys;

static void even_coordinates(void *context, const int64_t *positions, int64_t back, int64_t count, int modes,
                             int64_t *coordinates) {
    const EvenKeys *even = context;
    memset(coordinates, 0, sizeof(int64_t) * (size_t)(count * modes));
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = positions[i] - back;
        if (rest < 0 || rest >= even->total)
            continue;
        for (int m = even->modes - 1; m >= 0; m--) {
            const bool each = m < even->counted;
            const int64_t digit = !each ? (back ? even->extents[m] - 1 : 0)
                                  : m   ? rest % even->extents[m]
                                        : rest;
            rest /= each ? even->extents[m] : 1;
            if (m < modes)
                coordinates[i * modes + m] = digit;
        }
    }
}

static void even_below(void *context, const int64_t *coordinates, int64_t count, int modes,
                       int64_t *positions) {
    const EvenKeys *even = context;
    for (int64_t i = 0; i < count; i++) {
        positions[i] = 0;
        for (int m = 0; m < even->counted; m++)
            positions[i] =
                (m ? positions[i] * even->extents[m] : 0) + (m < modes ? coordinates[i * modes + m] : 0);
    }
}

// Where the parts of a level begin within a part of the levels around it, from `begin` to before `end`.
// `length`: of the longest part of the level.
static void divide_part(const DivisionLevel *level, int64_t begin, int64_t end, int64_t length,
                        int64_t *starts) {
    const int64_t each = (end - begin) / level->parts, longer = (end - begin) % level->parts;
    for (int64_t c = 0; c < level->parts; c++)
        starts[c] = level->balance == BALANCE_LISTED    ? min_i64(max_i64(level->starts[c], begin), end)
                    : level->balance == BALANCE_LENGTHS ? begin + c * each + min_i64(c, longer)
                                                        : min_i64(begin + c * length, end);
}

// Every coordinate counts as one. The first and last ones of empty parts are those beside them.
static const Boundaries *without_entries(const Division *division, int64_t extent, Arena *arena) {
    int64_t count = 1, longest = extent;
    int64_t *starts = arena_array(arena, int64_t, 2);
    starts[1] = extent;
    for (int l = 0; l < division->depth; l++) {
        const DivisionLevel *level = &division->levels[l];
        int64_t *inner = arena_array(arena, int64_t, count * level->parts + 1);
        longest = ceil_div(longest, level->parts);
        for (int64_t q = 0; q < count; q++)
            divide_part(level, starts[q], starts[q + 1], longest, &inner[q * level->parts]);
        count *= level->parts;
        inner[count] = extent;
        starts = inner;
        for (int64_t q = 0; q < count && level->balance != BALANCE_NONE; q++)
            longest = q ? max_i64(longest, starts[q + 1] - starts[q]) : starts[1] - starts[0];
    }
    Boundaries *found = arena_new(arena, Boundaries);
    int64_t *lasts = arena_array(arena, int64_t, count);
    for (int64_t q = 0; q < count; q++)
        lasts[q] = max_i64(starts[q + 1] - 1, 0);
    *found = (Boundaries){.division = *division,
                          .extents = {extent},
                          .count = count,
                          .total = extent,
                          .positions = starts,
                          .starts = starts,
                          .firsts = starts,
                          .lasts = lasts};
    return found;
}

const Boundaries *boundaries_even(const Division *division, const int64_t *extents, Arena *arena) {
    if (!division_is_by_entries(division))
        return without_entries(division, extents[0], arena);
    EvenKeys even = {.extents = extents, .modes = division->mode_count, .counted = 1, .total = extents[0]};
    while (even.counted < even.modes && saturated_mul(even.total, extents[even.counted]) <= MOST_STORED)
        even.total *= extents[even.counted++];
    Division own = *division, base;
    // Of coordinates that all hold as many entries.
    for (int l = 0; l < own.depth; l++)
        own.levels[l].balance = own.levels[l].balance == BALANCE_NONE ? BALANCE_NONE : BALANCE_STORED;
    const Boundaries *around = division_base(&own, &base) ? boundaries_even(&base, extents, arena) : NULL;
    DividePlan plan = divide_plan(&own, around, extents, 1, arena, arena);
    divide_find(&plan, &(DivisionKeys){even.total, even_coordinates, even_below, &even});
    plan.found->division = *division;
    return plan.found;
}

const Boundaries *boundaries_copy(const Boundaries *boundaries, Arena *arena) {
    const size_t modes = (size_t)boundaries->division.mode_count, count = (size_t)boundaries->count;
    Boundaries *copy = arena_copy(arena, boundaries, sizeof *boundaries);
    copy->division.tensor = arena_string(arena, copy->division.tensor, strlen(copy->division.tensor));
    for (int l = 0; l < copy->division.depth; l++) {
        DivisionLevel *level = &copy->division.levels[l];
        if (level->starts)
            level->starts = arena_copy(arena, level->starts, sizeof(int64_t) * (size_t)(level->parts + 1));
    }
    copy->positions = arena_copy(arena, copy->positions, sizeof(int64_t) * (count + 1));
    copy->starts = arena_copy(arena, copy->starts, sizeof(int64_t) * (count + 1) * modes);
    copy->firsts = arena_copy(arena, copy->firsts, sizeof(int64_t) * count * modes);
    copy->lasts = arena_copy(arena, copy->lasts, sizeof(int64_t) * count * modes);
    return copy;
}

const Boundaries *boundaries_find(const BoundariesArray *list, const Division *division) {
    for (int64_t i = 0; list && i < list->count; i++)
        if (division_equal(&list->items[i]->division, division))
            return list->items[i];
    return NULL;
}

int64_t boundaries_longest(const Boundaries *boundaries) {
    const int modes = boundaries->division.mode_count;
    int64_t most = 0;
    for (int64_t q = 0; q < boundaries->count; q++)
        most = max_i64(most, boundaries->starts[(q + 1) * modes] - boundaries->starts[q * modes]);
    return most;
}

// A coordinate of each mode, in lexicographic order: negative, 0 or positive.
static int compare(const Boundaries *boundaries, const int64_t *a, const int64_t *b) {
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
        if (compare(boundaries, start, coordinates) <= 0)
            first = middle;
        else
            last = middle;
    }
    return first;
}

// What `rect` has of these coordinates of one mode.
static bool clip(Rect *rect, int mode, int64_t lo, int64_t hi) {
    rect_set_mode(rect, mode, positions_clip(rect_mode(rect, mode), lo, hi));
    return rect->lo[mode] < rect->hi[mode];
}

// What `rect` has from one coordinate in lexicographic order of these modes to before another.
static void rects_of(int count, const int *modes, const int64_t *from, const int64_t *to, const Rect *rect,
                     Arena *arena, RectArray *rects) {
    int common = 0; // modes in which both have the same coordinate
    while (common < count && from[common] == to[common])
        common++;
    if (common == count || from[common] > to[common])
        return;
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

// What a cell has of `rect`; false: nothing.
static bool cell_rect(const Boundaries *boundaries, int64_t cell, const Rect *rect, Arena *arena,
                      Rect *part) {
    const Division *division = &boundaries->division;
    *part = *rect;
    for (int m = 1; m < division->mode_count; m++) {
        const PositionSet own = division_cell_part(division, boundaries->extents, cell, m, arena);
        const PositionSet common = positions_intersect(rect_mode(part, division->modes[m]), own, arena);
        rect_set_mode(part, division->modes[m], common);
        if (common.lo >= common.hi)
            return false;
    }
    return true;
}

// What `rect` has from one coordinate in lexicographic order to before another, cell by cell.
static void rects_between(const Boundaries *boundaries, const int64_t *from, const int64_t *to,
                          const Rect *rect, Arena *arena, RectArray *rects) {
    const int count = boundaries->division.mode_count, *modes = boundaries->division.modes;
    if (modes[0] != CELL_MODE) {
        rects_of(count, modes, from, to, rect, arena, rects);
        return;
    }
    for (int64_t cell = from[0]; cell <= to[0] && cell < boundaries->extents[0]; cell++) {
        int64_t begin[MAX_ORDER] = {0}, end[MAX_ORDER] = {INT64_MAX};
        if (cell == from[0])
            memcpy(begin, from + 1, sizeof *begin * (size_t)(count - 1));
        if (cell == to[0])
            memcpy(end, to + 1, sizeof *end * (size_t)(count - 1));
        Rect part;
        if (cell_rect(boundaries, cell, rect, arena, &part))
            rects_of(count - 1, modes + 1, begin, end, &part, arena, rects);
    }
}

void boundaries_rects(const Boundaries *boundaries, int64_t first, int64_t last, const Rect *rect,
                      Arena *arena, RectArray *rects) {
    const int modes = boundaries->division.mode_count;
    rects_between(boundaries, &boundaries->starts[first * modes], &boundaries->starts[last * modes], rect,
                  arena, rects);
}

// The part that has the position.
static int64_t part_with(const Boundaries *boundaries, int64_t position) {
    int64_t first = 0, last = boundaries->count;
    while (last - first > 1) {
        const int64_t middle = first + (last - first) / 2;
        *(boundaries->positions[middle] <= position ? &first : &last) = middle;
    }
    return first;
}

const int64_t *boundaries_first(const Boundaries *boundaries, int64_t part) {
    return &boundaries->firsts[part * boundaries->division.mode_count];
}

static const int64_t *last_of(const Boundaries *boundaries, int64_t part) {
    return &boundaries->lasts[part * boundaries->division.mode_count];
}

// Part by part, as no part reaches the coordinates between two of them. The first coordinate of a part may be
// the last one of the part before, where coordinates are repeated, or follow it: these are one range.
void boundaries_image(const Boundaries *boundaries, PositionSet positions, const Rect *rect, Arena *arena,
                      RectArray *rects) {
    const int modes = boundaries->division.mode_count;
    int64_t from[MAX_ORDER] = {0}, to[MAX_ORDER] = {0};
    for (int64_t next = positions.lo; next < positions.hi;) {
        const PositionSet run = positions_run(positions, next);
        if (run.lo >= run.hi)
            break;
        const int64_t part = part_with(boundaries, run.lo);
        if (compare(boundaries, boundaries_first(boundaries, part), to) > 0) {
            rects_between(boundaries, from, to, rect, arena, rects);
            memcpy(from, boundaries_first(boundaries, part), sizeof *from * (size_t)modes);
        }
        memcpy(to, last_of(boundaries, part), sizeof *to * (size_t)modes);
        int m = modes - 1;
        for (; m > 0 && to[m] + 1 == rect->hi[boundaries->division.modes[m]]; m--)
            to[m] = 0;
        to[m]++;
        next = boundaries->positions[part + 1];
    }
    rects_between(boundaries, from, to, rect, arena, rects);
}

void boundaries_bound(const Boundaries *boundaries, int64_t first, int64_t last, Rect *rect) {
    const int64_t *from = boundaries_first(boundaries, part_with(boundaries, first)),
                  *to = last_of(boundaries, part_with(boundaries, last - 1));
    // Of several cells, all coordinates.
    const bool cells = boundaries->division.modes[0] == CELL_MODE;
    bool equal = !cells || from[0] == to[0];
    for (int m = cells; m < boundaries->division.mode_count && equal; m++) {
        clip(rect, boundaries->division.modes[m], from[m], to[m] + 1);
        equal = from[m] == to[m];
    }
}
