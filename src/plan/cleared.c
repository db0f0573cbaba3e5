// SPDX-License-Identifier: BSD-3-Clause
// Which homes a rank sets to zero, or another identity, before it executes its parts of a statement: not
// those that its nests store anyway, each element once.
#include "plan/plan.h"

// Whether each step of a reduction is computed at home, and no partial results of other ranks are added to
// it.
static bool is_in_place(const RankTransfer *part) {
    for (int64_t s = 0; s < part->step_count; s++)
        if ((!part->steps[s].empty && part->steps[s].piece < 0) || part->steps[s].operation_count > 0)
            return false;
    return true;
}

// Homes need not be cleared where the first nest that writes the tensor stores every element in place, by
// itself or as rows, or sets it to zero itself, and partial results of other ranks are not added to them. A
// nest whose sums are empty has no iteration that would do so. Nor is there one for every element where
// statements have windows.
static bool needs_clear(const StatementPlan *plan, int first_nest, const RankTransfer *const *parts) {
    const SpmdNest *nest = &plan->spmd->nests[first_nest];
    const Nest loops = cin_nest(plan->spmd->cin, first_nest);
    const Stage *stage = &plan->spmd->stages[nest->stage];
    const bool stores_rows = stage->stores_rows && stage->target == nest->assign->lhs->tensor;
    for (int t = 0; t < plan->spmd->transfer_count; t++)
        if (parts[t]->covers && plan->spmd->transfers[t].nest == first_nest)
            return false;
    if (assignment_window(plan->spmd->cin->assignment))
        return true;
    if (nest->assign->accumulate &&
        ((nest->zero_depth < 0 && !stores_rows) || plan_points(plan, &loops) == 0))
        return true;
    for (int t = 0; t < plan->spmd->transfer_count; t++)
        if (plan->spmd->transfers[t].kind == TRANSFER_REDUCE && plan->spmd->transfers[t].nest == first_nest &&
            !is_in_place(parts[t]))
            return true;
    return false;
}

// What a nest stores, each element once, in homes in place; nothing where that is not known without listing
// it.
static Region stored_in_place(const StatementPlan *plan, int nest, int64_t rank,
                              const RankTransfer *const *parts) {
    Region stored = {0};
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Transfer *transfer = &plan->spmd->transfers[t];
        if (transfer->kind != TRANSFER_REDUCE || transfer->nest != nest)
            continue;
        if (plan->spmd->nests[nest].assign->accumulate || !plan->footprints[t]->exact ||
            !is_in_place(parts[t]))
            return (Region){0};
        stored = footprint_of_steps(plan->footprints[t], rank, plan->arena);
    }
    return stored;
}

static bool is_written_before(const Spmd *spmd, int nest) {
    for (int n = 0; n < nest; n++)
        if (spmd->nests[n].assign->lhs->tensor == spmd->nests[nest].assign->lhs->tensor)
            return true;
    return false;
}

static bool is_cleared_in_disk(const StatementPlan *plan, const Tensor *tensor,
                               const RankTransfer *const *parts) {
    bool clears = false;
    for (int t = 0; t < plan->spmd->transfer_count; t++)
        clears = clears || (parts[t]->clears && plan->spmd->transfers[t].access->tensor == tensor);
    return clears;
}

int plan_rank_cleared(const StatementPlan *plan, int64_t rank, const RankTransfer *const *parts,
                      ClearedTensor *cleared) {
    const Spmd *spmd = plan->spmd;
    int count = 0;
    for (int n = 0; n < spmd->nest_count; n++) {
        const Tensor *tensor = spmd->nests[n].assign->lhs->tensor;
        const bool keeps = tensor == plan->target && assignment_reads_target(spmd->cin->assignment);
        const bool in_disk = plan->homes[tensor->id].memory == MEMORY_DISK;
        if (!tensor->around && !keeps && !is_written_before(spmd, n) &&
            (in_disk ? is_cleared_in_disk(plan, tensor, parts) : needs_clear(plan, n, parts)))
            cleared[count++] = (ClearedTensor){tensor, spmd->nests[n].assign->reducer,
                                               stored_in_place(plan, n, rank, parts)};
    }
    return count;
}
