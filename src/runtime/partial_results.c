// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/partial_results.h"

#include "memory/shared.h"

bool partial_results_are_read(const RankTransfer *plan) {
    return plan->reads && plan->transfer->kind == TRANSFER_REDUCE;
}

bool partial_results_allocate(TransferState *state, bool on_gpu) {
    SharedBlock *partial = &state->partial;
    const int64_t size = (int64_t)type_info(state->scope.storage->type)->size;
    const int64_t bytes = state->scope.plan->buffer_elements * size;
    partial->memory =
        on_gpu ? device_current()->allocate_shared(bytes, &partial->handle) : shared_allocate(bytes);
    if (on_gpu)
        state->gpu_buffers[0] = partial->memory;
    else
        state->buffers[0] = partial->memory;
    return partial->memory != NULL;
}

void partial_results_free(TransferState *state) {
    SharedBlock *partial = &state->partial;
    if (partial->memory && partial->memory == state->gpu_buffers[0]) {
        device_current()->release(partial->memory);
        state->gpu_buffers[0] = NULL;
    } else if (partial->memory) {
        shared_release(partial->memory);
        state->buffers[0] = NULL;
    }
    partial->memory = NULL;
}

// What this rank has begun on its GPU is finished before others read what it writes, or change what it reads.
static void finish_gpu(const TransferState *state) {
    if (state->scope.storage->home->memory == MEMORY_GPU)
        device_current()->wait(device_current()->mark(STREAM_COMPUTE));
}

static void take(const TransferState *state, const NeighbourCopy *copy) {
    const CallScope *scope = &state->scope;
    const Transfer *transfer = scope->plan->transfer;
    const Piece *home = &scope->storage->pieces[copy->piece], *view = &state->neighbours[copy->from];
    if (transfer->replaces)
        piece_copy(home, view, &copy->rect);
    else
        piece_reduce(transfer->reducer, home, view, &copy->rect);
}

void partial_results_take(TransferState *state, const RankStep *step) {
    const RankTransfer *plan = state->scope.plan;
    const int transfer = plan->transfer->id;
    const int64_t number = step - plan->steps;
    if (step->owner_count > 0) {
        finish_gpu(state);
        state->given = step;
        reading_give(state->reading, transfer, number);
    }
    for (int64_t i = step->first_copy; i < step->first_copy + step->copy_count; i++) {
        reading_wait_given(state->reading, transfer, plan->copies[i].from, number);
        take(state, &plan->copies[i]);
    }
    if (step->copy_count > 0) {
        finish_gpu(state);
        reading_take(state->reading, transfer, number);
    }
}

void partial_results_wait(TransferState *state) {
    const RankTransfer *plan = state->scope.plan;
    const RankStep *given = state->given;
    for (int64_t i = 0; given && i < given->owner_count; i++)
        reading_wait_taken(state->reading, plan->transfer->id, plan->owners[given->first_owner + i],
                           given - plan->steps);
    state->given = NULL;
}
