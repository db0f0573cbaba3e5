// SPDX-License-Identifier: BSD-3-Clause
// Gather, the general exchange: what a rank lacks comes from whoever has it at home. Right for any placement
// against any schedule, any remainder and any empty rank.
#include "plan/pattern.h"

static void serve(Exchange *exchange) {
    HolderArray holders = {0};
    for (int64_t target = 0; target < exchange->walk->plan->ranks; target++) {
        Region *missing = &exchange->missing[target];
        for (int64_t i = 0; i < missing->rects.count; i++) {
            holders.count = 0;
            home_holders(exchange->home, &missing->rects.items[i], target, exchange->arena, &holders);
            for (int64_t k = 0; k < holders.count; k++)
                exchange_send(exchange, holders.items[k].rank, target, false, &holders.items[k].part);
        }
        missing->rects.count = 0;
    }
}

const Pattern pattern_gather = {PATTERN_GATHER, serve};
