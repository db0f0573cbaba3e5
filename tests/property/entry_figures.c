// SPDX-License-Identifier: BSD-3-Clause
#include "entry_figures.h"

#include "lang/program.h"
#include "runtime/load.h"

#include <inttypes.h>
#include <string.h>

// Gives the structures the entries that the first rank has of a tensor.
static void put(const EntryFiguresCheck *check, const Tensor *tensor) {
    const Entries *from = &check->whole->entries[tensor->id];
    Entries copy = {.type = tensor->type, .order = tensor->order, .count = from->count};
    memcpy(copy.extents, check->plan->homes[tensor->id].extents, sizeof copy.extents);
    const char *why = entries_allocate(&copy);
    for (int d = 0; d < copy.order && !why && copy.count > 0; d++)
        memcpy(copy.coordinates[d], from->coordinates[d], sizeof(int64_t) * (size_t)copy.count);
    if (!why && copy.count > 0)
        memcpy(copy.values, from->values, type_info(copy.type)->size * (size_t)copy.count);
    if (!why)
        why = structures_put(check->structures, tensor->id, &copy);
    entries_free(&copy);
    if (why)
        trial_fail(check->trial, TRIAL_PREPARED, "%s cannot be planned: %s", tensor->name, why);
}

EntryFiguresCheck entry_figures_begin(Trial *trial, const char *way, const Plan *plan,
                                      Storage *const *storages, const Whole *whole, MPI_Comm comm) {
    const Program *program = trial->pipeline->program;
    int rank;
    MPI_Comm_rank(comm, &rank);
    EntryFiguresCheck check = {trial, way, plan, storages, whole, comm, NULL};
    if (rank > 0)
        return check;
    check.structures = structures_create(plan, INT64_MAX, trial->arena);
    for (int t = 0; t < program->tensor_count; t++)
        if (tensor_is_sparse(program->tensors[t]) && program_is_input(program, program->tensors[t]) &&
            storages[t])
            put(&check, program->tensors[t]);
    return check;
}

static void compare(const EntryFiguresCheck *check, const Tensor *tensor, const char *what,
                    const int64_t *planned, const int64_t *counted) {
    for (int64_t rank = 0; rank < check->plan->options.ranks; rank++)
        if (planned[rank] != counted[rank])
            trial_fail(check->trial, TRIAL_COUNTED,
                       "%s has %" PRId64 " %s on rank %" PRId64 ", planned %" PRId64 " from its entries, %s",
                       tensor->name, counted[rank], what, rank, planned[rank], check->way);
}

static void compare_moved(const EntryFiguresCheck *check, const StatementPlan *plan, int transfer,
                          const distal_execution *execution) {
    const Tensor *tensor = plan->spmd->transfers[transfer].access->tensor;
    int64_t *counted = arena_array(check->trial->arena, int64_t, 4 * plan->ranks);
    const bool counts = execution_gather_entries(execution, transfer, plan->ranks, counted);
    const EntryFigures *planned = check->structures ? structures_moved(check->structures, transfer) : NULL;
    if (!planned)
        return;
    if (!counts) {
        trial_fail(check->trial, TRIAL_COUNTED, "%s moves nothing for entries, %s", tensor->name, check->way);
        return;
    }
    const EntryFigures figures = entry_figures(counted, plan->ranks);
    compare(check, tensor, "elements to move", planned->elements, figures.elements);
    compare(check, tensor, "messages", planned->messages, figures.messages);
    compare(check, tensor, "bytes of structure", planned->structure_bytes, figures.structure_bytes);
    compare(check, tensor, "bytes of buffers", planned->buffer_bytes, figures.buffer_bytes);
}

static void compare_stored(const EntryFiguresCheck *check) {
    Diagnostics *diagnostics = diagnostics_create(check->trial->arena, check->trial->pipeline->source);
    const int64_t ranks = check->plan->options.ranks;
    int64_t *counted = arena_array(check->trial->arena, int64_t, 2 * ranks);
    for (int t = 0; t < check->plan->tensor_count; t++) {
        const Tensor *tensor = check->plan->tensors[t];
        if (!tensor_is_sparse(tensor) || !check->storages[t] ||
            !storage_gather_counts(check->storages, 1, &t, ranks, check->comm, counted, diagnostics) ||
            !check->structures)
            continue;
        const StoredFigures planned = structures_stored(check->structures, t);
        if (!planned.entries)
            continue;
        compare(check, tensor, "entries", planned.entries, counted);
        compare(check, tensor, "bytes at home", planned.bytes, counted + ranks);
    }
}

void entry_figures_compare(const EntryFiguresCheck *check, int statement, const distal_execution *execution) {
    const StatementPlan *plan = check->plan->statements[statement];
    const Tensor *tensor;
    const char *why = check->structures ? structures_execute(check->structures, statement, &tensor) : NULL;
    if (why)
        trial_fail(check->trial, TRIAL_PREPARED, "%s cannot be planned: %s", tensor->name, why);
    for (int t = 0; t < plan->spmd->transfer_count; t++)
        compare_moved(check, plan, t, execution);
}

void entry_figures_finish(const EntryFiguresCheck *check, int statement) {
    const Tensor *target = check->plan->statements[statement]->target;
    if (check->structures && tensor_is_sparse(target) &&
        !structures_stored(check->structures, target->id).entries)
        put(check, target);
}

void entry_figures_end(const EntryFiguresCheck *check) {
    compare_stored(check);
    if (check->structures)
        structures_free(check->structures);
}
