// SPDX-License-Identifier: BSD-3-Clause
#include "plan/diagonals.h"

#include "base/integer.h"
#include "plan/indexed.h"
#include "plan/planner.h"

#include <inttypes.h>

static bool lists_elements(const StatementPlan *plan, int transfer) {
    return footprints_are_listed(plan->footprints[transfer]) && transfer_indexed_by(plan, transfer) < 0;
}

static bool rank_is_in_place(Planner *planner, int64_t rank, Arena *scratch) {
    const Region own = home_pieces(planner->home, rank, planner->lasting);
    for (int64_t step = 0; step < planner->footprints->steps; step++) {
        Worker worker;
        Footprint footprint;
        arena_reset(scratch);
        if (footprint_of_rank(planner->footprints, rank, step, scratch, &worker, &footprint) &&
            planner_piece(planner, &own, &footprint) < 0)
            return false;
    }
    return true;
}

// Whether each rank has a rectangle around what it uses in each step in a piece at home.
static bool is_in_place(const StatementPlan *plan, int transfer) {
    Planner planner = planner_create(plan, transfer, plan->arena);
    bool in_place = true;
    for (int64_t rank = 0; rank < plan->ranks && in_place; rank++) {
        arena_reset(planner.lasting);
        in_place = rank_is_in_place(&planner, rank, planner.arena);
    }
    planner_free(&planner);
    return in_place;
}

// How many elements a rank lists in all steps, as the plan keeps them; beyond `most`, any number.
static int64_t count_listed(const Footprints *footprints, int64_t rank, int64_t most, Arena *scratch) {
    int64_t count = 0;
    for (int64_t step = 0; step < footprints->steps && count <= most; step++) {
        Worker worker;
        arena_reset(scratch);
        if (footprints_worker(footprints, rank, step_local(footprints, step), &worker))
            count = saturated_add(count, footprint_listed(footprints, worker.coordinates,
                                                          step_iteration(footprints, step), scratch));
    }
    return count;
}

static bool check_listed(const StatementPlan *plan, int transfer, Diagnostics *diagnostics) {
    enum { MOST_LISTED = 1 << 18 };
    const Footprints *footprints = plan->footprints[transfer];
    Arena *scratch = arena_create_within(plan->arena);
    int64_t rank = 0;
    while (rank < plan->ranks && count_listed(footprints, rank, MOST_LISTED, scratch) <= MOST_LISTED)
        rank++;
    arena_free(scratch);
    const Access *access = &footprints->access;
    return rank == plan->ranks ||
           diagnostics_error(diagnostics, access->span,
                             "rank %" PRId64 " computes more than %d separate elements of '%s' not in "
                             "place, and each of them is in the plan; place '%s' in %s so that each "
                             "processor alone has what it computes, or distribute the loops over more "
                             "processors",
                             rank, MOST_LISTED, access->tensor->name, access->tensor->name,
                             memory_kind(plan->spmd->on_gpu ? MEMORY_GPU : MEMORY_HOST)->name);
}

bool diagonals_settle(StatementPlan *plan, Diagnostics *diagnostics) {
    bool fits = true;
    for (int t = 0; t < plan->spmd->transfer_count && fits; t++) {
        const Footprints *listed = plan->footprints[t];
        if (!lists_elements(plan, t))
            continue;
        Footprints *whole = arena_copy(plan->arena, listed, sizeof *listed);
        whole->in_place = true;
        plan->footprints[t] = whole;
        if (is_in_place(plan, t))
            continue;
        plan->footprints[t] = listed;
        fits = !listed->replaces || check_listed(plan, t, diagnostics);
    }
    return fits;
}
