// SPDX-License-Identifier: BSD-3-Clause
// Figures of plans: what is planned, by rank, and what an execution has counted.
#include "api/plan.h"
#include "runtime/load.h"

#include <string.h>

void plan_prepare_entries(distal_plan *plan) {
    const Spmd *spmd = plan->statement->spmd;
    const int64_t ranks = plan->context->ranks;
    PlanEntries *entries = &plan->entries;
    Arena *arena = plan->arena;
    const int count = plan->tensor_count, transfers = spmd->transfer_count;
    *entries = (PlanEntries){.sparse = arena_array(arena, int, count)};
    for (int t = 0; t < count; t++)
        if (plan->storages[t] && tensor_is_sparse(plan->storages[t]->home->tensor))
            entries->sparse[entries->sparse_count++] = t;
    if (entries->sparse_count == 0)
        return;
    entries->moved_arrays = arena_array(arena, int64_t *, transfers);
    entries->moved = arena_array(arena, EntryFigures, transfers);
    entries->known = arena_array(arena, const EntryFigures *, transfers);
    for (int t = 0; t < transfers; t++)
        entries->moved_arrays[t] = arena_array(arena, int64_t, 4 * ranks);
    entries->stored = arena_array(arena, StoredFigures, count);
    entries->counts = arena_array(arena, int64_t, 2 * entries->sparse_count * ranks);
    entries->structures = arena_array(arena, Structure *, count);
}

bool plan_entries_are_current(const distal_plan *plan) {
    const PlanEntries *entries = &plan->entries;
    for (int i = 0; i < entries->sparse_count; i++)
        if (entries->structures[entries->sparse[i]] != plan->storages[entries->sparse[i]]->structure)
            return false;
    return true;
}

bool plan_find_entries(distal_plan *plan) {
    const distal_context *context = plan->context;
    const int64_t ranks = context->ranks;
    PlanEntries *entries = &plan->entries;
    for (int t = 0; t < plan->statement->spmd->transfer_count; t++)
        if (execution_gather_entries(plan->execution, t, ranks, entries->moved_arrays[t])) {
            entries->moved[t] = entry_figures(entries->moved_arrays[t], ranks);
            entries->known[t] = &entries->moved[t];
        }
    if (!storage_gather_counts(plan->storages, entries->sparse_count, entries->sparse, ranks, context->comm,
                               entries->counts, context->diagnostics))
        return false;
    for (int i = 0; i < entries->sparse_count; i++) {
        const int t = entries->sparse[i];
        const int64_t *counts = entries->counts + 2 * i * ranks;
        entries->stored[t] = (StoredFigures){counts, counts + ranks};
        structure_hold(&entries->structures[t], plan->storages[t]->structure);
    }
    plan->figures->tensors = NULL;
    return true;
}

void plan_forget_entries(distal_plan *plan) {
    PlanEntries *entries = &plan->entries;
    for (int t = 0; entries->structures && t < plan->tensor_count; t++)
        structure_hold(&entries->structures[t], NULL);
}

void plan_release_entries(distal_plan *plan) {
    plan_forget_entries(plan);
    plan->entries = (PlanEntries){0};
}

static distal_status refuse_broken(distal_context *context, void *arguments) {
    const distal_plan *plan = arguments;
    return invalid(context,
                   "the plan of '%.60s' is out of date, as it could not be made again for new entries; call "
                   "distal_execute to try again",
                   plan->program->statement->text);
}

static distal_status find_figures(distal_context *context, void *arguments) {
    (void)context;
    distal_plan *plan = arguments;
    const StatementPlan *statement = plan->statement;
    const PlanEntries *entries = &plan->entries;
    if (plan->figures_arena)
        arena_reset(plan->figures_arena);
    else
        plan->figures_arena = arena_create_within(plan->arena);
    Arena *arena = plan->figures_arena;
    const StatementFigures *all = entries->structures
                                      ? plan_figures_with(statement, entries->known, entries->stored, arena)
                                      : plan_figures(statement);
    distal_tensor_figures *tensors = arena_array(arena, distal_tensor_figures, all->tensor_count);
    for (int t = 0; t < all->tensor_count; t++) {
        const TensorFigures *from = &all->tensors[t];
        tensors[t] = (distal_tensor_figures){.tensor = from->tensor->name,
                                             .pattern = from->pattern,
                                             .at = from->at,
                                             .steps = from->steps,
                                             .bytes_received = from->bytes_received,
                                             .messages_received = from->messages_received,
                                             .home_bytes = from->home_bytes,
                                             .buffer_bytes = from->buffer_bytes,
                                             .gpu_buffer_bytes = from->gpu_buffer_bytes};
    }
    *plan->figures = (distal_figures){.ranks = statement->ranks,
                                      .flop = statement->flop,
                                      .tensor_count = all->tensor_count,
                                      .tensors = tensors,
                                      .peak_bytes = all->peak_bytes,
                                      .gpu_peak_bytes = all->gpu_peak_bytes
                                                            ? all->gpu_peak_bytes
                                                            : arena_array(arena, int64_t, statement->ranks),
                                      .plan_seconds = statement->seconds + all->seconds,
                                      .compile_seconds = plan->compile_seconds};
    return DISTAL_OK;
}

distal_status distal_plan_figures(const distal_plan *plan, distal_figures *figures) {
    if (figures)
        *figures = (distal_figures){0};
    if (!plan || !figures)
        return missing_argument(plan ? plan->context : NULL, "distal_plan_figures",
                                plan ? "the place for the figures" : "the plan");
    if (!plan->execution)
        return call_end(plan->context,
                        call_local(plan->context, "distal_plan_figures", refuse_broken, (void *)plan));
    if (!plan->figures->tensors) {
        const distal_status status = call_end(
            plan->context, call_local(plan->context, "distal_plan_figures", find_figures, (void *)plan));
        if (status != DISTAL_OK)
            return status;
    }
    *figures = *plan->figures;
    return DISTAL_OK;
}

typedef struct {
    const distal_plan *plan;
    const char *tensor;
    int64_t bytes, messages;
} CountCall;

static distal_status count(distal_context *context, void *arguments) {
    CountCall *call = arguments;
    const Spmd *spmd = call->plan->statement->spmd;
    if (!check_name(context, "tensor", call->tensor))
        return DISTAL_INVALID;
    bool found = false;
    for (int r = 0; r < spmd->row_count; r++) // which do not move
        found = found || strcmp(spmd->rows[r].tensor->name, call->tensor) == 0;
    for (int t = 0; t < spmd->transfer_count; t++) {
        if (strcmp(spmd->transfers[t].statement_access->tensor->name, call->tensor) != 0)
            continue;
        found = true;
        call->bytes += execution_bytes(call->plan->execution, t);
        call->messages += execution_messages(call->plan->execution, t);
    }
    return found ? DISTAL_OK
                 : invalid(context, "the statement of the plan accesses no tensor '%s'", call->tensor);
}

distal_status distal_plan_counted(const distal_plan *plan, const char *tensor, int64_t *bytes,
                                  int64_t *messages) {
    if (!plan)
        return missing_argument(NULL, "distal_plan_counted", "the plan");
    CountCall call = {.plan = plan, .tensor = tensor};
    distal_status status = call_end(
        plan->context, plan->execution
                           ? call_local(plan->context, "distal_plan_counted", count, &call)
                           : call_local(plan->context, "distal_plan_counted", refuse_broken, (void *)plan));
    if (bytes)
        *bytes = call.bytes;
    if (messages)
        *messages = call.messages;
    return status;
}
