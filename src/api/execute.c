// SPDX-License-Identifier: BSD-3-Clause
// Executes plans: with copies of tensors whose memory kernels do not support, and once operands have other
// structures with those of results found again.
#include "api/plan.h"

#include "runtime/node.h"

static void copy_pieces(const Storage *to, const Storage *from) {
    for (int64_t i = 0; i < to->piece_count; i++)
        piece_copy(&to->pieces[i], &from->pieces[i], &to->pieces[i].rect);
    storage_finish(to);
}

// What the sparse tensors of a plan may take: a result, and copies of operands with other levels.
static void limit_structures(const distal_plan *plan, int64_t limit) {
    for (int t = 0; t < plan->tensor_count; t++)
        if (plan->storages[t])
            plan->storages[t]->limit = limit;
}

// Gives operands and results their structures, and the plan the figures that follow from them. Collective:
// all ranks need it or none does, as structures are replaced by collective calls.
static distal_status find_structure(distal_context *context, void *arguments) {
    distal_plan *plan = arguments;
    const int64_t free_memory = node_free_memory(context->node);
    plan_forget_entries(plan); // a result releases what it had before it gets another structure
    limit_structures(plan, free_memory < 0 ? INT64_MAX : free_memory);
    const bool ok =
        execution_structure(plan->execution, plan->structure, plan->program->params, context->diagnostics);
    limit_structures(plan, INT64_MAX);
    if (ok && plan_find_entries(plan))
        return DISTAL_OK;
    execution_invalidate(plan->execution); // values may change before the next execution
    return DISTAL_FAILED;
}

static distal_status check_execution(distal_context *context, void *arguments) {
    const distal_plan *plan = arguments;
    return execution_check(plan->execution, context->diagnostics) ? DISTAL_OK : DISTAL_FAILED;
}

// A part that communicates and whose status is that of all ranks.
static distal_status execute_part(distal_plan *plan, CallBody part) {
    const distal_status status = call_begin(plan->context, "distal_execute", NULL);
    return status == DISTAL_OK ? call_end(plan->context, call_continue(plan->context, part, plan)) : status;
}

distal_status distal_execute(distal_plan *plan) {
    if (!plan)
        return missing_argument(NULL, "distal_execute", "the plan");
    const distal_status followed = plan->program->balancing.count > 0 ? plan_follow_entries(plan) : DISTAL_OK;
    if (followed != DISTAL_OK)
        return followed;
    device_set_caller_stream(plan->context->gpu_stream);
    for (int t = 0; t < plan->tensor_count; t++) {
        const Use *use = &plan->uses[t];
        if (use->tensor && use->tensor->memory != use->memory)
            return call_end(plan->context,
                            call_local(plan->context, "distal_execute", plan_refuse, use->tensor));
    }
    if (!execution_is_structured(plan->execution) || !plan_entries_are_current(plan)) {
        const distal_status status = execute_part(plan, find_structure);
        if (status != DISTAL_OK)
            return status;
    }
    for (int t = 0; t < plan->tensor_count; t++) {
        const Use *use = &plan->uses[t];
        if (use->tensor && use->copy)
            copy_pieces(use->copy, use->tensor->storage);
    }
    execution_run(plan->execution, plan->function, plan->program->params);
    const Use *target = &plan->uses[plan->statement->target->id];
    if (target->copy)
        copy_pieces(target->tensor->storage, target->copy);
    return execution_may_fail(plan->execution) ? execute_part(plan, check_execution) : DISTAL_OK;
}
