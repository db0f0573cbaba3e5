// SPDX-License-Identifier: BSD-3-Clause
#include "plan/rotation.h"

#include "base/integer.h"

#include <string.h>

// Products of iterations and places are as many as footprints.
enum { MOST_FOOTPRINTS = 1 << 28, MOST_TURNS = 1 << 22 };

// The loop, and the iterations of those around it. False where a footprint does not change with each of the
// loops.
static bool find_loop(const Relation *relation, const bool *located, Rotation *rotation) {
    const Footprints *footprints = rotation->footprints;
    bool found = false;
    rotation->outer = rotation->inner = 1;
    for (int i = 0; i < footprints->loop_count; i++) {
        const int var = footprints->loops[i];
        const int64_t extent = provenance_extent(footprints->provenance, var);
        if (var == relation->child[0]) {
            rotation->turns = extent;
            found = true;
        } else {
            int64_t *around = found ? &rotation->inner : &rotation->outer;
            *around *= extent;
            if (extent > 1 && !located[var])
                return false;
        }
    }
    return found && located[relation->parent[0]] && rotation->turns > 1 &&
           footprints->iterations <= MOST_TURNS;
}

static bool find_factors(const Relation *relation, Rotation *rotation) {
    for (int i = 0; i < relation->operand_count; i++) {
        int d = 0;
        while (d < rotation->footprints->grid.order && rotation->footprints->vars[d] != relation->operands[i])
            d++;
        if (d == rotation->footprints->grid.order)
            return false;
        rotation->factors[d]++;
    }
    return true;
}

static void find_dims(const bool *located, Rotation *rotation) {
    const Footprints *footprints = rotation->footprints;
    for (int v = 0; v < MAX_VARS; v++)
        rotation->decides[v] = footprints->related[v] && !located[v];
    rotation->place_count = 1;
    for (int d = 0; d < footprints->grid.order; d++) {
        rotation->dims[d] = !footprints->related_dims[d]   ? DIM_MEMBERS
                            : located[footprints->vars[d]] ? DIM_PLACE
                                                           : DIM_OFFSET;
        if (rotation->dims[d] == DIM_PLACE)
            rotation->place_count *= footprints->grid.extents[d];
    }
}

void rotation_set_place(const Rotation *rotation, int64_t place, int64_t *coordinates) {
    const Grid *grid = &rotation->footprints->grid;
    for (int d = grid->order - 1; d >= 0; d--)
        if (rotation->dims[d] == DIM_PLACE) {
            coordinates[d] = place % grid->extents[d];
            place /= grid->extents[d];
        }
}

int64_t rotation_place(const Rotation *rotation, const int64_t *coordinates) {
    const Grid *grid = &rotation->footprints->grid;
    int64_t place = 0;
    for (int d = 0; d < grid->order; d++)
        if (rotation->dims[d] == DIM_PLACE)
            place = place * grid->extents[d] + coordinates[d];
    return place;
}

int64_t rotation_offset(const Rotation *rotation, const int64_t *coordinates, RotationDim of) {
    int64_t offset = 0;
    for (int d = 0; d < rotation->footprints->grid.order; d++)
        if (rotation->dims[d] == of && rotation->factors[d] > 0)
            offset = (offset + coordinates[d] % rotation->turns * rotation->factors[d]) % rotation->turns;
    return offset;
}

int64_t rotation_iteration(const Rotation *rotation, int64_t outer, int64_t turn, int64_t inner,
                           int64_t offset) {
    return (outer * rotation->turns + floor_mod(turn - offset, rotation->turns)) * rotation->inner + inner;
}

bool rotation_exists(const Rotation *rotation, const int64_t *coordinates, Arena *scratch) {
    LoopRanges ranges;
    BoxArray boxes = {0};
    provenance_ranges(rotation->footprints->provenance, &ranges);
    for (int d = 0; d < rotation->footprints->grid.order; d++)
        if (rotation->dims[d] == DIM_OFFSET)
            ranges_fix(&ranges, rotation->footprints->vars[d], coordinates[d]);
    provenance_boxes(rotation->footprints->provenance, rotation->decides, &ranges, scratch, &boxes);
    return boxes.count > 0;
}

static bool same_grid(const Grid *a, const Grid *b) {
    bool same = a->order == b->order;
    for (int d = 0; d < a->order && same; d++)
        same = a->extents[d] == b->extents[d];
    return same;
}

// Whether the part of a mode depends on dimensions of `dims` alone, no other mode does, and its home is
// divided by these as well.
static bool find_mode_dims(const Rotation *rotation, int mode, bool *dims, bool *vars) {
    const Footprints *footprints = rotation->footprints;
    const Home *home = rotation->home;
    provenance_located(footprints->provenance, footprints->related,
                       (VarSet)1 << footprints->access.vars[mode], vars);
    for (int m = 0; m < home->order; m++) {
        bool of_other[MAX_VARS];
        provenance_located(footprints->provenance, footprints->related,
                           (VarSet)1 << footprints->access.vars[m], of_other);
        for (int v = 0; v < MAX_VARS && m != mode; v++)
            if (vars[v] && of_other[v])
                return false;
    }
    for (int i = 0; i < footprints->loop_count; i++)
        if (vars[footprints->loops[i]])
            return false;
    bool any = false;
    for (int d = 0; d < footprints->grid.order; d++) {
        dims[d] = footprints->vars[d] >= 0 && vars[footprints->vars[d]];
        any = any || dims[d];
        if (dims[d] != (home->layout.dims[d].kind == PLACE_PARTITION && home->layout.dims[d].mode == mode))
            return false;
    }
    return any;
}

// The part of the mode that is used at these coordinates; false where it is not one interval.
static bool used_part(const Rotation *rotation, int mode, const bool *dims, const bool *vars,
                      const int64_t *coordinates, Arena *scratch, PositionSet *part) {
    const Footprints *footprints = rotation->footprints;
    LoopRanges ranges;
    BoxArray boxes = {0};
    provenance_ranges(footprints->provenance, &ranges);
    ranges.requested = (VarSet)1 << footprints->access.vars[mode];
    for (int d = 0; d < footprints->grid.order; d++)
        if (dims[d])
            ranges_fix(&ranges, footprints->vars[d], coordinates[d]);
    provenance_boxes(footprints->provenance, vars, &ranges, scratch, &boxes);
    *part = boxes.count > 0 ? boxes.items[0].values[footprints->access.vars[mode]] : interval(0, 0);
    return boxes.count <= 1 && !part->periodic;
}

static bool is_home_part(const Rotation *rotation, int mode, const int64_t *coordinates, Arena *scratch,
                         PositionSet part) {
    const Layout *layout = &rotation->home->layout;
    int64_t at[MAX_MACHINE_ORDER];
    RectArray rects = {0};
    for (int d = 0; d < layout->grid.order; d++)
        at[d] = layout->dims[d].kind == PLACE_FIX ? layout->dims[d].coordinate : coordinates[d];
    layout_rects(layout, at, scratch, &rects);
    if (rects.count == 0)
        return part.lo >= part.hi;
    return rects.count == 1 && positions_equal(rect_mode(&rects.items[0], mode), part);
}

// The first coordinates with a part of the same length, by the number of coordinates in `dims`; NULL where
// parts are not at home where they are used.
static int64_t *find_equal_parts(const Rotation *rotation, int mode, const bool *dims, const bool *vars,
                                 Arena *arena) {
    const Grid *grid = &rotation->footprints->grid;
    enum { MOST_LENGTHS = 8 };
    int64_t count = 1, lengths[MOST_LENGTHS], firsts[MOST_LENGTHS], coordinates[MAX_MACHINE_ORDER] = {0};
    int known = 0;
    for (int d = 0; d < grid->order; d++)
        count *= dims[d] ? grid->extents[d] : 1;
    int64_t *first = arena_array(arena, int64_t, count);
    Arena *scratch = arena_create_within(arena);
    bool fine = true;
    for (int64_t i = 0; i < count && fine; i++) {
        PositionSet part;
        int k = 0;
        arena_reset(scratch);
        fine = used_part(rotation, mode, dims, vars, coordinates, scratch, &part) &&
               is_home_part(rotation, mode, coordinates, scratch, part);
        while (k < known && lengths[k] != part.hi - part.lo)
            k++;
        first[i] = k < known ? firsts[k] : i;
        if (k == known && k < MOST_LENGTHS) {
            lengths[k] = part.hi - part.lo;
            firsts[k] = i;
            known++;
        }
        for (int d = grid->order - 1; d >= 0; d--) {
            if (!dims[d])
                continue;
            if (++coordinates[d] < grid->extents[d])
                break;
            coordinates[d] = 0;
        }
    }
    arena_free(scratch);
    return fine ? first : NULL;
}

// Replaces coordinates in `dims` by the first ones with an equal part.
static void take_first(const Grid *grid, const bool *dims, const int64_t *first, int64_t *coordinates) {
    int64_t index = 0;
    for (int d = 0; d < grid->order; d++)
        if (dims[d])
            index = index * grid->extents[d] + coordinates[d];
    index = first[index];
    for (int d = grid->order - 1; d >= 0; d--)
        if (dims[d]) {
            coordinates[d] = index % grid->extents[d];
            index /= grid->extents[d];
        }
}

static void find_samples(Rotation *rotation, Arena *arena) {
    const Footprints *footprints = rotation->footprints;
    bool dims[MAX_ORDER][MAX_MACHINE_ORDER];
    const int64_t *first[MAX_ORDER] = {NULL};
    for (int m = 0; m < rotation->home->order && footprints->near_count == 0 &&
                    same_grid(&footprints->grid, &rotation->home->layout.grid);
         m++) {
        bool vars[MAX_VARS];
        if (find_mode_dims(rotation, m, dims[m], vars))
            first[m] = find_equal_parts(rotation, m, dims[m], vars, arena);
    }
    rotation->sample = arena_array(arena, int64_t, rotation->place_count);
    for (int64_t place = 0; place < rotation->place_count; place++) {
        int64_t coordinates[MAX_MACHINE_ORDER] = {0};
        rotation_set_place(rotation, place, coordinates);
        for (int m = 0; m < rotation->home->order; m++)
            if (first[m])
                take_first(&footprints->grid, dims[m], first[m], coordinates);
        rotation->sample[place] = rotation_place(rotation, coordinates);
        rotation->sample_count += rotation->sample[place] == place;
    }
}

bool rotation_find(const Footprints *footprints, const Home *home, Arena *arena, Rotation *rotation) {
    const Relation *relation = provenance_rotation(footprints->provenance, footprints->related);
    bool located[MAX_VARS];
    *rotation = (Rotation){.footprints = footprints, .home = home};
    if (!relation || footprints->kind != TRANSFER_FETCH || footprints->per_rank != 1 ||
        !footprints->existence || footprints->steps < 2 || !home->known || home->kind != HOME_LAYOUT ||
        home->per_rank != 1 || home->replicated)
        return false;
    provenance_located(footprints->provenance, footprints->related, footprints_coordinates(footprints),
                       located);
    if (!find_loop(relation, located, rotation) || !find_factors(relation, rotation))
        return false;
    find_dims(located, rotation);
    find_samples(rotation, arena);
    return saturated_mul(rotation->sample_count, footprints->iterations) <= MOST_FOOTPRINTS;
}
