// SPDX-License-Identifier: BSD-3-Clause
// Gather, the general exchange: what a rank lacks comes from whoever has it at home. Right for any placement
// against any schedule, any remainder and any empty rank.
#include "plan/pattern.h"

// The deliveries that were made for the first rank that lacks all of a demand.
typedef struct {
    int64_t first, count;
} Served;

static void serve(Exchange *exchange) {
    Walk *walk = exchange->walk;
    Arena *arena = exchange->arena;
    Served *served = arena_array(arena, Served, walk->plan->ranks); // by demand
    // Among replicas the nearest is taken, so holders depend on who takes.
    const bool same_holders = !exchange->home->replicated;
    HolderArray holders = {0};
    for (int64_t target = 0; target < walk->plan->ranks; target++) {
        Region *missing = &exchange->missing[target];
        const Demand *demand = walk->needs[target].demand;
        if (missing->rects.count == 0)
            continue;
        const bool all = missing->rects.items == demand->region.rects.items;
        Served *before = &served[demand->index];
        if (all && same_holders && before->count > 0) {
            for (int64_t i = before->first; i < before->first + before->count; i++)
                array_push(arena, walk->deliveries.items[i].targets, target);
            missing->rects.count = 0;
            continue;
        }
        const int64_t first = walk->deliveries.count;
        for (int64_t i = 0; i < missing->rects.count; i++) {
            holders.count = 0;
            home_holders(exchange->home, &missing->rects.items[i], target, arena, &holders);
            for (int64_t k = 0; k < holders.count; k++)
                exchange_send(exchange, holders.items[k].rank, target, false, &holders.items[k].part);
        }
        if (all)
            *before = (Served){first, walk->deliveries.count - first};
        missing->rects.count = 0;
    }
}

const Pattern pattern_gather = {PATTERN_GATHER, serve};
