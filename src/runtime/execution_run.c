// SPDX-License-Identifier: BSD-3-Clause
// Running an execution: entries move before the kernel and after it; meanwhile the kernel makes the calls of
// distal_kernel.h.
#include "base/integer.h"
#include "runtime/agreement.h"
#include "runtime/blas_threads.h"
#include "runtime/contraction.h"
#include "runtime/execution_data.h"
#include "runtime/gpu_copies.h"

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
    execution_set_positions(execution);
    if (!execution->converts)
        kernel(execution, params);
    progress_stop(execution->progress);
    if (stage->result_home) {
        result_home_finish(stage->result_home);
        count_traffic(execution, stage->result_transfer);
    }
}

static const DiskFile *file_of(const distal_execution *execution, int transfer) {
    return execution->transfers[transfer].scope.storage->file;
}

static IoCounts io_since(const IoCounts *before, const IoCounts *now) {
    return (IoCounts){now->bytes_read - before->bytes_read, now->bytes_written - before->bytes_written,
                      now->reads - before->reads, now->writes - before->writes};
}

static void count_io(distal_execution *execution, bool ends) {
    for (int t = 0; t < execution->transfer_count; t++) {
        const DiskFile *file = file_of(execution, t);
        bool counted = !file;
        for (int other = 0; other < t; other++)
            counted = counted || file_of(execution, other) == file;
        if (counted)
            continue;
        const IoCounts now = disk_counts(file);
        execution->io[t] = ends ? io_since(&execution->io[t], &now) : now;
    }
}

void execution_run(distal_execution *execution, distal_kernel_function kernel, const int64_t *params) {
    count_io(execution, false);
    if (execution->old && !execution->set_aside) // else it has these values already
        storage_copy_values(execution->old, execution->updated);
    execution->set_aside = false;
    if (execution->gpu_scratch)
        gpu_begin_run();
    for (int i = 0; i < execution->cleared_count; i++)
        storage_reset_parts(&execution->cleared[i]);
    execution_reset(execution);
    if (execution->reading)
        reading_begin(execution->reading);
    for (execution->stage = 0; execution->stage < execution->stage_count; execution->stage++)
        run_stage(execution, kernel, params);
    for (int t = 0; t < execution->transfer_count; t++)
        gpu_finish_result(&execution->transfers[t]);
    if (execution->queue)
        io_queue_wait_all(execution->queue);
    if (execution->gpu_scratch)
        execution->begun = gpu_end_run(execution->in_host, execution->reading != NULL);
    if (execution->reading)
        reading_end(execution->reading);
    count_io(execution, true);
    blas_leave();
}

static bool check_storages(void *arguments, Diagnostics *diagnostics) {
    const distal_execution *execution = arguments;
    for (int t = 0; t < execution->transfer_count; t++)
        if (file_of(execution, t) && !storage_check(execution->transfers[t].scope.storage, diagnostics))
            return false;
    return !execution->gpu_scratch || device_check(diagnostics);
}

bool execution_may_fail(const distal_execution *execution) {
    return execution->in_disk || execution->gpu_scratch;
}

bool execution_check(const distal_execution *execution, Diagnostics *diagnostics) {
    return !execution_may_fail(execution) ||
           agree_on_part(execution->all, check_storages, (void *)execution, diagnostics);
}

IoCounts execution_io(const distal_execution *execution, int transfer) {
    return execution->io[transfer];
}

DeviceCounts execution_copied(const distal_execution *execution, int transfer) {
    return execution->transfers[transfer].scope.copied;
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
    return execution->count;
}

const int64_t *distal_coordinates(const distal_execution *execution, int64_t index) {
    return &execution->values[(execution->first + index) * execution->value_count];
}

int distal_takes_part(const distal_execution *execution, int64_t index) {
    return execution->first + index < execution->processors;
}

distal_contraction_space distal_space(const distal_execution *execution, int thread, int team) {
    return contraction_part(execution->space, execution->threads, thread, team);
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

distal_index_set *distal_row_set(distal_execution *execution, int transfer) {
    (void)transfer;
    return appender_set(execution_stage(execution)->result.appender);
}

void distal_start(distal_execution *execution, int transfer) {
    progress_stop(execution->progress);
    transfer_start(&execution->transfers[transfer]);
}

void distal_start_next(distal_execution *execution, int transfer) {
    progress_stop(execution->progress);
    transfer_start_next(&execution->transfers[transfer]);
    progress_allow(execution->progress);
}

const distal_view *distal_wait(distal_execution *execution, int transfer) {
    progress_stop(execution->progress);
    transfer_wait(&execution->transfers[transfer]);
    return &execution->transfers[transfer].exposed;
}

const distal_view *distal_view_early(distal_execution *execution, int transfer) {
    return &execution->transfers[transfer].exposed;
}

// The rows that need nothing of any transfer of the leaf. One that does not move single elements is waited
// for first.
static void begin_rows(distal_execution *execution, int leaf) {
    enum { BLOCK = 1 << 14, MOST = 8 }; // entries in a block at least; blocks
    IndexedRows rows = {.end = INT64_MAX, .after = INT64_MAX};
    for (int t = 0; t < execution->transfer_count; t++) {
        const TransferState *state = &execution->transfers[t];
        if (state->leaf != leaf)
            continue;
        const IndexedRows all = {0}, *of = state->indexed ? indexed_fetch_rows(state->indexed) : &all;
        rows.begin = max_i64(rows.begin, of->begin);
        rows.end = min_i64(rows.end, of->end);
        rows.first = max_i64(rows.first, of->first);
        rows.after = min_i64(rows.after, of->after);
        rows.entries = max_i64(rows.entries, of->entries);
    }
    if (rows.begin >= rows.end)
        rows.begin = rows.end = 0;
    const int64_t blocks = max_i64(1, min_i64(MOST, rows.entries / BLOCK));
    execution->row_order = (RowOrder){.rows = rows, .blocks = rows.begin < rows.end ? (int)blocks : 0};
}

// Where block `block` of the rows that are computed first begins: rows with entries are divided evenly.
static int64_t block_begin(const RowOrder *order, int block) {
    const IndexedRows *rows = &order->rows;
    const int64_t first = min_i64(max_i64(rows->begin, rows->first), rows->end);
    const int64_t count = max_i64(0, min_i64(rows->end, rows->after) - first);
    return block == 0               ? rows->begin
           : block == order->blocks ? rows->end
                                    : first + distal_part_begin(count, order->blocks, block);
}

static void wait_for_rows(distal_execution *execution, int leaf, bool end) {
    for (int t = 0; t < execution->transfer_count; t++) {
        TransferState *state = &execution->transfers[t];
        if (state->leaf != leaf)
            continue;
        if (end)
            transfer_wait(state);
        else if (state->indexed)
            indexed_fetch_progress(state->indexed);
    }
}

const int64_t *distal_next_rows(distal_execution *execution, int transfer) {
    progress_stop(execution->progress);
    const int leaf = execution->transfers[transfer].leaf;
    RowOrder *order = &execution->row_order;
    if (order->next == 0)
        begin_rows(execution, leaf);
    while (order->next <= order->blocks + 1) {
        const int range = order->next++;
        if (range == order->blocks || (range > 0 && range < order->blocks))
            wait_for_rows(execution, leaf, range == order->blocks);
        const bool before = range == order->blocks, after = range > order->blocks;
        order->range[0] = before ? 0 : after ? order->rows.end : block_begin(order, range);
        order->range[1] = before ? order->rows.begin : after ? INT64_MAX : block_begin(order, range + 1);
        if (order->range[0] < order->range[1])
            return order->range;
    }
    order->next = 0;
    return NULL;
}

const distal_view *distal_fetch(distal_execution *execution, int transfer) {
    progress_stop(execution->progress);
    transfer_fetch(&execution->transfers[transfer]);
    return &execution->transfers[transfer].exposed;
}

const distal_view *distal_accumulate(distal_execution *execution, int transfer) {
    transfer_accumulate(&execution->transfers[transfer]);
    return &execution->transfers[transfer].exposed;
}

void distal_reduce(distal_execution *execution, int transfer) {
#ifdef __x86_64__
    // Of this thread; those of the others were ordered where their team ended.
    __builtin_ia32_sfence();
#endif
    progress_stop(execution->progress);
    transfer_reduce(&execution->transfers[transfer]);
}

// Copies that no command requires are set to zero and added in less time than the work that they divide.
int distal_thread_count(const distal_execution *execution, int transfer, int64_t work) {
    const TransferState *state = &execution->transfers[transfer];
    const bool required = state->scope.plan->transfer->copy_limit == INT64_MAX;
    int64_t count = min_i64(omp_get_max_threads(), state->copies.count + 1);
    if (work <= DISTAL_PARALLEL_WORK)
        return 1;
    if (!required && state->copies.count > 0)
        count = min_i64(count, 1 + work / max_i64(1, state->copies.pitch));
    return (int)count;
}

void *distal_thread_copy(distal_execution *execution, int transfer, int thread) {
    TransferState *state = &execution->transfers[transfer];
    return copies_take(&state->copies, state->scope.plan->transfer->reducer, &state->scope.view, thread);
}

void distal_merge_copies(distal_execution *execution, int transfer) {
    TransferState *state = &execution->transfers[transfer];
    copies_merge(&state->copies, state->scope.plan->transfer->reducer, &state->scope.view);
}
