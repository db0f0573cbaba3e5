// SPDX-License-Identifier: BSD-3-Clause
// Shift: a rank takes over the piece that another rank used in the step before, as in systolic algorithms
// (DISTAL, figure 8b). What is needed now is matched with what everyone needed then; no guess about
// neighbours in the grid.
#include "plan/pattern.h"

#include "base/integer.h"

#include <string.h>

// How many levels of a hierarchical machine two ranks share, from the outermost on: those of one node are
// nearer to each other than to those of the next.
static int shared_levels(const StatementPlan *plan, int64_t a, int64_t b) {
    const Machine *machine = plan->spmd->dim_count ? plan->spmd->dims[0].machine : NULL;
    int64_t part = plan->processors; // in numbers that follow each other
    int shared = 0;
    for (int l = 0; machine && l + 1 < machine->level_count; l++, shared++) {
        for (int d = 0; d < machine->levels[l].order; d++)
            part /= plan->grid.extents[machine->levels[l].first + d];
        if (a * plan->per_rank / part != b * plan->per_rank / part)
            break;
    }
    return shared;
}

// Of two ranks that have what the target needs, the nearer one; else the one that has sent less in this step;
// else the next one in cyclic order, which differs from target to target.
static bool is_better(const StatementPlan *plan, const int64_t *sent, int64_t target, int64_t rank,
                      int64_t than) {
    const int shared = shared_levels(plan, rank, target), shared_than = shared_levels(plan, than, target);
    if (shared != shared_than)
        return shared > shared_than;
    if (sent[rank] != sent[than])
        return sent[rank] < sent[than];
    return floor_mod(rank - target, plan->ranks) < floor_mod(than - target, plan->ranks);
}

static void serve(Exchange *exchange) {
    const Walk *walk = exchange->walk;
    const int64_t ranks = walk->plan->ranks;
    if (walk->step == 0 || (walk->plan->options.without & OPERATION_BIT(OPERATION_SHIFT)))
        return;
    // Chains of ranks by the hash of what they used before.
    int64_t buckets = 16;
    while (buckets < 2 * ranks)
        buckets *= 2;
    int64_t *head = arena_array(exchange->arena, int64_t, buckets); // rank + 1, 0: none
    int64_t *next = arena_array(exchange->arena, int64_t, ranks);
    int64_t *sent = arena_array(exchange->arena, int64_t, ranks);
    for (int64_t rank = ranks - 1; rank >= 0; rank--) {
        if (walk->previous[rank].demand->region.rects.count == 0)
            continue;
        uint64_t bucket = walk->previous[rank].demand->hash & (uint64_t)(buckets - 1);
        next[rank] = head[bucket];
        head[bucket] = rank + 1;
    }
    for (int64_t target = 0; target < ranks; target++) {
        Region *missing = &exchange->missing[target];
        if (missing->rects.count == 0)
            continue;
        const Demand *needed = walk->needs[target].demand;
        int64_t source = -1;
        for (int64_t at = head[needed->hash & (uint64_t)(buckets - 1)]; at; at = next[at - 1]) {
            int64_t rank = at - 1;
            const Demand *used = walk->previous[rank].demand;
            if (rank == target || used->hash != needed->hash || !region_equal(&used->region, &needed->region))
                continue;
            if (source < 0 || is_better(walk->plan, sent, target, rank, source))
                source = rank;
        }
        if (source < 0)
            continue;
        sent[source]++;
        for (int64_t i = 0; i < missing->rects.count; i++)
            exchange_send(exchange, source, target, true, &missing->rects.items[i]);
        missing->rects.count = 0;
    }
}

const Pattern pattern_shift = {PATTERN_SHIFT, serve};
