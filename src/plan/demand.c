// SPDX-License-Identifier: BSD-3-Clause
#include "plan/demand.h"

#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

// Ranks put into classes by some of the coordinates of the processors that they run.
typedef struct {
    const bool *vars;  // the distributed variables that count
    int64_t *class_of; // by rank; -1: takes no part
    int64_t *member;   // one rank of each class
    int64_t count;
} Classes;

typedef struct {
    int64_t key, rank;
} Keyed;

struct Demands {
    StatementPlan *plan;
    const Transfer *transfer;
    Arena *arena;
    bool active[MAX_VARS];
    bool related[MAX_VARS]; // variables on which the access depends,
    bool rest[MAX_VARS];    // and the others, which say only whether there are iterations
    int64_t local;          // of the classes; -1: none yet
    Classes same_region, same_rest;
    Demand *demands[2]; // by class of same_region; this call's and the one before; they change places
    bool *exists;       // by class of same_rest
    BoxArray boxes;
    Keyed *keyed; // by rank
};

static const Demand nothing;

static Classes classes_create(const bool *vars, int64_t ranks, Arena *arena) {
    return (Classes){vars, arena_array(arena, int64_t, ranks), arena_array(arena, int64_t, ranks), 0};
}

Demands *demands_create(StatementPlan *plan, const Transfer *transfer, Arena *arena) {
    const int64_t ranks = plan->ranks;
    Demands *demands = arena_new(arena, Demands);
    *demands = (Demands){.plan = plan,
                         .transfer = transfer,
                         .arena = arena,
                         .local = -1,
                         .same_region = classes_create(demands->related, ranks, arena),
                         .same_rest = classes_create(demands->rest, ranks, arena),
                         .demands = {arena_array(arena, Demand, ranks), arena_array(arena, Demand, ranks)},
                         .exists = arena_array(arena, bool, ranks),
                         .keyed = arena_array(arena, Keyed, ranks)};
    const Nest nest = cin_nest(plan->spmd->cin, transfer->nest);
    provenance_active(plan->provenance, nest.loops, nest.loop_count, demands->active);
    provenance_related(plan->provenance, demands->active, transfer->statement_access, demands->related);
    for (int v = 0; v < MAX_VARS; v++)
        demands->rest[v] = demands->active[v] && !demands->related[v];
    return demands;
}

// False where the rank has no such processor or the nest leaves it out.
static bool find_coordinates(const Demands *demands, int64_t rank, int64_t local, int64_t *coordinates) {
    const StatementPlan *plan = demands->plan;
    const SpmdNest *nest = &plan->spmd->nests[demands->transfer->nest];
    int64_t processor = rank * plan->per_rank + local;
    if (processor >= plan->processors)
        return false;
    grid_coordinates(&plan->grid, processor, coordinates);
    for (int d = 0; d < plan->grid.order; d++) {
        int64_t only;
        if (nest->coordinates[d] < 0 &&
            (!int_eval(nest->fixed[d], plan->params, NULL, &only) || coordinates[d] != only))
            return false;
    }
    return true;
}

static int compare(const void *left, const void *right) {
    const Keyed *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

// The key of a rank is its position in the grid of those dimensions that count.
static void classify(const Demands *demands, int64_t local, Classes *classes) {
    const StatementPlan *plan = demands->plan;
    const SpmdNest *nest = &plan->spmd->nests[demands->transfer->nest];
    int64_t count = 0;
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        int64_t coordinates[MAX_MACHINE_ORDER], key = 0;
        classes->class_of[rank] = -1;
        if (!find_coordinates(demands, rank, local, coordinates))
            continue;
        for (int d = 0; d < plan->grid.order; d++)
            if (nest->coordinates[d] >= 0 && classes->vars[nest->coordinates[d]])
                key = key * plan->grid.extents[d] + coordinates[d];
        demands->keyed[count++] = (Keyed){key, rank};
    }
    qsort(demands->keyed, (size_t)count, sizeof(Keyed), compare);
    classes->count = 0;
    for (int64_t i = 0; i < count; i++) {
        const Keyed *keyed = &demands->keyed[i];
        if (i == 0 || keyed->key != keyed[-1].key)
            classes->member[classes->count++] = keyed->rank;
        classes->class_of[keyed->rank] = classes->count - 1;
    }
}

static uint64_t hash_region(const Region *region) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < region->rects.count; i++) {
        const Rect *rect = &region->rects.items[i];
        for (int d = 0; d < rect->order; d++) {
            hash = (hash ^ (uint64_t)rect->lo[d]) * 0x100000001b3u;
            hash = (hash ^ (uint64_t)rect->hi[d]) * 0x100000001b3u;
        }
    }
    return hash ^ hash >> 29;
}

// The loops around the transfer have one value each.
static void fix_loops(const Demands *demands, int64_t turn, LoopRanges *ranges) {
    const Transfer *transfer = demands->transfer;
    for (int i = transfer->loop_count - 1; i >= 0; i--) {
        int64_t extent = provenance_extent(demands->plan->provenance, transfer->loops[i]);
        ranges_fix(ranges, transfer->loops[i], turn % extent);
        turn /= extent;
    }
}

// What the ranks of the class of `member` reach of the variables in `active`.
static void find_boxes(Demands *demands, const bool *active, int64_t member, LoopRanges *ranges,
                       Arena *scratch) {
    const StatementPlan *plan = demands->plan;
    const SpmdNest *nest = &plan->spmd->nests[demands->transfer->nest];
    int64_t coordinates[MAX_MACHINE_ORDER];
    demands->boxes.count = 0;
    if (!find_coordinates(demands, member, demands->local, coordinates))
        return;
    for (int d = 0; d < plan->grid.order; d++) {
        if (nest->coordinates[d] >= 0)
            ranges_fix(ranges, nest->coordinates[d], coordinates[d]);
    }
    provenance_boxes(plan->provenance, active, ranges, scratch, &demands->boxes);
}

// The periodic where it lasts: that of the step before where it was the same.
static const Periodic *keep(const Demands *demands, const Periodic *found, const Periodic *before) {
    if (!found || periodic_equal(found, before))
        return found ? before : NULL;
    return periodic_copy(found, demands->arena);
}

static Rect keep_rect(const Demands *demands, const Rect *found, const RectArray *before, int64_t index) {
    Rect kept = *found;
    for (int m = 0; m < found->order; m++)
        kept.periodic[m] = keep(demands, found->periodic[m],
                                index < before->count ? before->items[index].periodic[m] : NULL);
    return kept;
}

// Around all boxes: what the values of the variables that locate elements give, from the first to the last.
static void find_bounding_box(const Demands *demands, Demand *demand, Arena *scratch) {
    const Transfer *transfer = demands->transfer;
    const Rect before = demands->demands[1][demand->index].bounds;
    const Box *boxes = demands->boxes.items;
    demand->bounds.order = transfer->access->tensor->order;
    for (int m = 0; m < demand->bounds.order; m++) {
        const int located = transfer->access->vars[m];
        PositionSet values = {boxes[0].values[located].lo, boxes[0].values[located].hi, NULL};
        for (int64_t b = 1; b < demands->boxes.count; b++) {
            values.lo = min_i64(values.lo, boxes[b].values[located].lo);
            values.hi = max_i64(values.hi, boxes[b].values[located].hi);
        }
        demand->first[m] = values.lo;
        PositionSet mode = provenance_image(demands->plan->provenance, boxes,
                                            transfer->statement_access->vars[m], located, values, scratch);
        mode.periodic = keep(demands, mode.periodic, before.periodic[m]);
        rect_set_mode(&demand->bounds, m, mode);
    }
}

static void find_demand(Demands *demands, int64_t c, LoopRanges *ranges, Arena *scratch) {
    Demand *demand = &demands->demands[0][c];
    const RectArray *before = &demands->demands[1][c].region.rects;
    Region found = {0};
    find_boxes(demands, demands->related, demands->same_region.member[c], ranges, scratch);
    demand->index = c;
    demand->region.rects.count = 0;
    if (demands->boxes.count == 0)
        return;
    provenance_region(&demands->boxes, demands->transfer->statement_access, scratch, &found);
    for (int64_t i = 0; i < found.rects.count; i++)
        array_push(demands->arena, demand->region.rects,
                   keep_rect(demands, &found.rects.items[i], before, i));
    find_bounding_box(demands, demand, scratch);
    demand->volume = rect_volume(&demand->bounds);
    demand->hash = hash_region(&found);
}

void demands_find(Demands *demands, int64_t local, int64_t turn, Need *needs, Arena *scratch) {
    Classes *same_region = &demands->same_region, *same_rest = &demands->same_rest;
    if (local != demands->local) {
        classify(demands, local, same_region);
        classify(demands, local, same_rest);
        demands->local = local;
    }
    Demand *before = demands->demands[0];
    demands->demands[0] = demands->demands[1];
    demands->demands[1] = before;
    demands->boxes = (BoxArray){0}; // the scratch memory before is gone
    LoopRanges ranges;
    provenance_ranges(demands->plan->provenance, &ranges);
    ranges.asked = access_vars(demands->transfer->statement_access);
    fix_loops(demands, turn, &ranges);
    for (int64_t c = 0; c < same_region->count; c++)
        find_demand(demands, c, &ranges, scratch);
    for (int64_t c = 0; c < same_rest->count; c++) {
        find_boxes(demands, demands->rest, same_rest->member[c], &ranges, scratch);
        demands->exists[c] = demands->boxes.count > 0;
    }
    for (int64_t rank = 0; rank < demands->plan->ranks; rank++) {
        int64_t c = same_region->class_of[rank];
        bool any = c >= 0 && demands->exists[same_rest->class_of[rank]];
        needs[rank].demand = any ? &demands->demands[0][c] : &nothing;
    }
}
