// SPDX-License-Identifier: BSD-3-Clause
// Shift: a rank takes over the piece that another rank used in the step before, as in systolic algorithms
// (DISTAL, figure 8b). What is needed now is matched with what everyone needed then; no guess about
// neighbours in the grid.
#include "plan/pattern.h"

#include "base/integer.h"

#include <string.h>

static void serve(Exchange *exchange) {
    const Walk *walk = exchange->walk;
    const int64_t ranks = walk->plan->ranks;
    if (walk->step == 0 || walk->plan->options.no_shift)
        return;
    // Chains of ranks by the hash of what they used before.
    int64_t buckets = 16;
    while (buckets < 2 * ranks)
        buckets *= 2;
    int64_t *head = arena_array(exchange->arena, int64_t, buckets); // rank + 1, 0: none
    int64_t *next = arena_array(exchange->arena, int64_t, ranks);
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
            // Of several, the next one in cyclic order: they differ from target to target, which spreads the
            // sends.
            if (source < 0 || floor_mod(rank - target, ranks) < floor_mod(source - target, ranks))
                source = rank;
        }
        if (source < 0)
            continue;
        for (int64_t i = 0; i < missing->rects.count; i++)
            exchange_send(exchange, source, target, true, &missing->rects.items[i]);
        missing->rects.count = 0;
    }
}

const Pattern pattern_shift = {PATTERN_SHIFT, serve};
