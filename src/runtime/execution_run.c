// SPDX-License-Identifier: BSD-3-Clause
// Running an execution: entries move before the kernel and after it; meanwhile the kernel makes the calls of
// distal_kernel.h.
#include "runtime/execution_data.h"

#include <omp.h>

static void count_traffic(distal_execution *execution, int transfer) {
    CallScope *scope = &execution->transfers[transfer].scope;
    EntryTraffic traffic;
    if (!execution_entry_traffic(execution, transfer, &traffic))
        return;
    scope->bytes += traffic.cost.elements * (int64_t)type_info(scope->storage->type)->size;
    scope->messages += traffic.cost.messages;
}

void execution_reset(distal_execution *execution) {
    for (int t = 0; t < execution->transfer_count; t++)
        transfer_reset(&execution->transfers[t]);
}

static void run_stage(distal_execution *execution, distal_kernel_function kernel, const int64_t *params) {
    const ExecutionStage *stage = execution_stage(execution);
    for (int t = 0; t < execution->transfer_count; t++)
        if (execution->copies[t] && execution_is_current(execution, t)) {
            entry_copy_refresh(execution->copies[t]);
            count_traffic(execution, t);
        }
    if (stage->result_home)
        result_home_begin(stage->result_home);
    if (!execution->converts)
        kernel(execution, params);
    if (stage->result_home) {
        result_home_finish(stage->result_home);
        count_traffic(execution, stage->result_transfer);
    }
}

void execution_run(distal_execution *execution, distal_kernel_function kernel, const int64_t *params) {
    for (int i = 0; i < execution->zeroed_count; i++)
        storage_zero(execution->zeroed[i]);
    execution_reset(execution);
    for (execution->stage = 0; execution->stage < execution->stage_count; execution->stage++)
        run_stage(execution, kernel, params);
}

int distal_stage(const distal_execution *execution) {
    return execution->stage;
}

int64_t execution_bytes(const distal_execution *execution, int transfer) {
    return execution->transfers[transfer].scope.bytes;
}

int64_t execution_messages(const distal_execution *execution, int transfer) {
    return execution->transfers[transfer].scope.messages;
}

int64_t distal_processor_count(const distal_execution *execution) {
    return execution->per_rank;
}

const int64_t *distal_coordinates(const distal_execution *execution, int64_t index) {
    return &execution->values[index * execution->value_count];
}

int distal_takes_part(const distal_execution *execution, int64_t index) {
    return index < execution->processors;
}

void *distal_space(const distal_execution *execution) {
    return execution->space;
}

int distal_workspace_threads(const distal_execution *execution) {
    const int now = omp_get_max_threads();
    return now < execution->threads ? now : execution->threads;
}

void *distal_workspace(const distal_execution *execution, int workspace, int thread) {
    return execution->rows[workspace] + thread * execution->row_bytes[workspace];
}

void distal_append(distal_execution *execution, int transfer, const int64_t *coordinates) {
    (void)transfer; // that of what the stage writes
    result_append(&execution_stage(execution)->result, coordinates);
}

distal_list *distal_begin_portion(distal_execution *execution, int transfer, int64_t portion) {
    (void)transfer;
    return appender_begin(execution_stage(execution)->result.appender, portion);
}

void distal_end_portion(distal_execution *execution, int transfer, int64_t portion) {
    (void)transfer;
    appender_end(execution_stage(execution)->result.appender, portion);
}

distal_set *distal_row_set(distal_execution *execution, int transfer) {
    (void)transfer;
    return appender_set(execution_stage(execution)->result.appender);
}

void distal_start(distal_execution *execution, int transfer) {
    transfer_start(&execution->transfers[transfer]);
}

const distal_view *distal_wait(distal_execution *execution, int transfer) {
    transfer_wait(&execution->transfers[transfer]);
    return &execution->transfers[transfer].exposed;
}

const distal_view *distal_fetch(distal_execution *execution, int transfer) {
    transfer_fetch(&execution->transfers[transfer]);
    return &execution->transfers[transfer].exposed;
}

const distal_view *distal_accumulate(distal_execution *execution, int transfer) {
    transfer_accumulate(&execution->transfers[transfer]);
    return &execution->transfers[transfer].exposed;
}

void distal_reduce(distal_execution *execution, int transfer) {
    transfer_reduce(&execution->transfers[transfer]);
}

int distal_thread_count(const distal_execution *execution, int transfer) {
    const int most = execution->transfers[transfer].copies.count + 1, now = omp_get_max_threads();
    return now < most ? now : most;
}

void *distal_thread_copy(distal_execution *execution, int transfer, int thread) {
    TransferState *state = &execution->transfers[transfer];
    return copies_take(&state->copies, &state->scope.view, thread);
}

void distal_merge_copies(distal_execution *execution, int transfer) {
    TransferState *state = &execution->transfers[transfer];
    copies_merge(&state->copies, &state->scope.view);
}
