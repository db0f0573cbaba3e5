// SPDX-License-Identifier: BSD-3-Clause
#include "plan/tiles.h"

#include "base/integer.h"

#include <string.h>

enum { MOST_STEPS = 1 << 14 }; // of all transfers of a tensor, which are planned for each kind of tiles

static bool moves(const StatementPlan *plan, int transfer, const Home *home) {
    return plan->spmd->transfers[transfer].access->tensor == home->tensor;
}

static int64_t count_steps(const Plan *plan, const Home *home) {
    int64_t steps = 0;
    for (int s = 0; s < plan->statement_count; s++)
        for (int t = 0; t < plan->statements[s]->spmd->transfer_count; t++)
            if (moves(plan->statements[s], t, home))
                steps = saturated_add(steps, plan->statements[s]->footprints[t]->steps);
    return steps;
}

static int64_t count_runs(const Plan *plan, const Home *home, Arena *scratch) {
    int64_t runs = 0;
    for (int s = 0; s < plan->statement_count; s++)
        for (int t = 0; t < plan->statements[s]->spmd->transfer_count; t++) {
            if (!moves(plan->statements[s], t, home))
                continue;
            arena_reset(scratch);
            const IoCounts io = plan_part_figures(plan->statements[s], t, 0, scratch).io;
            runs = saturated_add(runs, saturated_add(io.reads, io.writes));
        }
    return runs;
}

// The extents of what the first rank uses in the first step of a transfer in sequential loops; false where
// that is nothing.
static bool extents_of_step(const StatementPlan *plan, int transfer, Arena *scratch, int64_t *tile) {
    Worker worker;
    Footprint footprint;
    arena_reset(scratch);
    if (plan->footprints[transfer]->steps < 2 ||
        !footprint_of_rank(plan->footprints[transfer], 0, 0, scratch, &worker, &footprint))
        return false;
    for (int m = 0; m < footprint.bounds.order; m++)
        tile[m] = footprint.bounds.hi[m] - footprint.bounds.lo[m];
    return !rect_is_empty(&footprint.bounds) && footprint.bounds.order > 0;
}

static void choose(const Plan *plan, Home *home, Arena *scratch) {
    int64_t best[MAX_ORDER] = {0}, fewest = count_runs(plan, home, scratch);
    for (int s = 0; s < plan->statement_count; s++)
        for (int t = 0; t < plan->statements[s]->spmd->transfer_count; t++) {
            int64_t tile[MAX_ORDER] = {0};
            if (!moves(plan->statements[s], t, home) ||
                !extents_of_step(plan->statements[s], t, scratch, tile))
                continue;
            memcpy(home->tile, tile, sizeof tile);
            const int64_t runs = count_runs(plan, home, scratch);
            if (runs < fewest) {
                fewest = runs;
                memcpy(best, tile, sizeof best);
            }
        }
    memcpy(home->tile, best, sizeof best);
}

void tiles_choose(Plan *plan) {
    Arena *scratch = arena_create_within(plan->arena);
    for (int t = 0; t < plan->tensor_count; t++)
        if (plan->homes[t].known && plan->homes[t].memory == MEMORY_DISK &&
            plan->homes[t].file == FILE_OF_RANK && count_steps(plan, &plan->homes[t]) <= MOST_STEPS)
            choose(plan, &plan->homes[t], scratch);
    arena_free(scratch);
}
