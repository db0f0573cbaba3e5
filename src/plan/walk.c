// SPDX-License-Identifier: BSD-3-Clause
#include "plan/walk.h"

#include "base/integer.h"
#include "plan/demand.h"

#include <string.h>

// The walk and what it keeps from step to step.
typedef struct {
    Walk walk;
    Arena *arena;      // as long as the walk
    Arena *step_arena; // deliveries of one step
    const Home *home;
    Need *needs[2]; // this step's and the one before; they change places
    Region *missing;
    Demands *demands;
    int64_t turns, steps;
} Walker;

int64_t walk_steps(const StatementPlan *plan, const Transfer *transfer) {
    int64_t steps = plan->per_rank;
    bool fits = true;
    for (int i = 0; i < transfer->loop_count; i++) {
        const int64_t extent = provenance_extent(plan->provenance, transfer->loops[i]);
        if (extent == 0)
            return 0;
        fits = fits && checked_mul(steps, extent, &steps);
    }
    return fits ? steps : INT64_MAX;
}

Walk *walk_create(StatementPlan *plan, int transfer) {
    Arena *arena = arena_create_within(plan->arena);
    Walker *walker = arena_new(arena, Walker);
    *walker =
        (Walker){.walk = {.plan = plan, .transfer = &plan->spmd->transfers[transfer], .step = -1},
                 .arena = arena,
                 .step_arena = arena_create_within(arena),
                 .home = &plan->homes[plan->spmd->transfers[transfer].access->tensor->id],
                 .needs = {arena_array(arena, Need, plan->ranks), arena_array(arena, Need, plan->ranks)},
                 .missing = arena_array(arena, Region, plan->ranks)};
    walker->demands = demands_create(plan, walker->walk.transfer, arena);
    walker->steps = walk_steps(plan, walker->walk.transfer);
    walker->turns = walker->steps / plan->per_rank;
    return &walker->walk;
}

bool walk_needs(Walk *walk) {
    Walker *walker = (Walker *)walk;
    if (++walk->step >= walker->steps)
        return false;
    arena_reset(walker->step_arena);
    Need *before = walker->needs[0];
    walker->needs[0] = walker->needs[1];
    walker->needs[1] = before;
    walk->needs = walker->needs[0];
    walk->previous = before;
    demands_find(walker->demands, walk->step / walker->turns, walk->step % walker->turns, walker->needs[0],
                 walker->step_arena);
    return true;
}

// Whether the buffer of a rank still holds what it needs.
static bool is_kept(const Need *need, const Need *before) {
    return need->piece < 0 && before->piece < 0 && need->demand->hash == before->demand->hash &&
           region_equal(&need->demand->region, &before->demand->region);
}

static void fetch(Walker *walker) {
    Walk *walk = &walker->walk;
    for (int64_t rank = 0; rank < walk->plan->ranks; rank++) {
        Need *need = &walker->needs[0][rank];
        const Region *needed = &need->demand->region;
        Region *missing = &walker->missing[rank];
        *missing = (Region){0};
        need->piece = -1;
        need->kept = false;
        if (needed->rects.count == 0)
            continue;
        if (needed->rects.count == 1)
            need->piece = home_piece_in_place(walker->home, rank, &need->demand->bounds);
        need->kept = walk->step > 0 && is_kept(need, &walker->needs[1][rank]);
        if (need->piece >= 0 || need->kept)
            continue;
        *missing = *needed; // subtraction makes rectangles of its own
        const RectArray *own = &walker->home->pieces[rank].rects;
        for (int64_t i = 0; i < own->count; i++)
            region_subtract(missing, &own->items[i], walker->step_arena);
    }
    patterns_serve(&(Exchange){
        .walk = walk, .home = walker->home, .missing = walker->missing, .arena = walker->step_arena});
}

static void reduce(Walker *walker) {
    Walk *walk = &walker->walk;
    for (int64_t rank = 0; rank < walk->plan->ranks; rank++) {
        Need *need = &walker->needs[0][rank];
        need->piece = -1;
        need->kept = false;
        // Where a coordinate has several homes, all of them must get the sum: then nobody adds in place.
        if (need->demand->region.rects.count == 1 && !walker->home->replicated)
            need->piece = home_piece_in_place(walker->home, rank, &need->demand->bounds);
    }
    combine(walk, walker->home, walker->step_arena);
}

bool walk_next(Walk *walk) {
    Walker *walker = (Walker *)walk;
    memset(&walk->deliveries, 0, sizeof walk->deliveries);
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
    if (walk)
        arena_free(((Walker *)walk)->arena); // the walker itself lies in it
}
