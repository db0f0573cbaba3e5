// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu_copies.h"

static bool has_messages(const TransferState *state, const RankStep *step) {
    bool has = false;
    for (int64_t i = 0; i < step->operation_count; i++) {
        const RankOperation *plan = state->calls[step->first_operation + i].plan;
        has = has || (plan->operation->id != OPERATION_LOCAL && !plan->read);
    }
    return has;
}

static DeviceTicket mark(DeviceStream stream) {
    return device_current()->mark(stream);
}

static void order(DeviceStream stream, DeviceTicket ticket) {
    device_current()->order(stream, ticket);
}

static bool fetches(const TransferState *state) {
    return state->scope.plan->transfer->kind == TRANSFER_FETCH;
}

static void use_default(void) {
    device_use(STREAM_COMPUTE, true);
}

void gpu_begin_run(void) {
    // Otherwise what has been begun before is finished. What is fetched, gpu_begin_fetch orders.
    if (device_caller_stream())
        order(STREAM_OUT, mark(STREAM_COMPUTE));
}

DeviceTicket gpu_end_run(bool in_host, bool read_by_others) {
    if (!device_caller_stream() || read_by_others) {
        device_current()->synchronize();
        return 0;
    }
    if (in_host) {
        device_current()->wait(mark(STREAM_IN));
        device_current()->wait(mark(STREAM_OUT));
    }
    // Leaves have waited for all that was fetched. Of this stream all tickets are known.
    order(STREAM_OUT, mark(STREAM_COMPUTE));
    return mark(STREAM_OUT);
}

// The leaves that have been begun are those of earlier steps, which read the buffer on the GPU last.
void gpu_begin_fetch(const TransferState *state, const RankStep *step) {
    if (!state->streams || step->kept)
        return;
    device_current()->wait(state->sent[state->buffer]);
    order(STREAM_IN, mark(STREAM_COMPUTE));
}

// They are sent from the home, or the view of the step before, and received where the leaves that have been
// begun have read.
void gpu_wait_for_messages(const TransferState *state, const RankStep *step) {
    if (state->scope.plan->message_memory == MEMORY_GPU && has_messages(state, step))
        device_current()->synchronize();
}

// What is at home does not change during the execution.
void gpu_begin_stages(const TransferState *state) {
    if (state->streams && fetches(state))
        device_use(STREAM_OUT, true);
}

void gpu_begin_operations(const TransferState *state) {
    const bool to_host = state->scope.plan->through_host;
    if (state->streams && fetches(state))
        device_use(to_host ? STREAM_OUT : STREAM_IN, to_host);
}

void gpu_end_start(TransferState *state) {
    if (!state->streams)
        return;
    state->arrived = mark(STREAM_IN);
    use_default();
}

// What has been received on the host, to the view of a leaf on a GPU, or all of the view. False: nothing.
static bool copy_to_gpu(const TransferState *state, const RankStep *step) {
    const CallScope *scope = &state->scope;
    bool copied = false;
    if (step->kept || scope->leaf_view.memory == scope->view.memory || !scope->view.data)
        return false;
    if (scope->plan->through_host) {
        piece_copy(&scope->leaf_view, &scope->view, &scope->view.rect);
        return true;
    }
    for (int64_t i = 0; i < step->operation_count; i++) {
        const RankOperation *operation = &scope->plan->operations[step->first_operation + i];
        for (int64_t k = 0; k < operation->receive_count && operation->operation->id != OPERATION_LOCAL; k++)
            if (!rect_is_empty(&operation->receives[k].rect)) {
                piece_copy(&scope->leaf_view, &scope->view, &operation->receives[k].rect);
                copied = true;
            }
    }
    return copied;
}

void gpu_finish_fetch(TransferState *state, const RankStep *step) {
    if (!state->streams) {
        copy_to_gpu(state, step);
        return;
    }
    device_use(STREAM_IN, false);
    if (copy_to_gpu(state, step))
        state->arrived = state->sent[state->buffer] = mark(STREAM_IN);
    use_default();
    order(STREAM_COMPUTE, state->arrived);
}

void gpu_begin_result(const TransferState *state) {
    if (state->streams)
        order(STREAM_COMPUTE, state->taken[state->buffer]);
}

// The partial results of a leaf on a GPU, which other ranks, or a home elsewhere, get from the host.
static void copy_from_gpu(const TransferState *state, const RankStep *step) {
    const CallScope *scope = &state->scope;
    if ((scope->plan->through_host || has_messages(state, step)) && scope->view.data &&
        scope->leaf_view.memory != scope->view.memory)
        piece_copy(&scope->view, &scope->leaf_view, &scope->view.rect);
}

static void start_local(const TransferState *state, const RankStep *step) {
    for (int64_t i = 0; i < step->operation_count; i++) {
        OperationCall *call = &state->calls[step->first_operation + i];
        call->plan->operation->start(call);
    }
}

bool gpu_take_result(TransferState *state, const RankStep *step) {
    const bool only_local = !has_messages(state, step);
    const bool direct = only_local && !state->scope.plan->through_host;
    if (!state->streams) {
        copy_from_gpu(state, step);
        return false;
    }
    gpu_finish_result(state);
    order(STREAM_OUT, mark(STREAM_COMPUTE));
    device_use(STREAM_OUT, false);
    copy_from_gpu(state, step);
    if (direct)
        start_local(state, step);
    use_default();
    state->taken[state->buffer] = mark(STREAM_OUT);
    if (only_local && step->stage_count == 0 && !state->queue) {
        if (!direct)
            state->left = (LeftResult){step, state->scope.view, state->taken[state->buffer]};
        return true;
    }
    device_current()->wait(state->taken[state->buffer]);
    return false;
}

void gpu_finish_result(TransferState *state) {
    const LeftResult left = state->left;
    const Piece now = state->scope.view;
    if (!left.step)
        return;
    state->left = (LeftResult){0};
    device_current()->wait(left.ticket);
    state->scope.view = left.view;
    start_local(state, left.step);
    state->scope.view = now;
}
