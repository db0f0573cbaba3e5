// SPDX-License-Identifier: BSD-3-Clause
// The structures that an execution needs before it runs, stage by stage: of copies of operands, of indexed
// fetches, and of the result or workspace, in this order.
#include "base/integer.h"
#include "runtime/agreement.h"
#include "runtime/execution_data.h"
#include "runtime/load_sparse.h"
#include "runtime/wait.h"

#include <string.h>

static bool lacks_structure(const Storage *storage) {
    return tensor_is_sparse(storage->home->tensor) && !storage->structure;
}

bool execution_is_structured(const distal_execution *execution) {
    if (execution->old && !execution->set_aside && execution->old->structure != execution->updated->structure)
        return false;
    for (int s = 0; s < execution->stage_count; s++) {
        const ExecutionStage *stage = &execution->stages[s];
        for (int i = 0; i < stage->result.operand_count; i++)
            if (lacks_structure(stage->result.operands[i]))
                return false;
        if (!result_is_known(&stage->result) ||
            (stage->result_home && !result_home_is_known(stage->result_home)))
            return false;
    }
    for (int t = 0; t < execution->transfer_count; t++)
        if ((execution->copies[t] && !entry_copy_is_known(execution->copies[t])) ||
            (execution->transfers[t].indexed && !indexed_fetch_is_known(execution->transfers[t].indexed)))
            return false;
    return true;
}

// Operands that nothing has been put in yet have no entries.
static bool begin_operands(void *arguments, Diagnostics *diagnostics) {
    const Result *result = &execution_stage(arguments)->result;
    for (int i = 0; i < result->operand_count; i++)
        if (lacks_structure(result->operands[i]) && !sparse_put_nothing(result->operands[i], diagnostics))
            return false;
    return true;
}

static bool begin_result(void *arguments, Diagnostics *diagnostics) {
    return result_begin(&execution_stage(arguments)->result, diagnostics);
}

static bool finish_result(void *arguments, Diagnostics *diagnostics) {
    distal_execution *execution = arguments;
    bool ok = result_finish(&execution_stage(execution)->result, diagnostics);
    for (int t = 0; ok && t < execution->transfer_count; t++)
        ok = !execution_is_current(execution, t) ||
             transfer_allocate_copies(&execution->transfers[t], diagnostics);
    return ok;
}

static void take(distal_execution *execution, int64_t bytes) {
    execution->taken_bytes = saturated_add(execution->taken_bytes, bytes);
}

// Copies of operands, first those that no other operand indexes, then indexed fetches. Which structures are
// new is the same on all ranks. The memory that new ones take is missing for those that follow, and for
// results; limits do not include what others take.
static bool find_operands(distal_execution *execution, Diagnostics *diagnostics) {
    for (int pass = 0; pass < 2; pass++)
        for (int t = 0; t < execution->transfer_count; t++) {
            EntryCopy *copy = execution->copies[t];
            if (!copy || !execution_is_current(execution, t) || entry_copy_is_indexed(copy) != pass ||
                entry_copy_is_known(copy))
                continue;
            if (!entry_copy_make(copy, execution->taken_bytes, execution->all, diagnostics))
                return false;
            take(execution, entry_copy_bytes(copy));
        }
    for (int t = 0; t < execution->transfer_count; t++) {
        IndexedFetch *fetch = execution->transfers[t].indexed;
        if (!fetch || !execution_is_current(execution, t) || indexed_fetch_is_known(fetch))
            continue;
        if (!indexed_fetch_find(fetch, execution->taken_bytes, execution->all, diagnostics))
            return false;
        take(execution, indexed_fetch_bytes(fetch));
    }
    return true;
}

void execution_set_positions(const distal_execution *execution) {
    for (int64_t p = 0; p < execution->position_part_count; p++) {
        ProcessorPositions *positions = &execution->positions[p];
        Storage *storage = positions->storage;
        if (!execution_is_current(execution, positions->part.transfer) || positions->of == storage->structure)
            continue;
        structure_hold(&positions->of, storage->structure);
        position_part_set(&positions->part,
                          storage->structure && storage->piece_count > 0 ? &storage->stored : NULL,
                          execution->values);
    }
}

// One processor after the other, as entries are in the order of storage for each of them only.
static void append_entries(distal_execution *execution, distal_kernel_function structure,
                           const int64_t *params, Arena *arena) {
    execution_set_positions(execution);
    execution_reset(execution);
    execution->count = 1;
    for (; execution->first < execution->per_rank; execution->first++) {
        structure(execution, params);
        if (execution->per_rank > 1)
            result_end_processor(&execution_stage(execution)->result, arena);
    }
    execution->first = 0;
    execution->count = execution->per_rank;
}

static bool make_result(distal_execution *execution, distal_kernel_function structure, const int64_t *params,
                        Diagnostics *diagnostics) {
    ExecutionStage *stage = execution_stage(execution);
    bool ok = agree_on_part(execution->all, begin_result, execution, diagnostics);
    if (ok && stage->result.kind == RESULT_ASSEMBLED)
        append_entries(execution, structure, params, diagnostics->arena);
    ok = ok && agree_on_part(execution->all, finish_result, execution, diagnostics);
    result_settle(&stage->result, ok);
    return ok;
}

// What the result of a stage takes, where it is computed and at home, beside operands and copies whose
// structure it has.
static int64_t result_bytes(const ExecutionStage *stage) {
    const StoredTensor *stored = &stage->target->stored;
    if (stage->result_home)
        return saturated_add(stored_bytes(stored), result_home_bytes(stage->result_home));
    return stage->result.kind == RESULT_ASSEMBLED ? stored_bytes(stored)
                                                  : stored_bytes(stored) - stored_structure_bytes(stored);
}

// The result, where it is computed and at home, within what is left of the limit of its tensor.
static bool find_result(distal_execution *execution, distal_kernel_function structure, const int64_t *params,
                        Diagnostics *diagnostics) {
    ExecutionStage *stage = execution_stage(execution);
    if (stage->result.kind == RESULT_DENSE)
        return true;
    Storage *target = stage->result.target;
    const int64_t limit = stage->target->limit;
    target->limit = max_i64(limit - execution->taken_bytes, 0);
    bool known = result_is_known(&stage->result);
    bool ok = known || make_result(execution, structure, params, diagnostics);
    if (ok && stage->result_home && !result_home_is_known(stage->result_home)) {
        known = false;
        ok = result_home_make(stage->result_home, execution->all, diagnostics);
    }
    target->limit = limit;
    if (ok && !known)
        take(execution, result_bytes(stage));
    return ok;
}

static bool find_structures(distal_execution *execution, distal_kernel_function structure,
                            const int64_t *params, Diagnostics *diagnostics) {
    return agree_on_part(execution->all, begin_operands, execution, diagnostics) &&
           find_operands(execution, diagnostics) && find_result(execution, structure, params, diagnostics);
}

void execution_invalidate(distal_execution *execution) {
    for (int t = 0; t < execution->copy_count; t++)
        if (execution->copies[t])
            entry_copy_invalidate(execution->copies[t]);
}

// The workspace gets the entries and the values that the result has.
static bool set_aside(void *arguments, Diagnostics *diagnostics) {
    const distal_execution *execution = arguments;
    if (lacks_structure(execution->updated) && !sparse_put_nothing(execution->updated, diagnostics))
        return false;
    return storage_copy_entries(execution->old, execution->updated) ||
           sparse_refuse(execution->old, "not enough memory for its values", diagnostics);
}

static bool put_back(void *arguments, Diagnostics *diagnostics) {
    const distal_execution *execution = arguments;
    return storage_copy_entries(execution->updated, execution->old) ||
           sparse_refuse(execution->updated, "not enough memory for its values", diagnostics);
}

bool execution_replaces(const distal_execution *execution) {
    return execution->old != NULL;
}

bool execution_put_back(distal_execution *execution, Diagnostics *diagnostics) {
    return !execution->old || agree_on_part(execution->all, put_back, execution, diagnostics);
}

bool execution_structure(distal_execution *execution, distal_kernel_function structure, const int64_t *params,
                         Diagnostics *diagnostics) {
    execution->taken_bytes = 0;
    if (execution->old) {
        if (!agree_on_part(execution->all, set_aside, execution, diagnostics))
            return false;
        execution->set_aside = true;
        take(execution,
             stored_bytes(&execution->old->stored) - stored_structure_bytes(&execution->old->stored));
    }
    for (execution->stage = 0; execution->stage < execution->stage_count; execution->stage++)
        if (!find_structures(execution, structure, params, diagnostics)) {
            execution_invalidate(execution);
            execution_put_back(execution, diagnostics);
            execution->set_aside = false;
            return false;
        }
    return true;
}

bool execution_entry_traffic(const distal_execution *execution, int transfer, EntryTraffic *traffic) {
    const TransferState *state = &execution->transfers[transfer];
    if (state->indexed) {
        *traffic =
            (EntryTraffic){indexed_fetch_received(state->indexed), 0, indexed_fetch_buffers(state->indexed)};
        return true;
    }
    if (execution->copies[transfer]) {
        const EntryMove *move = entry_copy_move(execution->copies[transfer]);
        *traffic = (EntryTraffic){move->received, move->structure_bytes_received,
                                  entry_copy_bytes(execution->copies[transfer])};
        return true;
    }
    const ExecutionStage *stage = &execution->stages[state->scope.plan->transfer->stage];
    if (transfer != stage->result_transfer)
        return false;
    const EntryMove *move = result_home_move(stage->result_home);
    *traffic = (EntryTraffic){value_exchange_sent(&move->values), move->structure_bytes_sent,
                              result_home_bytes(stage->result_home)};
    return true;
}

int64_t execution_structure_bytes(const distal_execution *execution, int transfer) {
    EntryTraffic traffic;
    return execution_entry_traffic(execution, transfer, &traffic) ? traffic.structure_bytes : 0;
}

bool execution_gather_entries(const distal_execution *execution, int transfer, int64_t ranks,
                              int64_t *figures) {
    int rank;
    EntryTraffic traffic;
    if (!execution_entry_traffic(execution, transfer, &traffic))
        return false;
    MPI_Comm_rank(execution->all, &rank);
    const int64_t own[] = {traffic.cost.elements, traffic.cost.messages, traffic.structure_bytes,
                           traffic.memory_bytes};
    for (int f = 0; f < 4; f++) {
        int64_t *all = figures + f * ranks;
        memset(all, 0, sizeof *all * (size_t)ranks);
        all[rank] = own[f];
        all_reduce(all, (int)ranks, MPI_INT64_T, MPI_SUM, execution->all);
    }
    return true;
}

void execution_count_entries(const distal_execution *execution, StatementPlan *plan, Arena *arena) {
    const int64_t ranks = plan->ranks;
    int64_t *figures = arena_array(arena, int64_t, 4 * ranks);
    for (int t = 0; t < execution->transfer_count; t++)
        if (execution_gather_entries(execution, t, ranks, figures))
            plan_count_entries(plan, t, entry_figures(figures, ranks));
}
