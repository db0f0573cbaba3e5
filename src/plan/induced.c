// SPDX-License-Identifier: BSD-3-Clause
// Homes induced by the schedule: a tensor that is placed nowhere lies where it is needed first.
#include "plan/induced.h"

#include <string.h>

typedef struct {
    StatementPlan *plan;
    Region *pieces; // by rank, growing
    Region *rest;   // what no rank has yet
    Arena *arena;
} Inducing;

// What this rank needs and nobody has had before becomes its own.
static void take(Inducing *at, int64_t rank, const Region *needed, const Region *rest) {
    for (int64_t i = 0; i < needed->rects.count; i++)
        for (int64_t k = 0; k < rest->rects.count; k++) {
            Rect part;
            if (rect_intersect(&needed->rects.items[i], &rest->rects.items[k], at->arena, &part))
                array_push(at->arena, at->pieces[rank].rects, rect_copy(&part, at->arena));
        }
}

// A result has one owner for each coordinate; what is read has as many homes as ranks that read it first at
// the same time.
static void induce_transfer(Inducing *at, int transfer) {
    const bool shared = at->plan->spmd->transfers[transfer].kind == TRANSFER_FETCH;
    Walk *walk = walk_create(at->plan, transfer);
    while (at->rest->rects.count && walk_needs(walk)) {
        const Region before = {
            {arena_copy(at->arena, at->rest->rects.items, sizeof(Rect) * (size_t)at->rest->rects.count),
             at->rest->rects.count, at->rest->rects.count}};
        for (int64_t rank = 0; rank < at->plan->ranks; rank++) {
            const Region *needed = &walk->needs[rank].demand->region;
            take(at, rank, needed, shared ? &before : at->rest);
            for (int64_t i = 0; i < needed->rects.count; i++) {
                const Rect kept = rect_copy(&needed->rects.items[i], at->arena); // the walk forgets its combs
                region_subtract(at->rest, &kept, at->arena);
            }
        }
        for (int64_t rank = 0; rank < at->plan->ranks; rank++)
            region_coalesce(&at->pieces[rank]);
    }
    walk_free(walk);
}

void induce_home(StatementPlan *plan, Home *home, const Tensor *tensor, const int64_t *extents,
                 Arena *arena) {
    Rect whole = rect_whole(tensor->order, extents);
    Region rest = {0};
    if (!rect_is_empty(&whole))
        array_push(arena, rest.rects, whole);
    Inducing at = {plan, arena_array(arena, Region, plan->ranks), &rest, arena};
    for (int t = 0; t < plan->spmd->transfer_count && tensor->order > 0; t++)
        if (plan->spmd->transfers[t].access->tensor == tensor)
            induce_transfer(&at, t);
    // What no iteration touches still has to be somewhere; a scalar is everywhere.
    for (int64_t rank = 0; rank < (tensor->order > 0 ? 1 : plan->ranks); rank++)
        for (int64_t i = 0; i < rest.rects.count; i++)
            array_push(arena, at.pieces[rank].rects, rest.rects.items[i]);
    home_from_table(home, tensor, extents, at.pieces, plan->ranks, arena);
}
