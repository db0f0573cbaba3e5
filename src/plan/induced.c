// SPDX-License-Identifier: BSD-3-Clause
// Homes induced by the schedule: a tensor that is placed nowhere lies where it is needed first.
#include "plan/induced.h"

#include "base/integer.h"

// A region that changes step by step, and how many rectangles it may have before they are joined.
typedef struct {
    Region region;
    int64_t most;
} Changing;

typedef struct {
    StatementPlan *plan;
    Changing *pieces; // by rank
    Changing rest;    // what no rank has yet
    Arena *arena;
} Inducing;

// Each time there are twice as many, as it takes quadratic time.
static void join(Changing *changing) {
    enum { FEW = 8 };
    if (changing->region.rects.count <= max_i64(FEW, changing->most))
        return;
    region_coalesce(&changing->region);
    changing->most = 2 * changing->region.rects.count;
}

static Region region_copy(const Region *region, Arena *arena) {
    Region copy = {0};
    for (int64_t i = 0; i < region->rects.count; i++)
        array_push(arena, copy.rects, rect_copy(&region->rects.items[i], arena));
    return copy;
}

// What this rank needs and nobody has had before becomes its own.
static void take(Inducing *at, int64_t rank, const Region *needed, const Region *rest, Arena *scratch) {
    Changing *pieces = &at->pieces[rank];
    for (int64_t i = 0; i < needed->rects.count; i++)
        for (int64_t k = 0; k < rest->rects.count; k++) {
            Rect part;
            if (rect_intersect(&needed->rects.items[i], &rest->rects.items[k], scratch, &part))
                array_push(at->arena, pieces->region.rects, rect_copy(&part, at->arena));
        }
    join(pieces);
}

// A result has one owner for each coordinate; what is read has as many homes as ranks that read it first at
// the same time.
static void induce_transfer(Inducing *at, int transfer) {
    const bool shared = at->plan->spmd->transfers[transfer].kind == TRANSFER_FETCH;
    Walk *walk = walk_create(at->plan, transfer);
    // For what is left after a step, in turns.
    Arena *arenas[] = {arena_create_within(at->arena), arena_create_within(at->arena)};
    Region *rest = &at->rest.region;
    while (rest->rects.count && walk_needs(walk)) {
        Arena *arena = arenas[walk->step % 2];
        arena_reset(arena);
        const Region before = *rest;
        *rest = region_copy(&before, arena);
        for (int64_t rank = 0; rank < at->plan->ranks; rank++) {
            const Region *needed = &walk->needs[rank].demand->region;
            take(at, rank, needed, shared ? &before : rest, arena);
            for (int64_t i = 0; i < needed->rects.count; i++)
                region_subtract(rest, &needed->rects.items[i], arena);
        }
        join(&at->rest);
    }
    *rest = region_copy(rest, at->arena);
    arena_free(arenas[0]);
    arena_free(arenas[1]);
    walk_free(walk);
}

void induce_home(StatementPlan *plan, Home *home, const Tensor *tensor, const int64_t *extents,
                 Arena *arena) {
    const Rect whole = rect_whole(tensor->order, extents);
    Inducing at = {.plan = plan, .pieces = arena_array(arena, Changing, plan->ranks), .arena = arena};
    if (!rect_is_empty(&whole))
        array_push(arena, at.rest.region.rects, whole);
    for (int t = 0; t < plan->spmd->transfer_count && tensor->order > 0; t++)
        if (plan->spmd->transfers[t].access->tensor == tensor)
            induce_transfer(&at, t);
    // What no iteration touches still has to be somewhere; a scalar is everywhere.
    Region *pieces = arena_array(arena, Region, plan->ranks);
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        pieces[rank] = at.pieces[rank].region;
        for (int64_t i = 0; (rank == 0 || tensor->order == 0) && i < at.rest.region.rects.count; i++)
            array_push(arena, pieces[rank].rects, at.rest.region.rects.items[i]);
    }
    home_from_table(home, tensor, extents, pieces, plan->ranks, arena);
}
