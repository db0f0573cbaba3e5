// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/execution_parts.h"

#include "plan/neighbours.h"

// Whether entries of a sparse result are computed where they are not at home, or on one of the ranks that
// have them: only the kernel knows which.
static bool result_moves(const StatementPlan *plan) {
    for (int t = 0; t < plan->spmd->transfer_count; t++)
        if (plan->spmd->transfers[t].kind == TRANSFER_REDUCE && plan->moves[t])
            return true;
    return false;
}

// Of a result without elements, kernels skip their leaves: loops over its other modes, which may be long,
// would be outside of the one that has no iteration.
static bool has_elements(const StatementPlan *plan) {
    const Home *home = &plan->homes[plan->target->id];
    const Rect whole = rect_whole(home->order, home->extents);
    return !rect_is_empty(&whole);
}

ExecutionParts execution_parts(StatementPlan *plan, int64_t rank) {
    const int count = plan->spmd->transfer_count;
    const RankTransfer **transfers = arena_array(plan->arena, const RankTransfer *, count);
    for (int t = 0; t < count; t++)
        transfers[t] = neighbours_divert(plan, t, plan_rank_transfer(plan, t, rank));
    ClearedTensor *cleared = arena_array(plan->arena, ClearedTensor, plan->spmd->nest_count);
    const int cleared_count = plan_rank_cleared(plan, rank, transfers, cleared);
    int64_t *row_bytes = arena_array(plan->arena, int64_t, plan->spmd->row_count);
    for (int r = 0; r < plan->spmd->row_count; r++)
        row_bytes[r] = plan_row_bytes(plan, &plan->spmd->rows[r]);
    int64_t *row_counts =
        plan->spmd->on_gpu ? arena_array(plan->arena, int64_t, plan->spmd->row_count) : NULL;
    for (int r = 0; row_counts && r < plan->spmd->row_count; r++)
        row_counts[r] = plan_row_count(plan, &plan->spmd->rows[r]);
    const int value_count = processor_value_count(plan);
    int64_t *values = arena_array(plan->arena, int64_t, plan->per_rank * value_count);
    const PositionPartArray positions = processor_values(plan, rank, values);
    StageParts *stages = arena_array(plan->arena, StageParts, plan->spmd->stage_count);
    for (int s = 0; s < plan->spmd->stage_count; s++) {
        const Stage *stage = &plan->spmd->stages[s];
        stages[s] =
            (StageParts){.result = stage->result,
                         .adds = stage->target == plan->target && plan->spmd->cin->assignment->accumulate,
                         .target_tensor = stage->target,
                         .shared_tensor = stage->shared ? stage->shared->tensor : NULL};
    }
    // The groups last: they are complete once all transfers have been planned.
    return (ExecutionParts){.transfer_count = count,
                            .transfers = transfers,
                            .group_count = plan->groups.count,
                            .groups = plan->groups.items,
                            .processors = has_elements(plan) ? plan->processors : 0,
                            .per_rank = plan->per_rank,
                            .values = values,
                            .value_count = value_count,
                            .position_part_count = positions.count,
                            .position_parts = positions.items,
                            .calls_library = plan->spmd->calls_library,
                            .contracts = plan->spmd->contracts,
                            .row_count = plan->spmd->row_count,
                            .row_bytes = row_bytes,
                            .row_counts = row_counts,
                            .converts = plan->spmd->converts && !result_moves(plan),
                            .cleared_count = cleared_count,
                            .cleared_tensors = cleared,
                            .stage_count = plan->spmd->stage_count,
                            .stages = stages,
                            .old_tensor = assignment_old(plan->spmd->cin->assignment),
                            .plan = plan};
}

void execution_bind(ExecutionParts *parts, const StatementPlan *plan, Storage *const *storages,
                    Arena *arena) {
    Storage **used = arena_array(arena, Storage *, parts->transfer_count);
    for (int t = 0; t < parts->transfer_count; t++)
        used[t] = storages[plan->spmd->transfers[t].access->tensor->id];
    ClearedStorage *cleared = arena_array(arena, ClearedStorage, parts->cleared_count);
    for (int i = 0; i < parts->cleared_count; i++)
        cleared[i] =
            storage_cleared(storages[parts->cleared_tensors[i].tensor->id], parts->cleared_tensors[i].reducer,
                            &parts->cleared_tensors[i].stored, arena);
    parts->storages = used;
    parts->cleared = cleared;
    StageParts *stages = arena_copy(arena, parts->stages, sizeof *stages * (size_t)parts->stage_count);
    for (int s = 0; s < parts->stage_count; s++)
        stages[s].target = storages[stages[s].target_tensor->id];
    parts->stages = stages;
    parts->old = parts->old_tensor ? storages[parts->old_tensor->id] : NULL;
    parts->updated = parts->old_tensor ? storages[parts->old_tensor->old_of->id] : NULL;
}
