// SPDX-License-Identifier: BSD-3-Clause
#include "machine/layout.h"

#include "base/integer.h"

#include <string.h>

static bool partitions(const Layout *layout, int dim, int mode) {
    return layout->dims[dim].kind == PLACE_PARTITION && layout->dims[dim].mode == mode;
}

// Whether fused modes are divided by this dimension.
static bool is_fused(const Layout *layout, int dim) {
    return layout->dims[dim].boundaries && layout->dims[dim].boundaries->division.mode_count > 1;
}

static bool is_balanced(const Layout *layout) {
    for (int d = 0; d < layout->grid.order; d++)
        if (layout->dims[d].boundaries)
            return true;
    return false;
}

// The number of the part of a balanced dimension, among those of all levels that it is a part of.
static int64_t balanced_part(const Layout *layout, int dim, const int64_t *coordinates) {
    int64_t part = 0;
    for (int l = 0; l < layout->dims[dim].level_count; l++) {
        const int d = layout->dims[dim].levels[l];
        part = part * layout->grid.extents[d] + coordinates[d];
    }
    return part;
}

// The part of a mode at these coordinates: the part of the last split, mapped back through the splits before
// it. `arena` is for block-cyclic modes.
static PositionSet assigned(const Layout *layout, int mode, const int64_t *coordinates, Arena *arena) {
    PositionSet set = {0, layout->extents[mode], NULL};
    for (int d = layout->grid.order - 1; d >= 0; d--) {
        if (!partitions(layout, d, mode) || is_fused(layout, d))
            continue;
        const int64_t block = layout->dims[d].block;
        const Boundaries *boundaries = layout->dims[d].boundaries;
        if (boundaries) {
            const int64_t part = balanced_part(layout, d, coordinates);
            const int64_t start = boundaries->starts[part];
            return positions_shift(positions_clip(set, 0, boundaries->starts[part + 1] - start), start,
                                   arena);
        }
        if (layout->dims[d].cyclic) {
            const int64_t rounds = ceil_div(ceil_div(layout->dims[d].length, block), layout->grid.extents[d]);
            set = positions_cyclic(positions_clip(set, 0, rounds * block), block, layout->grid.extents[d],
                                   coordinates[d], arena);
        } else {
            set = positions_shift(positions_clip(set, 0, block), coordinates[d] * block, arena);
        }
        set = positions_clip(set, 0, layout->dims[d].length);
    }
    return set;
}

// Coordinates of the dimensions that partition a mode.
static int64_t part_count(const Layout *layout, int mode) {
    int64_t count = 1;
    for (int d = 0; d < layout->grid.order; d++)
        if (partitions(layout, d, mode))
            count *= layout->grid.extents[d];
    return count;
}

Layout layout_copy(const Layout *layout, Arena *arena) {
    Layout copy = *layout;
    for (int mode = 0; mode < layout->order; mode++) {
        if (!layout->cyclic_parts[mode])
            continue;
        const int64_t count = part_count(layout, mode);
        PositionSet *parts = arena_copy(arena, layout->cyclic_parts[mode], sizeof *parts * (size_t)count);
        for (int64_t i = 0; i < count; i++)
            if (parts[i].periodic)
                parts[i].periodic = periodic_copy(parts[i].periodic, arena);
        copy.cyclic_parts[mode] = parts;
    }
    for (int d = 0; d < layout->grid.order; d++)
        if (layout->dims[d].boundaries)
            copy.dims[d].boundaries = boundaries_copy(layout->dims[d].boundaries, arena);
    return copy;
}

// The table of a mode with a block-cyclic dimension.
static void cyclic_mode(Layout *layout, int mode, Arena *arena) {
    int64_t count = part_count(layout, mode), coordinates[MAX_MACHINE_ORDER] = {0};
    PositionSet *table = arena_array(arena, PositionSet, count);
    for (int64_t i = 0; i < count; i++) {
        table[i] = assigned(layout, mode, coordinates, arena);
        for (int d = layout->grid.order - 1; d >= 0; d--) {
            if (!partitions(layout, d, mode))
                continue;
            if (++coordinates[d] < layout->grid.extents[d])
                break;
            coordinates[d] = 0;
        }
    }
    layout->cyclic_parts[mode] = table;
}

// The values of the boundaries that the first level of the division lists, if it does. False where they are
// not those of as many parts.
static bool find_starts(const Placement *placement, const int64_t *params, int mode, int64_t extent,
                        Division *division, Arena *arena) {
    const PlaceEntry *entry = placement->entries;
    while (entry->kind != PLACE_PARTITION || entry->mode != mode)
        entry++;
    if (entry->balance != BALANCE_LISTED)
        return true;
    DivisionLevel *level = &division->levels[0];
    level->starts = entry->start_count == level->parts + 1
                        ? placement_starts(entry->start_count, entry->starts, params, arena)
                        : NULL;
    return level->starts && level->starts[0] == 0 && level->starts[level->parts] == extent;
}

static bool balance(Layout *layout, int d, const Placement *placement, const char *tensor,
                    const int64_t *params, const BoundariesArray *known, Arena *arena) {
    Division division = placement_division(placement, tensor, &layout->grid, params, d);
    const int mode = placement->entries[d].mode;
    if (!find_starts(placement, params, mode, layout->extents[mode], &division, arena))
        return false;
    const int *modes = placement->entries[d].by ? &placement->entries[d].mode : division.modes;
    Division own = division; // in the modes of this tensor
    int64_t extents[MAX_ORDER];
    memcpy(own.modes, modes, sizeof *modes * (size_t)division.mode_count);
    division_extents(&own, layout->extents, extents);
    memcpy(layout->dims[d].modes, modes, sizeof *modes * (size_t)division.mode_count);
    layout->dims[d].level_count = placement_levels(placement, d, layout->dims[d].levels);
    const Boundaries *found = boundaries_find(known, &division);
    layout->dims[d].boundaries = found ? found : boundaries_even(&division, extents, arena);
    return true;
}

bool layout_create(const Placement *placement, const char *tensor, const Grid *grid, const int64_t *params,
                   int order, const int64_t *extents, const BoundariesArray *known, Arena *arena,
                   Layout *layout, int *bad_dim) {
    *layout = (Layout){.grid = *grid, .order = order};
    int64_t length[MAX_ORDER]; // of the parts that the dimensions so far leave
    bool cyclic[MAX_ORDER] = {false};
    for (int mode = 0; mode < order; mode++)
        layout->extents[mode] = length[mode] = extents[mode];
    for (int d = 0; d < grid->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        int64_t block;
        *bad_dim = d;
        layout->dims[d].kind = entry->kind;
        if (entry->kind == PLACE_FIX) {
            layout->dims[d].coordinate = entry->coordinate;
            if (entry->coordinate < 0 || entry->coordinate >= grid->extents[d])
                return false;
        }
        if (entry->kind != PLACE_PARTITION)
            continue;
        int64_t *left = &length[entry->mode];
        layout->dims[d].mode = entry->mode;
        layout->dims[d].length = *left;
        if (entry->balance != BALANCE_NONE) {
            if (!balance(layout, d, placement, tensor, params, known, arena))
                return false;
            if (!is_fused(layout, d))
                *left = boundaries_longest(layout->dims[d].boundaries);
        } else if (entry->cycle) {
            if (!int_eval(entry->cycle, params, NULL, &block) || block < 1 || block > MAX_CYCLE)
                return false;
            layout->dims[d].cyclic = cyclic[entry->mode] = true;
            layout->dims[d].block = block;
            *left = ceil_div(ceil_div(*left, block), grid->extents[d]) * block;
        } else {
            layout->dims[d].block = *left = ceil_div(*left, grid->extents[d]);
        }
    }
    for (int mode = 0; mode < order; mode++)
        if (cyclic[mode])
            cyclic_mode(layout, mode, arena);
    return true;
}

// The block-cyclic part of a mode that belongs to these coordinates.
static PositionSet cyclic_part(const Layout *layout, int mode, const int64_t *coordinates) {
    int64_t index = 0;
    for (int d = 0; d < layout->grid.order; d++)
        if (partitions(layout, d, mode))
            index = index * layout->grid.extents[d] + coordinates[d];
    return layout->cyclic_parts[mode][index];
}

// The innermost dimension that divides fused modes, or -1: all of them divide parts of each other.
static int fused_dim(const Layout *layout) {
    int dim = -1;
    for (int d = 0; d < layout->grid.order; d++)
        dim = is_fused(layout, d) ? d : dim;
    return dim;
}

void layout_rects(const Layout *layout, const int64_t *coordinates, Arena *arena, RectArray *rects) {
    Rect rect = {.order = layout->order};
    for (int d = 0; d < layout->grid.order; d++)
        if (layout->dims[d].kind == PLACE_FIX && coordinates[d] != layout->dims[d].coordinate)
            return;
    for (int mode = 0; mode < layout->order; mode++)
        rect_set_mode(&rect, mode,
                      layout->cyclic_parts[mode] ? cyclic_part(layout, mode, coordinates)
                                                 : assigned(layout, mode, coordinates, NULL));
    const int fused = fused_dim(layout);
    if (rect_is_empty(&rect))
        return;
    if (fused < 0) {
        array_push(arena, *rects, rect);
        return;
    }
    const int64_t part = balanced_part(layout, fused, coordinates);
    boundaries_rects(layout->dims[fused].boundaries, part, part + 1, &rect, arena, rects);
}

typedef struct {
    const Layout *layout;
    const Rect *target;
    const int64_t *replica; // coordinates to take along replicated dimensions, NULL: all
    Arena *arena;
    LayoutVisit visit;
    void *context;
    int64_t coordinates[MAX_MACHINE_ORDER];
} Search;

static bool is_last_of_mode(const Layout *layout, int dim) {
    for (int d = dim + 1; d < layout->grid.order; d++)
        if (partitions(layout, d, layout->dims[dim].mode))
            return false;
    return true;
}

// Restricts `piece` to its part at coordinate at->coordinates[d]; false if that has nothing of the target
// rectangle.
static bool narrow(const Search *at, int d, Rect *piece) {
    const Layout *layout = at->layout;
    if (layout->dims[d].kind != PLACE_PARTITION)
        return true;
    const int mode = layout->dims[d].mode;
    if (layout->cyclic_parts[mode]) {
        // The part of several dimensions is known with the coordinate of the last one.
        if (!is_last_of_mode(layout, d))
            return true;
        const PositionSet part = cyclic_part(layout, mode, at->coordinates);
        rect_set_mode(piece, mode, part);
        return positions_common(part, rect_mode(at->target, mode)) > 0;
    }
    const int64_t block = layout->dims[d].block;
    const Boundaries *boundaries = layout->dims[d].boundaries;
    if (boundaries) {
        const int64_t part = balanced_part(layout, d, at->coordinates);
        piece->lo[mode] = boundaries->starts[part];
        piece->hi[mode] = boundaries->starts[part + 1];
        return piece->lo[mode] < piece->hi[mode];
    }
    piece->lo[mode] = min_i64(piece->lo[mode] + at->coordinates[d] * block, piece->hi[mode]);
    piece->hi[mode] = min_i64(piece->lo[mode] + block, piece->hi[mode]);
    return piece->lo[mode] < piece->hi[mode];
}

// Whether a dimension is the first one that divides its mode, and does so block-cyclically.
static bool is_outer_cyclic(const Layout *layout, int d) {
    for (int before = 0; before < d; before++)
        if (partitions(layout, before, layout->dims[d].mode))
            return false;
    return layout->dims[d].kind == PLACE_PARTITION && layout->dims[d].cyclic;
}

// Of periodic targets with more different rounds, the bounds alone are compared.
enum { MAX_ROUNDS = 64 };

// For a dimension of which is_outer_cyclic holds: the first coordinate >= c whose blocks may intersect the
// target; the extent of the dimension where there is none. One round is one block for each coordinate.
static int64_t next_cyclic(const Layout *layout, int d, PositionSet target, int64_t c) {
    const int64_t size = layout->grid.extents[d], block = layout->dims[d].block;
    if (c >= size)
        return size;
    const int64_t round = size * block;
    const int64_t rounds =
        target.periodic ? target.periodic->period / common_divisor(target.periodic->period, round) : 0;
    if (target.periodic && rounds <= MAX_ROUNDS) {
        // Which coordinates intersect the target depends on the round modulo `rounds`; the first round that
        // the target reaches may be cut, so there is one more.
        int64_t next = size, begin = target.lo / round * round;
        for (int64_t r = 0; r <= rounds && begin < target.hi; r++, begin += round) {
            const PositionSet left = positions_clip(target, begin + c * block, begin + next * block);
            next = left.lo < left.hi ? (left.lo - begin) / block : next;
        }
        return next;
    }
    const int64_t first = target.lo / block, last = (target.hi - 1) / block;
    const int64_t behind = floor_mod(c - first, size);
    return behind <= last - first ? c : min_i64(size, c + size - behind);
}

// The first coordinate >= c of any dimension whose part of `piece` may intersect the target; c where that is
// not known, as of a block-cyclic dimension inside of another.
static int64_t next_coordinate(const Search *at, int d, int64_t c, const Rect *piece) {
    const Layout *layout = at->layout;
    const int64_t size = layout->grid.extents[d];
    if (c >= size || layout->dims[d].kind != PLACE_PARTITION || layout->dims[d].boundaries)
        return c;
    const int mode = layout->dims[d].mode;
    const PositionSet target = rect_mode(at->target, mode);
    if (is_outer_cyclic(layout, d))
        return next_cyclic(layout, d, target, c);
    if (layout->cyclic_parts[mode] || !target.periodic)
        return c;
    const int64_t block = layout->dims[d].block;
    const PositionSet left = positions_clip(target, piece->lo[mode] + c * block, piece->hi[mode]);
    return left.lo < left.hi ? (left.lo - piece->lo[mode]) / block : size;
}

// The coordinates of a balanced dimension whose parts have something of the target rectangle.
static void balanced_range(const Search *at, int d, int64_t *first, int64_t *last) {
    const Layout *layout = at->layout;
    const Boundaries *boundaries = layout->dims[d].boundaries;
    int64_t least[MAX_ORDER], greatest[MAX_ORDER], coordinates[MAX_MACHINE_ORDER];
    memcpy(coordinates, at->coordinates, sizeof coordinates);
    coordinates[d] = 0;
    const int64_t before = balanced_part(layout, d, coordinates);
    for (int m = 0; m < boundaries->division.mode_count; m++) {
        const int mode = layout->dims[d].modes[m];
        if (mode == CELL_MODE) {
            const int64_t in_cell = boundaries->count / boundaries->extents[0];
            least[m] = greatest[m] = before / in_cell;
            continue;
        }
        least[m] = at->target->lo[mode];
        greatest[m] = at->target->hi[mode] - 1;
    }
    *first = max_i64(*first, boundaries_part(boundaries, least) - before);
    *last = min_i64(*last, boundaries_part(boundaries, greatest) - before);
}

static bool search(Search *at, int d, int64_t processor, const Rect *piece);

// The part at a coordinate of a dimension that divides fused modes, one rectangle after the other.
static bool search_fused(Search *at, int d, int64_t processor, const Rect *piece) {
    RectArray rects = {0};
    const int64_t part = balanced_part(at->layout, d, at->coordinates);
    boundaries_rects(at->layout->dims[d].boundaries, part, part + 1, piece, at->arena, &rects);
    for (int64_t i = 0; i < rects.count; i++)
        if (!search(at, d + 1, processor, &rects.items[i]))
            return false;
    return true;
}

// `piece`: the part at the coordinates that are chosen for the dimensions before `d`.
static bool search(Search *at, int d, int64_t processor, const Rect *piece) {
    const Layout *layout = at->layout;
    if (d == layout->grid.order) {
        Rect part;
        return !rect_intersect(piece, at->target, at->arena, &part) ||
               at->visit(at->context, processor, &part);
    }
    int64_t size = layout->grid.extents[d], first = 0, last = size - 1;
    int mode = layout->dims[d].mode;
    int64_t block = layout->dims[d].block;
    switch (layout->dims[d].kind) {
    case PLACE_FIX:
        first = last = layout->dims[d].coordinate;
        break;
    case PLACE_REPLICATE:
        if (at->replica)
            first = last = at->replica[d];
        break;
    case PLACE_PARTITION:
        if (layout->cyclic_parts[mode] && !is_fused(layout, d))
            break;
        if (layout->dims[d].boundaries) {
            balanced_range(at, d, &first, &last);
            break;
        }
        if (block == 0)
            return true;
        first = max_i64(0, (at->target->lo[mode] - piece->lo[mode]) / block);
        last = min_i64(last, (at->target->hi[mode] - 1 - piece->lo[mode]) / block);
        break;
    }
    for (int64_t c = next_coordinate(at, d, first, piece); c <= last;
         c = next_coordinate(at, d, c + 1, piece)) {
        Rect inner = *piece;
        at->coordinates[d] = c;
        if (is_fused(layout, d)) {
            if (!search_fused(at, d, processor * size + c, piece))
                return false;
            continue;
        }
        if (narrow(at, d, &inner) && !search(at, d + 1, processor * size + c, &inner))
            return false;
    }
    return true;
}

void layout_holders(const Layout *layout, const Rect *rect, const int64_t *replica, Arena *arena,
                    LayoutVisit visit, void *context) {
    if (rect_is_empty(rect))
        return;
    Rect whole = rect_whole(layout->order, layout->extents);
    search(&(Search){layout, rect, replica, arena, visit, context, {0}}, 0, 0, &whole);
}

// Number of parts of a mode that overlap `target`, for dimensions from `d` on, within the part of those
// before it.
static int64_t count_blocks(const Layout *layout, int mode, int d, int64_t lo, int64_t hi,
                            PositionSet target) {
    while (d < layout->grid.order && !partitions(layout, d, mode))
        d++;
    if (d == layout->grid.order)
        return 1;
    const int64_t block = layout->dims[d].block;
    if (block == 0)
        return 0;
    const int64_t first = max_i64(0, (target.lo - lo) / block),
                  last = min_i64(layout->grid.extents[d] - 1, (min_i64(target.hi, hi) - 1 - lo) / block);
    if (is_last_of_mode(layout, d) && !target.periodic)
        return max_i64(0, last - first + 1);
    int64_t count = 0;
    // Only the blocks that intersect the target, which may be few of many.
    PositionSet left = positions_clip(target, lo, min_i64(hi, lo + (last + 1) * block));
    while (left.lo < left.hi) {
        const int64_t begin = lo + (left.lo - lo) / block * block, end = min_i64(begin + block, hi);
        count += count_blocks(layout, mode, d + 1, begin, end, target);
        left = positions_clip(left, end, left.hi);
    }
    return count;
}

// The number of parts of a mode with block-cyclic dimensions that intersect the target.
static int64_t count_cyclic_parts(const Layout *layout, int mode, PositionSet target) {
    int64_t count = 0;
    int d = 0;
    while (!partitions(layout, d, mode))
        d++;
    const int64_t size = part_count(layout, mode), block = layout->dims[d].block;
    const bool is_outer = is_outer_cyclic(layout, d) && is_last_of_mode(layout, d);
    if (is_outer && !target.periodic)
        return min_i64(size, (target.hi - 1) / block - target.lo / block + 1);
    for (int64_t c = 0;; c++) {
        c = is_outer ? next_cyclic(layout, d, target, c) : c;
        if (c >= size)
            return count;
        count += positions_common(layout->cyclic_parts[mode][c], target) > 0;
    }
}

static bool count_part(void *context, int64_t processor, const Rect *part) {
    (void)processor;
    (void)part;
    ++*(int64_t *)context;
    return true;
}

int64_t layout_part_count(const Layout *layout, const Rect *rect, Arena *scratch) {
    int64_t count = 0;
    if (is_balanced(layout)) {
        const int64_t replica[MAX_MACHINE_ORDER] = {0};
        layout_holders(layout, rect, replica, scratch, count_part, &count);
        return count;
    }
    count = !rect_is_empty(rect);
    for (int mode = 0; mode < layout->order && count > 0; mode++) {
        const PositionSet target = rect_mode(rect, mode);
        count *= layout->cyclic_parts[mode] ? count_cyclic_parts(layout, mode, target)
                                            : count_blocks(layout, mode, 0, 0, layout->extents[mode], target);
    }
    return count;
}
