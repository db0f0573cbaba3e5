// SPDX-License-Identifier: BSD-3-Clause
#include "plan/footprint.h"

#include "base/integer.h"
#include "machine/union.h"

static void count_steps(Footprints *footprints) {
    footprints->iterations = 1;
    bool fits = true;
    for (int i = 0; i < footprints->loop_count; i++) {
        const int64_t extent = provenance_extent(footprints->provenance, footprints->loops[i]);
        if (extent == 0) {
            footprints->iterations = 1;
            footprints->steps = 0;
            return;
        }
        fits = fits && checked_mul(footprints->iterations, extent, &footprints->iterations);
    }
    fits = fits && checked_mul(footprints->iterations, footprints->per_rank, &footprints->steps);
    if (!fits)
        footprints->steps = footprints->iterations = INT64_MAX;
}

// Rotations and collapsed loops are not monotone, so that something may be within their bounds where there
// is nothing.
static bool bounds_are_exact(const Cin *cin, const bool *vars) {
    for (int64_t i = 0; i < cin->relations.count; i++) {
        const Relation *relation = cin->relations.items[i];
        if (vars[relation->kind->children > 0 ? relation->child[0] : relation->parent[0]] &&
            !relation->kind->partitions)
            return false;
    }
    return true;
}

// Whether a box of ranges has no more than what the values in it reach together: not so where an index of
// several variables, or a multiple of one, gives a box around its values, and where a variable is in the
// indices of two modes, so that the box is a square around a diagonal.
static bool boxes_are_exact(const Cin *cin, const Provenance *provenance, const Access *access,
                            const bool *vars) {
    for (int64_t i = 0; i < cin->relations.count; i++) {
        const Relation *relation = cin->relations.items[i];
        for (int o = 0; relation->affine && o < relation->operand_count; o++)
            if (vars[relation->parent[0]] &&
                (relation->operand_count > 1 ||
                 provenance_relation(provenance, i)->affine.coefficients[o] != 1))
                return false;
    }
    return !access_is_diagonal(access);
}

static const Access *copy_accesses(const Access *const *accesses, int count, Arena *arena) {
    Access *copies = arena_array(arena, Access, count);
    for (int i = 0; i < count; i++)
        copies[i] = *accesses[i];
    return copies;
}

Footprints *footprints_create(const Spmd *spmd, int transfer_id, const Provenance *provenance,
                              const Grid *grid, int64_t ranks, const int64_t *params, Arena *arena) {
    const Transfer *transfer = &spmd->transfers[transfer_id];
    const SpmdNest *spmd_nest = &spmd->nests[transfer->nest];
    Footprints *footprints = arena_new(arena, Footprints);
    *footprints = (Footprints){.provenance = provenance,
                               .kind = transfer->kind,
                               .replaces = transfer->replaces,
                               .access = *transfer->statement_access,
                               .located = *transfer->access,
                               .near_count = transfer->near_count,
                               .near = copy_accesses(transfer->near, transfer->near_count, arena),
                               .grid = *grid,
                               .processors = grid_size(grid),
                               .ranks = ranks,
                               .loop_count = transfer->loop_count,
                               .class_keys = 1,
                               .member_keys = 1};
    footprints->per_rank = max_i64(1, processors_per_rank(footprints->processors, ranks));
    const Nest nest = cin_nest(spmd->cin, transfer->nest);
    bool active[MAX_VARS];
    provenance_active(provenance, nest.loops, nest.loop_count, active);
    provenance_related(provenance, active, &footprints->access, footprints->related);
    for (int i = 0; i < footprints->near_count; i++) {
        bool related[MAX_VARS];
        provenance_related(provenance, active, &footprints->near[i], related);
        for (int v = 0; v < MAX_VARS; v++)
            footprints->related[v] |= related[v];
    }
    footprints->exact = boxes_are_exact(spmd->cin, provenance, &footprints->access, footprints->related);
    for (int v = 0; v < MAX_VARS; v++)
        footprints->others[v] = active[v] && !footprints->related[v];
    for (int d = 0; d < grid->order; d++) {
        const int var = footprints->vars[d] = spmd_nest->coordinates[d];
        footprints->related_dims[d] = var >= 0 && footprints->related[var];
        if (var < 0 && !int_eval(spmd_nest->fixed[d], params, NULL, &footprints->fixed[d]))
            footprints->fixed[d] = -1;
        if (var >= 0)
            *(footprints->related_dims[d] ? &footprints->class_keys : &footprints->member_keys) *=
                grid->extents[d];
    }
    for (int i = 0; i < transfer->loop_count; i++) {
        footprints->loops[i] = transfer->loops[i];
        footprints->existence_varies |= footprints->others[transfer->loops[i]];
    }
    footprints->existence_bounded = bounds_are_exact(spmd->cin, footprints->others);
    enum { MOST_CACHED = 1 << 22 };
    if (!footprints->existence_varies && footprints->member_keys <= MOST_CACHED)
        footprints->existence = arena_array(arena, unsigned char, footprints->member_keys);
    count_steps(footprints);
    return footprints;
}

const Footprints *footprints_of_home(const Footprints *footprints, Arena *arena) {
    if (!footprints->replaces)
        return footprints;
    Footprints *copy = arena_copy(arena, footprints, sizeof *footprints);
    copy->replaces = false;
    return copy;
}

Footprints *footprints_copy(const Footprints *footprints, const Tensor *tensor, Arena *arena) {
    Footprints *copy = arena_copy(arena, footprints, sizeof *footprints);
    copy->provenance = provenance_copy(footprints->provenance, arena);
    copy->access.tensor = copy->located.tensor = tensor;
    Access *near = arena_array(arena, Access, copy->near_count);
    for (int i = 0; i < copy->near_count; i++) {
        near[i] = footprints->near[i];
        near[i].tensor = tensor;
    }
    copy->near = near;
    if (copy->existence)
        copy->existence = arena_copy(arena, copy->existence, (size_t)copy->member_keys);
    return copy;
}

void worker_locate(const Footprints *footprints, Worker *worker) {
    worker->index = grid_index(&footprints->grid, worker->coordinates);
    worker->class_key = 0;
    for (int d = 0; d < footprints->grid.order; d++)
        if (footprints->related_dims[d])
            worker->class_key = worker->class_key * footprints->grid.extents[d] + worker->coordinates[d];
}

bool footprints_worker(const Footprints *footprints, int64_t rank, int64_t local, Worker *worker) {
    const int64_t processor = rank * footprints->per_rank + local;
    if (processor >= footprints->processors)
        return false;
    grid_coordinates(&footprints->grid, processor, worker->coordinates);
    for (int d = 0; d < footprints->grid.order; d++)
        if (footprints->vars[d] < 0 && worker->coordinates[d] != footprints->fixed[d])
            return false;
    worker_locate(footprints, worker);
    return true;
}

// Loops and coordinates with one value each.
static void fix_ranges(const Footprints *footprints, const int64_t *coordinates, int64_t iteration,
                       LoopRanges *ranges) {
    provenance_ranges(footprints->provenance, ranges);
    for (int i = footprints->loop_count - 1; i >= 0; i--) {
        const int64_t extent = provenance_extent(footprints->provenance, footprints->loops[i]);
        ranges_fix(ranges, footprints->loops[i], iteration % extent);
        iteration /= extent;
    }
    for (int d = 0; d < footprints->grid.order; d++)
        if (footprints->vars[d] >= 0)
            ranges_fix(ranges, footprints->vars[d], coordinates[d]);
}

static uint64_t hash_region(const Region *region) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < region->rects.count; i++) {
        const Rect *rect = &region->rects.items[i];
        for (int d = 0; d < rect->order; d++) {
            hash = (hash ^ (uint64_t)rect->lo[d]) * 0x9e3779b97f4a7c15u;
            hash = (hash ^ hash >> 32 ^ (uint64_t)rect->hi[d]) * 0x9e3779b97f4a7c15u;
        }
    }
    return hash ^ hash >> 29;
}

// Around all boxes: what the values of the variables that locate elements give, from the first to the last.
static void find_bounds(const Footprints *footprints, const BoxArray *boxes, Arena *arena, Footprint *found) {
    found->bounds.order = footprints->access.tensor->order;
    for (int m = 0; m < found->bounds.order; m++) {
        const int located = footprints->located.vars[m];
        PositionSet values = {boxes->items[0].values[located].lo, boxes->items[0].values[located].hi, NULL};
        for (int64_t b = 0; b < boxes->count; b++)
            for (int i = -1; i < footprints->near_count; i++) {
                const int var = i < 0 ? located : footprints->near[i].vars[m];
                values.lo = min_i64(values.lo, boxes->items[b].values[var].lo);
                values.hi = max_i64(values.hi, boxes->items[b].values[var].hi);
            }
        found->first[m] = values.lo;
        rect_set_mode(&found->bounds, m,
                      provenance_image(footprints->provenance, boxes->items, footprints->access.vars[m],
                                       located, values, arena));
    }
    found->volume = rect_volume(&found->bounds);
}

VarSet footprints_coordinates(const Footprints *footprints) {
    VarSet vars = access_coordinates(&footprints->access);
    for (int i = 0; i < footprints->near_count; i++)
        vars |= access_coordinates(&footprints->near[i]);
    return vars;
}

PositionSet footprints_reached(const Footprints *footprints, const Box *box, int mode) {
    PositionSet reached = box->values[footprints->access.vars[mode]];
    for (int i = 0; i < footprints->near_count; i++) {
        const PositionSet other = box->values[footprints->near[i].vars[mode]];
        if (!positions_equal(reached, other))
            reached = (PositionSet){min_i64(reached.lo, other.lo), max_i64(reached.hi, other.hi), NULL};
    }
    return reached;
}

// How many rectangles are listed where coordinates depend on each other: fewer where there are many
// footprints. Homes that follow from footprints are searched step by step, which takes too long for that.
static int64_t most_listed(const Footprints *footprints) {
    enum { MOST = 1 << 16, MOST_IN_LOOPS = 1 << 7 };
    const Tensor *tensor = footprints->access.tensor;
    if (tensor_is_sparse(tensor) || footprints->in_place)
        return 0;
    if (footprints->replaces)
        return INT64_MAX;
    if (!tensor->placement)
        return 0;
    return footprints->iterations > 1 ? MOST_IN_LOOPS : MOST;
}

bool footprints_are_listed(const Footprints *footprints) {
    return !footprints->exact && most_listed(footprints) > 0;
}

void footprints_region(const Footprints *footprints, const BoxArray *boxes, Arena *arena, Region *region) {
    RectArray rects = {0};
    for (int i = -1; i < footprints->near_count; i++)
        provenance_rects(footprints->provenance, footprints->related, boxes,
                         i < 0 ? &footprints->access : &footprints->near[i], most_listed(footprints), arena,
                         &rects);
    *region = region_union(&rects, arena);
}

static BoxArray find_boxes(const Footprints *footprints, const int64_t *coordinates, int64_t iteration,
                           Arena *arena) {
    LoopRanges ranges;
    BoxArray boxes = {0};
    fix_ranges(footprints, coordinates, iteration, &ranges);
    ranges.requested = footprints_coordinates(footprints);
    provenance_boxes(footprints->provenance, footprints->related, &ranges, arena, &boxes);
    return boxes;
}

int64_t footprint_listed(const Footprints *footprints, const int64_t *coordinates, int64_t iteration,
                         Arena *arena) {
    const BoxArray boxes = find_boxes(footprints, coordinates, iteration, arena);
    int64_t count = 0;
    for (int i = -1; i < footprints->near_count; i++)
        count = saturated_add(
            count, provenance_rect_count(footprints->provenance, footprints->related, &boxes,
                                         i < 0 ? &footprints->access : &footprints->near[i], arena));
    return count;
}

void footprint_find(const Footprints *footprints, const int64_t *coordinates, int64_t iteration, Arena *arena,
                    Footprint *found) {
    const BoxArray boxes = find_boxes(footprints, coordinates, iteration, arena);
    *found = (Footprint){0};
    if (boxes.count == 0)
        return;
    footprints_region(footprints, &boxes, arena, &found->region);
    find_bounds(footprints, &boxes, arena, found);
    found->hash = hash_region(&found->region);
}

static bool find_existence(const Footprints *footprints, const int64_t *coordinates, int64_t iteration,
                           Arena *scratch) {
    LoopRanges ranges;
    fix_ranges(footprints, coordinates, iteration, &ranges);
    if (footprints->existence_bounded) {
        BoundingBox bounds;
        return provenance_bounding_box(footprints->provenance, footprints->others, &ranges, &bounds);
    }
    BoxArray boxes = {0};
    provenance_boxes(footprints->provenance, footprints->others, &ranges, scratch, &boxes);
    return boxes.count > 0;
}

bool footprint_exists(const Footprints *footprints, const int64_t *coordinates, int64_t iteration,
                      Arena *scratch) {
    if (!footprints->existence)
        return find_existence(footprints, coordinates, iteration, scratch);
    int64_t key = 0;
    for (int d = 0; d < footprints->grid.order; d++)
        if (footprints->vars[d] >= 0 && !footprints->related_dims[d])
            key = key * footprints->grid.extents[d] + coordinates[d];
    if (footprints->existence[key] == 0)
        footprints->existence[key] =
            (unsigned char)(1 + find_existence(footprints, coordinates, iteration, scratch));
    return footprints->existence[key] == 2;
}

bool footprint_of_rank(const Footprints *footprints, int64_t rank, int64_t step, Arena *arena, Worker *worker,
                       Footprint *found) {
    const int64_t iteration = step_iteration(footprints, step);
    *found = (Footprint){0};
    if (!footprints_worker(footprints, rank, step_local(footprints, step), worker) ||
        !footprint_exists(footprints, worker->coordinates, iteration, arena))
        return false;
    footprint_find(footprints, worker->coordinates, iteration, arena, found);
    return found->region.rects.count > 0;
}

Region footprint_of_steps(const Footprints *footprints, int64_t rank, Arena *arena) {
    Region all = {0};
    for (int64_t step = 0; step < footprints->steps; step++) {
        Worker worker;
        Footprint footprint;
        if (!footprint_of_rank(footprints, rank, step, arena, &worker, &footprint))
            continue;
        region_subtract_all(&footprint.region, &all, arena);
        for (int64_t i = 0; i < footprint.region.rects.count; i++)
            array_push(arena, all.rects, footprint.region.rects.items[i]);
    }
    return all;
}

Footprint footprint_copy(const Footprint *footprint, Arena *arena) {
    Footprint copy = *footprint;
    copy.bounds = rect_copy(&footprint->bounds, arena);
    copy.region = region_copy(&footprint->region, arena);
    return copy;
}

bool footprint_equal(const Footprint *a, const Footprint *b) {
    return a->hash == b->hash && region_equal(&a->region, &b->region);
}

bool class_members(const Footprints *footprints, const Worker *worker, int64_t local, int64_t iteration,
                   Arena *scratch, MemberVisit visit, void *context) {
    int64_t any[MAX_MACHINE_ORDER];
    for (int d = 0; d < footprints->grid.order; d++)
        any[d] = -1;
    return class_members_at(footprints, worker, any, local, iteration, scratch, visit, context);
}

bool class_members_at(const Footprints *footprints, const Worker *worker, const int64_t *only, int64_t local,
                      int64_t iteration, Arena *scratch, MemberVisit visit, void *context) {
    Worker member = *worker;
    int free_dims[MAX_MACHINE_ORDER], free_count = 0;
    for (int d = 0; d < footprints->grid.order; d++)
        if (footprints->vars[d] >= 0 && !footprints->related_dims[d]) {
            member.coordinates[d] = max_i64(0, only[d]);
            if (only[d] < 0)
                free_dims[free_count++] = d;
            if (footprints->grid.extents[d] == 0)
                return true;
        }
    for (;;) {
        member.index = grid_index(&footprints->grid, member.coordinates);
        if ((footprints->per_rank == 1 || member.index % footprints->per_rank == local) &&
            footprint_exists(footprints, member.coordinates, iteration, scratch) && !visit(context, &member))
            return false;
        int i = free_count - 1;
        for (; i >= 0 && ++member.coordinates[free_dims[i]] == footprints->grid.extents[free_dims[i]]; i--)
            member.coordinates[free_dims[i]] = 0;
        if (i < 0)
            return true;
    }
}
