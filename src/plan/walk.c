// SPDX-License-Identifier: BSD-3-Clause
#include "plan/walk.h"

#include <string.h>

// The walk and what it keeps from step to step.
typedef struct {
    Walk walk;
    Arena *arena;      // as long as the walk
    Arena *step_arena; // messages of one step
    const Home *home;
    Need *needs[2]; // this step's and the one before; they change places
    Region *missing;
    BoxArray boxes;
    bool active[MAX_VARS];
    int64_t turns, steps;
} Walker;

int64_t walk_steps(const StatementPlan *plan, const Transfer *transfer) {
    int64_t steps = plan->per_rank;
    for (int i = 0; i < transfer->loop_count; i++)
        steps *= provenance_extent(plan->provenance, transfer->loops[i]);
    return steps;
}

Walk *walk_create(StatementPlan *plan, int transfer) {
    Arena *arena = arena_create(), *step_arena = arena_create();
    if (!arena || !step_arena) {
        arena_free(arena);
        arena_free(step_arena);
        return NULL;
    }
    // Memory that runs out in the walk ends what the plan is part of.
    jmp_buf *escape = arena_set_escape(plan->arena, NULL);
    arena_set_escape(plan->arena, escape);
    arena_set_escape(arena, escape);
    arena_set_escape(step_arena, escape);
    Walker *walker = arena_new(arena, Walker);
    *walker =
        (Walker){.walk = {.plan = plan, .transfer = &plan->spmd->transfers[transfer], .step = -1},
                 .arena = arena,
                 .step_arena = step_arena,
                 .home = &plan->homes[plan->spmd->transfers[transfer].access->tensor->id],
                 .needs = {arena_array(arena, Need, plan->ranks), arena_array(arena, Need, plan->ranks)},
                 .missing = arena_array(arena, Region, plan->ranks)};
    const Nest nest = cin_nest(plan->spmd->cin, walker->walk.transfer->nest);
    provenance_active(plan->provenance, nest.loops, nest.loop_count, walker->active);
    walker->steps = walk_steps(plan, walker->walk.transfer);
    walker->turns = walker->steps / plan->per_rank;
    return &walker->walk;
}

// The coordinates of the processor that `rank` runs in this step become the values of distributed variables;
// false where it has no such processor or the nest leaves it out.
static bool fix_coordinates(const Walker *walker, int64_t rank, bool *fixed, int64_t *value) {
    const StatementPlan *plan = walker->walk.plan;
    const SpmdNest *nest = &plan->spmd->nests[walker->walk.transfer->nest];
    int64_t local = walker->walk.step / walker->turns, processor = rank * plan->per_rank + local;
    if (processor >= plan->processors)
        return false;
    int64_t coordinates[MAX_MACHINE_ORDER];
    grid_coordinates(&plan->grid, processor, coordinates);
    for (int d = 0; d < plan->spmd->dim_count; d++) {
        int var = nest->coordinates[d];
        if (var < 0) {
            int64_t only;
            if (!int_eval(nest->fixed[d], plan->params, NULL, &only) || coordinates[d] != only)
                return false;
        } else {
            fixed[var] = true;
            value[var] = coordinates[d];
        }
    }
    return true;
}

static void find_need(Walker *walker, int64_t rank, const bool *loops_fixed, const int64_t *loops_value) {
    const StatementPlan *plan = walker->walk.plan;
    Need *need = &walker->needs[0][rank];
    need->region.rects.count = 0;
    need->piece = -1;
    need->kept = false;
    bool fixed[MAX_VARS];
    int64_t value[MAX_VARS];
    memcpy(fixed, loops_fixed, sizeof(bool) * (size_t)plan->spmd->cin->var_count);
    memcpy(value, loops_value, sizeof(int64_t) * (size_t)plan->spmd->cin->var_count);
    if (!fix_coordinates(walker, rank, fixed, value))
        return;
    walker->boxes.count = 0;
    provenance_boxes(plan->provenance, walker->active, fixed, value, walker->arena, &walker->boxes);
    provenance_region(&walker->boxes, walker->walk.transfer->access, walker->arena, &need->region);
    if (need->region.rects.count)
        need->hull = region_hull(&need->region);
}

bool walk_needs(Walk *walk) {
    Walker *walker = (Walker *)walk;
    const Transfer *transfer = walk->transfer;
    const StatementPlan *plan = walk->plan;
    if (++walk->step >= walker->steps)
        return false;
    Need *before = walker->needs[0];
    walker->needs[0] = walker->needs[1];
    walker->needs[1] = before;
    walk->needs = walker->needs[0];
    walk->previous = before;
    bool fixed[MAX_VARS] = {0};
    int64_t value[MAX_VARS] = {0};
    int64_t turn = walk->step % walker->turns;
    for (int i = transfer->loop_count - 1; i >= 0; i--) {
        int64_t extent = provenance_extent(plan->provenance, transfer->loops[i]);
        fixed[transfer->loops[i]] = true;
        value[transfer->loops[i]] = turn % extent;
        turn /= extent;
    }
    for (int64_t rank = 0; rank < plan->ranks; rank++)
        find_need(walker, rank, fixed, value);
    return true;
}

static void fetch(Walker *walker) {
    Walk *walk = &walker->walk;
    for (int64_t rank = 0; rank < walk->plan->ranks; rank++) {
        Need *need = &walker->needs[0][rank];
        const Need *before = &walker->needs[1][rank];
        Region *missing = &walker->missing[rank];
        *missing = (Region){0};
        if (need->region.rects.count == 0)
            continue;
        if (need->region.rects.count == 1)
            need->piece = home_piece_with(walker->home, rank, &need->hull);
        need->kept = need->piece < 0 && walk->step > 0 && before->piece < 0 &&
                     region_equal(&need->region, &before->region);
        if (need->piece >= 0 || need->kept)
            continue;
        for (int64_t i = 0; i < need->region.rects.count; i++)
            array_push(walker->step_arena, missing->rects, need->region.rects.items[i]);
        const RectArray *own = &walker->home->pieces[rank].rects;
        for (int64_t i = 0; i < own->count; i++)
            region_subtract(missing, &own->items[i], walker->step_arena);
    }
    Exchange exchange = {walk, walker->home, walker->missing, walker->step_arena};
    for (int i = 0; patterns[i]; i++)
        patterns[i]->serve(&exchange);
}

static void reduce(Walker *walker) {
    Walk *walk = &walker->walk;
    for (int64_t rank = 0; rank < walk->plan->ranks; rank++) {
        Need *need = &walker->needs[0][rank];
        // Where a coordinate has several homes, all of them must get the sum: then nobody adds in place.
        if (need->region.rects.count == 1 && !walker->home->replicated)
            need->piece = home_piece_with(walker->home, rank, &need->hull);
    }
    combine(walk, walker->home, walker->step_arena);
}

bool walk_next(Walk *walk) {
    Walker *walker = (Walker *)walk;
    arena_reset(walker->step_arena);
    memset(&walk->messages, 0, sizeof walk->messages);
    memset(&walk->combinations, 0, sizeof walk->combinations);
    if (!walk_needs(walk))
        return false;
    if (walk->transfer->kind == TRANSFER_FETCH)
        fetch(walker);
    else
        reduce(walker);
    return true;
}

void walk_free(Walk *walk) {
    if (!walk)
        return;
    Walker *walker = (Walker *)walk;
    arena_free(walker->step_arena);
    arena_free(walker->arena); // the walker itself lies in it
}
