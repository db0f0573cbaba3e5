// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/transfer.h"

#include "runtime/gpu_copies.h"
#include "runtime/partial_results.h"
#include "runtime/wait.h"

#include <assert.h>
#include <string.h>

_Static_assert(DISTAL_MAX_ORDER == (int)MAX_ORDER, "views hold tensors of any order");
_Static_assert(sizeof((distal_level *)0)->arrays == sizeof((LevelArrays *)0)->arrays, "and any level");

void transfer_reset(TransferState *state) {
    state->step = 0;
    state->ahead = false;
    state->buffer = 0;
    state->submitted = state->written[0] = state->written[1] = 0;
    state->scope.view = state->scope.previous = (Piece){0};
    state->scope.bytes = state->scope.messages = 0;
    state->scope.copied = (DeviceCounts){0};
    state->left.step = NULL;
    state->given = NULL;
}

const RankStep *transfer_advance(TransferState *state) {
    CallScope *scope = &state->scope;
    const RankTransfer *plan = scope->plan;
    assert(state->step < plan->step_count && "a kernel has no more iterations than the plan");
    const RankStep *step = &plan->steps[state->step++];
    if (step->kept)
        return step;
    if (step->empty) {
        scope->view.data = scope->leaf_view.data = NULL;
        return step;
    } else if (state->indexed) {
        scope->view = *indexed_fetch_view(state->indexed);
    } else if (step->piece >= 0) {
        scope->view = scope->storage->pieces[step->piece];
    } else if (step->neighbour > 0) {
        scope->view = state->neighbours[step->neighbour - 1];
    } else {
        // The buffer of the step before may still be read, or sent from.
        if (plan->buffer_count == 2)
            state->buffer = !state->buffer;
        scope->view = piece_packed(&step->view, tensor_levels(scope->storage->home->tensor),
                                   scope->storage->type, state->buffers[state->buffer]);
    }
    scope->leaf_view = scope->view;
    if (state->gpu_buffers[state->buffer] && step_is_buffered(step)) {
        scope->leaf_view.memory = MEMORY_GPU;
        scope->leaf_view.data = state->gpu_buffers[state->buffer];
        scope->view = plan->message_memory == MEMORY_GPU ? scope->leaf_view : scope->view;
    }
    return step;
}

// Kernels read the arrays of a sparse tensor where there are values, also where loops have no iterations.
static void expose_levels(TransferState *state, bool empty) {
    const StoredTensor *stored = &state->scope.storage->stored;
    state->exposed.values = empty ? NULL : stored->values;
    for (int l = 0; l < stored->order; l++) {
        distal_level *level = &state->exposed.levels[l];
        state->exposed.lo[stored->mode_order[l]] = stored->arrays[l].first;
        state->exposed.extent[stored->mode_order[l]] = stored->arrays[l].extent;
        level->position_count = stored->arrays[l].position_count;
        memcpy(level->arrays, stored->arrays[l].arrays, sizeof level->arrays);
    }
}

// What kernels use in place of coordinates that another operand lists.
static void expose_numbers(TransferState *state) {
    const Transfer *transfer = state->scope.plan->transfer;
    const Tensor *tensor = transfer->access->tensor;
    for (int l = 0; state->by && l < tensor->order; l++) {
        const int mode = tensor->mode_order[l], level = transfer->index_levels[mode];
        void *numbers = state->indexed ? indexed_fetch_numbers(state->indexed, mode) : NULL;
        if (level < 0)
            continue;
        state->exposed.levels[l].arrays[0] = numbers ? numbers : listed_coordinates(state->by, level);
        state->exposed.levels[l].position_count = state->by->stored.arrays[level].position_count;
    }
}

static void expose(TransferState *state, const RankStep *step) {
    const Piece *view = &state->scope.leaf_view;
    if (tensor_is_sparse(state->scope.storage->home->tensor)) {
        expose_levels(state, step->empty);
        return;
    }
    state->exposed.values = view->data;
    memcpy(state->exposed.lo, state->indexed ? view->rect.lo : step->first, sizeof state->exposed.lo);
    memcpy(state->exposed.stride, view->stride, sizeof state->exposed.stride);
    expose_numbers(state);
}

// What operations use of a home in disk.
static void read_stages(const TransferState *state, const RankStep *step) {
    const CallScope *scope = &state->scope;
    const Transfer *transfer = scope->plan->transfer;
    for (int64_t i = step->first_stage; i < step->first_stage + step->stage_count; i++) {
        const DiskStage *stage = &scope->plan->stages[i];
        if (stage->reads)
            piece_copy(&scope->stages[i], &scope->storage->pieces[stage->piece], &stage->rect);
        else
            piece_clear(transfer->reducer, &scope->stages[i]);
    }
}

static void write_stages(const TransferState *state, const RankStep *step) {
    const CallScope *scope = &state->scope;
    for (int64_t i = step->first_stage; i < step->first_stage + step->stage_count; i++)
        piece_copy(&scope->storage->pieces[scope->plan->stages[i].piece], &scope->stages[i],
                   &scope->plan->stages[i].rect);
}

// Without those that copy what is at home, where the queue does that.
static void start_operations(TransferState *state, const RankStep *step, bool queued) {
    if (!queued) {
        gpu_begin_stages(state);
        read_stages(state, step);
        gpu_begin_operations(state);
    }
    for (int64_t i = 0; i < step->operation_count; i++) {
        OperationCall *call = &state->calls[step->first_operation + i];
        if (call->plan->read)
            call_count(call);
        else if (!queued || call->plan->operation->id != OPERATION_LOCAL)
            call->plan->operation->start(call);
    }
}

// What is read from disk, or written there, while the kernel computes: of a fetch all, of results those that
// go from the view to the file.
static bool is_queued(const TransferState *state, const RankStep *step) {
    if (!state->queue || !state->scope.plan->pipelined)
        return false;
    if (state->scope.plan->transfer->kind == TRANSFER_FETCH)
        return true;
    const RankOperation *all = &state->scope.plan->operations[step->first_operation];
    return step->stage_count == 0 && step->operation_count == 1 && all->operation->id == OPERATION_LOCAL;
}

static void submit_reads(TransferState *state, const RankStep *step) {
    const CallScope *scope = &state->scope;
    for (int64_t i = step->first_stage; i < step->first_stage + step->stage_count; i++) {
        const DiskStage *stage = &scope->plan->stages[i];
        state->submitted =
            io_queue_submit(state->queue, &(IoRequest){.to = scope->stages[i],
                                                       .from = scope->storage->pieces[stage->piece],
                                                       .rect = &stage->rect});
    }
    for (int64_t i = 0; i < step->operation_count; i++) {
        const RankOperation *local = &scope->plan->operations[step->first_operation + i];
        for (int64_t k = 0; k < local->receive_count && local->operation->id == OPERATION_LOCAL; k++)
            state->submitted = io_queue_submit(
                state->queue, &(IoRequest){.to = scope->view,
                                           .from = scope->storage->pieces[local->receives[k].piece],
                                           .rect = &local->receives[k].rect});
    }
}

static void submit_writes(TransferState *state, const RankStep *step) {
    const CallScope *scope = &state->scope;
    const Transfer *transfer = scope->plan->transfer;
    const RankOperation *local = &scope->plan->operations[step->first_operation];
    for (int64_t k = 0; k < local->receive_count; k++) {
        const Part *part = &local->receives[k];
        state->written[state->buffer] =
            io_queue_submit(state->queue, &(IoRequest){.to = scope->storage->pieces[part->piece],
                                                       .from = scope->view,
                                                       .rect = &part->rect,
                                                       .reduces = !part->fresh && !transfer->replaces,
                                                       .reducer = transfer->reducer});
    }
}

// What neighbours have at home, while messages of others are under way. Of a leaf on a GPU both are there.
static void read_neighbours(const TransferState *state, const RankStep *step) {
    const CallScope *scope = &state->scope;
    const int transfer = scope->plan->transfer->id;
    if (step->neighbour > 0)
        reading_wait(state->reading, transfer, step->neighbour - 1);
    for (int64_t i = step->first_copy; i < step->first_copy + step->copy_count; i++) {
        const NeighbourCopy *copy = &scope->plan->copies[i];
        reading_wait(state->reading, transfer, copy->from);
        piece_copy(&scope->leaf_view, &state->neighbours[copy->from], &copy->rect);
    }
}

static void finish_operations(TransferState *state, const RankStep *step) {
    if (state->reading && partial_results_are_read(state->scope.plan))
        partial_results_take(state, step);
    else if (state->reading)
        read_neighbours(state, step);
    wait_all(state->scope.request_count, state->scope.requests);
    state->scope.request_count = 0;
    for (int64_t i = 0; i < step->operation_count; i++) {
        OperationCall *call = &state->calls[step->first_operation + i];
        if (call->plan->operation->finish && !call->plan->read)
            call->plan->operation->finish(call);
    }
}

// The step that was begun last.
static const RankStep *step_in_progress(const TransferState *state) {
    return &state->scope.plan->steps[state->step - 1];
}

static void start_indexed(TransferState *state) {
    const Cost cost = indexed_fetch_received(state->indexed);
    indexed_fetch_start(state->indexed);
    state->scope.bytes += cost.elements * (int64_t)type_info(state->scope.storage->type)->size;
    state->scope.messages += cost.messages;
}

// Counts what has been copied between memory of the host and of a GPU since `before`.
static void count_copies(TransferState *state, DeviceCounts before) {
    const DeviceCounts now = device_counts();
    state->scope.copied.to_device += now.to_device - before.to_device;
    state->scope.copied.from_device += now.from_device - before.from_device;
}

static void start(TransferState *state, bool blocking) {
    if (state->reading && state->step == 0) {
        storage_wait(state->scope.storage);
        reading_start(state->reading, state->scope.plan->transfer->id);
    }
    const RankStep *step = transfer_advance(state);
    state->scope.blocking = blocking;
    gpu_begin_fetch(state, step);
    if (is_queued(state, step)) {
        submit_reads(state, step);
        return;
    }
    if (state->queue)
        io_queue_wait_all(state->queue);
    const DeviceCounts before = device_counts();
    gpu_wait_for_messages(state, step);
    start_operations(state, step, false);
    gpu_end_start(state);
    count_copies(state, before);
    if (state->indexed)
        start_indexed(state);
}

// The kernel uses the next step, which starts unless it has been started.
static void begin(TransferState *state, bool blocking) {
    if (!state->ahead)
        start(state, blocking);
    state->ahead = false;
    expose(state, step_in_progress(state));
}

void transfer_start(TransferState *state) {
    begin(state, false); // leaves may work, and other transfers start, before transfer_wait
}

void transfer_start_next(TransferState *state) {
    if (!state->scope.plan->pipelined || state->step == state->scope.plan->step_count)
        return;
    start(state, false);
    state->ahead = true;
}

void transfer_wait(TransferState *state) {
    const DeviceCounts before = device_counts();
    if (is_queued(state, step_in_progress(state))) {
        io_queue_wait(state->queue, state->submitted);
        start_operations(state, step_in_progress(state), true);
    }
    finish_operations(state, step_in_progress(state));
    gpu_finish_fetch(state, step_in_progress(state));
    count_copies(state, before);
    if (state->indexed)
        indexed_fetch_finish(state->indexed);
}

void transfer_fetch(TransferState *state) {
    begin(state, state->blocks && !state->scope.plan->pipelined);
    transfer_wait(state);
}

void transfer_accumulate(TransferState *state) {
    const RankStep *step = transfer_advance(state);
    if (state->queue)
        io_queue_wait(state->queue, state->written[state->buffer]);
    gpu_begin_result(state);
    partial_results_wait(state);
    if (!step->empty && step->piece < 0)
        piece_clear(state->scope.plan->transfer->reducer, &state->scope.leaf_view);
    expose(state, step);
}

void transfer_reduce(TransferState *state) {
    const RankStep *step = step_in_progress(state);
    DeviceCounts before = device_counts();
    state->scope.blocking = state->blocks;
    const bool is_done = gpu_take_result(state, step);
    count_copies(state, before);
    if (is_done)
        return;
    if (is_queued(state, step)) {
        submit_writes(state, step);
        return;
    }
    if (state->queue)
        io_queue_wait_all(state->queue);
    before = device_counts();
    gpu_wait_for_messages(state, step);
    start_operations(state, step, false);
    finish_operations(state, step);
    write_stages(state, step);
    count_copies(state, before);
}
