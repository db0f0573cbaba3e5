// SPDX-License-Identifier: BSD-3-Clause
#include "plan/rank_entries.h"

#include "base/integer.h"

bool entries_move(const StatementPlan *plan, int transfer) {
    const Footprints *footprints = plan->footprints[transfer];
    const Home *home = &plan->homes[plan->spmd->transfers[transfer].statement_access->tensor->id];
    Arena *scratch = arena_create_within(plan->arena);
    bool moves = false;
    for (int64_t rank = 0; rank < footprints->ranks && !moves; rank++) {
        arena_reset(scratch);
        const Region pieces = home_pieces(home, rank, scratch);
        for (int64_t step = 0; step < footprints->steps && !moves; step++) {
            Worker worker;
            Footprint footprint;
            if (footprint_of_rank(footprints, rank, step, scratch, &worker, &footprint))
                moves = (footprints->kind == TRANSFER_REDUCE && home->replicated) ||
                        region_without(&footprint.region, &pieces, scratch).rects.count > 0;
        }
    }
    arena_free(scratch);
    return moves;
}

const RankTransfer *rank_entries(StatementPlan *plan, int transfer, int64_t rank) {
    const Footprints *footprints = plan->footprints[transfer];
    RankTransfer *result = arena_new(plan->arena, RankTransfer);
    RankStep *steps = arena_array(plan->arena, RankStep, footprints->steps);
    Arena *scratch = arena_create_within(plan->arena);
    for (int64_t step = 0; step < footprints->steps; step++) {
        Worker worker;
        Footprint footprint;
        arena_reset(scratch);
        steps[step].empty = !footprint_of_rank(footprints, rank, step, scratch, &worker, &footprint);
        steps[step].piece = steps[step].empty ? -1 : 0; // the values of all entries of the rank
    }
    arena_free(scratch);
    *result = (RankTransfer){.rank = rank,
                             .transfer = &plan->spmd->transfers[transfer],
                             .step_count = footprints->steps,
                             .steps = steps};
    return result;
}

TransferFigures entries_figures(const StatementPlan *plan, int transfer) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Home *home = &plan->homes[of->statement_access->tensor->id];
    const int64_t size = (int64_t)type_info(of->access->tensor->type)->size;
    const int64_t *none = arena_array(plan->arena, int64_t, plan->ranks);
    int64_t *copies = arena_array(plan->arena, int64_t, plan->ranks);
    for (int64_t rank = 0; rank < plan->ranks && of->copy_limit > 0 && home->stored_entries; rank++)
        copies[rank] = transfer_copy_bytes(of, saturated_mul(home->stored_entries[rank], size));
    return (TransferFigures){.transfer = of,
                             .unknown = plan->moves[transfer],
                             .pattern = !plan->moves[transfer]        ? OPERATION_LOCAL
                                        : of->kind == TRANSFER_REDUCE ? OPERATION_ACCUMULATE
                                                                      : OPERATION_GATHER,
                             .steps = plan->footprints[transfer]->steps,
                             .bytes = none,
                             .messages = none,
                             .structure_bytes = none,
                             .buffer_bytes = none,
                             .copy_bytes = copies};
}
