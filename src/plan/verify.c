// SPDX-License-Identifier: BSD-3-Clause
// The verifier of plans: every step of every transfer brings each rank exactly what it needs, from ranks that
// have it.
#include "plan/verify.h"

#include "plan/walk.h"

#include <inttypes.h>

typedef struct {
    StatementPlan *plan;
    const Walk *walk;
    Arena *arena;
    const char **why;
} Verifier;

static bool fail(Verifier *verifier, const char *what, int64_t rank) {
    const Transfer *transfer = verifier->walk->transfer;
    *verifier->why =
        arena_printf(verifier->plan->arena, "transfer %d of %s, step %" PRId64 ", rank %" PRId64 ": %s",
                     transfer->id, transfer->access->tensor->name, verifier->walk->step, rank, what);
    return false;
}

// The memory that a rank works in, a buffer or a piece of its home, is that of the bounding box.
static bool verify_views(Verifier *verifier) {
    for (int64_t rank = 0; rank < verifier->plan->ranks; rank++) {
        const Demand *demand = verifier->walk->needs[rank].demand;
        for (int64_t i = 0; i < demand->region.rects.count; i++)
            if (!rect_contains(&demand->bounds, &demand->region.rects.items[i]))
                return fail(verifier, "needs what its view has no room for", rank);
    }
    return true;
}

static bool verify_source(Verifier *verifier, const Home *home, const Delivery *delivery) {
    const Walk *walk = verifier->walk;
    for (int64_t k = 0; k < delivery->targets.count; k++) {
        if (delivery->source == delivery->targets.items[k])
            return fail(verifier, "sends to itself", delivery->source);
        if (k > 0 && delivery->targets.items[k - 1] >= delivery->targets.items[k])
            return fail(verifier, "sends to targets out of order", delivery->source);
    }
    if (!delivery->from_view)
        return home_piece_with(home, delivery->source, &delivery->rect) >= 0 ||
               fail(verifier, "sends what it has in no piece of its home", delivery->source);
    return (walk->step > 0 &&
            region_contains(&walk->previous[delivery->source].demand->region, &delivery->rect)) ||
           fail(verifier, "sends what it did not use in the step before", delivery->source);
}

static bool verify_fetch(Verifier *verifier, const Home *home) {
    const Walk *walk = verifier->walk;
    for (int64_t i = 0; i < walk->deliveries.count; i++)
        if (!verify_source(verifier, home, &walk->deliveries.items[i]))
            return false;
    for (int64_t rank = 0; rank < verifier->plan->ranks; rank++) {
        const Need *need = &walk->needs[rank];
        Region missing = {0};
        int64_t received = 0;
        const RectArray *needed = &need->demand->region.rects;
        for (int64_t i = 0; i < needed->count && need->piece < 0 && !need->kept; i++)
            array_push(verifier->arena, missing.rects, needed->items[i]);
        for (int64_t i = 0; i < home->pieces[rank].rects.count; i++)
            region_subtract(&missing, &home->pieces[rank].rects.items[i], verifier->arena);
        const int64_t wanted = region_volume(&missing);
        for (int64_t i = 0; i < walk->deliveries.count; i++) {
            const Delivery *delivery = &walk->deliveries.items[i];
            for (int64_t k = 0; k < delivery->targets.count; k++) {
                if (delivery->targets.items[k] != rank)
                    continue;
                received += rect_volume(&delivery->rect);
                region_subtract(&missing, &delivery->rect, verifier->arena);
            }
        }
        if (missing.rects.count)
            return fail(verifier, "does not get all that it needs", rank);
        if (received != wanted)
            return fail(verifier, "gets more than it needs", rank);
    }
    return true;
}

static bool verify_reduce(Verifier *verifier, const Home *home) {
    const Walk *walk = verifier->walk;
    for (int64_t rank = 0; rank < verifier->plan->ranks; rank++) {
        int64_t written = 0, combined = 0;
        if (walk->needs[rank].piece < 0)
            written = region_volume(&walk->needs[rank].demand->region);
        for (int64_t i = 0; i < walk->combinations.count; i++) {
            const Combination *combination = &walk->combinations.items[i];
            for (int64_t k = 0; k < combination->contributor_count; k++)
                if (combination->contributors[k] == rank)
                    combined += rect_volume(&combination->rect);
            for (int64_t k = 0; k < combination->owner_count; k++)
                if (combination->owners[k] == rank && home_piece_with(home, rank, &combination->rect) < 0)
                    return fail(verifier, "owns what it has in no piece of its home", rank);
        }
        if (written != combined)
            return fail(verifier, "what it computed is not what is brought to owners", rank);
    }
    return true;
}

bool plan_verify(StatementPlan *plan, const char **why) {
    Arena *arena = arena_create_within(plan->arena);
    bool fine = true;
    for (int t = 0; t < plan->spmd->transfer_count && fine; t++) {
        const Transfer *transfer = &plan->spmd->transfers[t];
        const Home *home = &plan->homes[transfer->access->tensor->id];
        Walk *walk = walk_create(plan, t);
        Verifier verifier = {plan, walk, arena, why};
        while (fine && walk_next(walk)) {
            fine = verify_views(&verifier) &&
                   (transfer->kind == TRANSFER_FETCH ? verify_fetch(&verifier, home)
                                                     : verify_reduce(&verifier, home));
            arena_reset(arena);
        }
        walk_free(walk);
    }
    arena_free(arena);
    return fine;
}
