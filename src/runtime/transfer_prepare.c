// SPDX-License-Identifier: BSD-3-Clause
// What a transfer needs before its first step: memory, and operations that are described to MPI.
#include "runtime/transfer.h"

#include "base/integer.h"
#include "memory/gpu.h"
#include "memory/pinned.h"
#include "plan/ranks.h"
#include "runtime/gpu_sums.h"
#include "runtime/partial_results.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>

static bool no_memory(const TransferState *state, Diagnostics *diagnostics) {
    const RankTransfer *plan = state->scope.plan;
    int64_t elements =
        plan->buffer_count * plan->buffer_elements + plan->scratch_elements + plan->stage_elements;
    if (device_current() && !device_check(diagnostics))
        return false;
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %" PRId64 " has not enough memory for the buffers of tensor %s, %" PRId64
                             " bytes",
                             plan->rank, state->scope.storage->home->tensor->name,
                             elements * (int64_t)type_info(state->scope.storage->type)->size);
}

// Elements of the largest view, from the first to the last.
static int64_t largest_span(const TransferState *state) {
    const RankTransfer *plan = state->scope.plan;
    int64_t span = plan->buffer_count > 0 ? plan->buffer_elements : 0;
    for (int64_t s = 0; s < plan->step_count; s++) {
        const RankStep *step = &plan->steps[s];
        if (step->kept || step->empty || step->piece < 0)
            continue;
        const Frame home = piece_frame(&state->scope.storage->pieces[step->piece]);
        span = max_i64(span, frame_span(&home));
    }
    return span;
}

static bool allocate_gpu_partials(TransferState *state, Diagnostics *diagnostics) {
    const RankTransfer *plan = state->scope.plan;
    int64_t elements;
    if (plan->gpu_partial_count == 0)
        return true;
    state->gpu_partial_span = largest_span(state);
    if (checked_mul(plan->gpu_partial_count + 1, state->gpu_partial_span, &elements))
        state->gpu_partials = memory_allocate(MEMORY_GPU, elements, state->scope.storage->type);
    return state->gpu_partials ||
           diagnostics_error(diagnostics, (Span){0},
                             "rank %" PRId64 " has not enough GPU memory for the %" PRId64
                             " copies of tensor %s that blocks, warps or threads add to, %" PRId64
                             " elements each",
                             plan->rank, plan->gpu_partial_count, state->scope.storage->home->tensor->name,
                             state->gpu_partial_span);
}

bool transfer_allocate_copies(TransferState *state, Diagnostics *diagnostics) {
    const Transfer *transfer = state->scope.plan->transfer;
    const int64_t span = largest_span(state);
    const int64_t size = (int64_t)type_info(state->scope.storage->type)->size;
    const int64_t bytes = transfer_copy_bytes(transfer, saturated_mul(span, size));
    const int64_t count = transfer_copy_count(transfer, bytes, omp_get_max_threads());
    if (bytes == 0 || (state->copies.data && span <= state->copies.pitch))
        return true;
    copies_free(&state->copies);
    return copies_allocate(&state->copies, count, span, state->scope.storage->type) ||
           diagnostics_error(diagnostics, (Span){0},
                             "rank %" PRId64 " has not enough memory for the %" PRId64
                             " copies of tensor %s that its threads add to, %" PRId64 " elements each",
                             state->scope.plan->rank, count, state->scope.storage->home->tensor->name, span);
}

// The most requests that a call has pending: one for each message, or for as much as MPI can count.
static int64_t requests_of(const RankOperation *operation) {
    int64_t requests = 1 + operation->send_count + operation->receive_count;
    for (int64_t i = 0; i < operation->send_count; i++)
        requests += rect_volume(&operation->sends[i].rect) / CALL_ELEMENTS;
    for (int64_t i = 0; i < operation->receive_count; i++)
        requests += rect_volume(&operation->receives[i].rect) / CALL_ELEMENTS;
    return requests;
}

// Requests of the step that has most.
static int64_t count_requests(const RankTransfer *plan) {
    int64_t most = 0;
    for (int64_t s = 0; s < plan->step_count; s++) {
        const RankStep *step = &plan->steps[s];
        int64_t requests = 0;
        for (int64_t i = 0; i < step->operation_count; i++)
            requests += requests_of(&plan->operations[step->first_operation + i]);
        most = max_i64(most, requests);
    }
    return most;
}

// Gives the operations of each step their scratch memory. Returns how much that is: as planned, or more where
// home pieces are a caller's, with gaps.
static int64_t place_scratch(TransferState *state) {
    const RankTransfer *plan = state->scope.plan;
    int64_t most = plan->scratch_elements;
    transfer_reset(state);
    for (int64_t s = 0; s < plan->step_count; s++) {
        const RankStep *step = transfer_advance(state);
        int64_t elements = 0;
        for (int64_t i = step->first_operation; i < step->first_operation + step->operation_count; i++) {
            OperationCall *call = &state->calls[i];
            *call =
                (OperationCall){.scope = &state->scope, .plan = &plan->operations[i], .scratch = elements};
            elements += call->plan->read ? 0 : call_scratch_elements(call);
        }
        most = max_i64(most, elements);
    }
    return most;
}

static bool allocate_stages(TransferState *state) {
    CallScope *scope = &state->scope;
    const RankTransfer *plan = scope->plan;
    const int64_t size = (int64_t)type_info(scope->storage->type)->size;
    if (plan->stage_elements == 0)
        return true;
    state->stage_memory = memory_allocate(MEMORY_HOST, plan->stage_elements, scope->storage->type);
    if (!state->stage_memory)
        return false;
    Piece *stages = arena_array(scope->arena, Piece, plan->stage_count);
    for (int64_t i = 0; i < plan->stage_count; i++)
        stages[i] =
            piece_packed(&plan->stages[i].rect, tensor_levels(scope->storage->home->tensor),
                         scope->storage->type, (char *)state->stage_memory + plan->stages[i].offset * size);
    scope->stages = stages;
    return true;
}

// Before they are mapped, they have no data.
static void describe_neighbours(TransferState *state) {
    const CallScope *scope = &state->scope;
    state->neighbours = arena_array(scope->arena, Piece, scope->plan->neighbour_count);
    for (int64_t i = 0; i < scope->plan->neighbour_count; i++) {
        state->neighbours[i] =
            piece_packed(&scope->plan->neighbours[i].rect, tensor_levels(scope->storage->home->tensor),
                         scope->storage->type, NULL);
        state->neighbours[i].memory = scope->storage->home->memory;
    }
}

static bool allocate_buffers(TransferState *state, bool on_gpu) {
    const RankTransfer *plan = state->scope.plan;
    const ElementType type = state->scope.storage->type;
    bool ok = true;
    for (int64_t i = 0; i < plan->buffer_count && ok; i++) {
        const bool on_host = plan->message_memory == MEMORY_HOST;
        if (on_host)
            state->buffers[i] = memory_allocate(MEMORY_HOST, plan->buffer_elements, type);
        ok = state->buffers[i] || !on_host;
        if (ok && on_gpu) {
            memory_pin(state->buffers[i], plan->buffer_elements * (int64_t)type_info(type)->size);
            state->gpu_buffers[i] = memory_allocate(MEMORY_GPU, plan->buffer_elements, type);
            ok = state->gpu_buffers[i] != NULL;
        }
    }
    return ok;
}

bool transfer_allocate(TransferState *state, const RankTransfer *plan, Storage *storage, bool on_gpu,
                       Arena *arena, Diagnostics *diagnostics) {
    CallScope *scope = &state->scope;
    *state = (TransferState){.scope = {.plan = plan, .storage = storage, .arena = arena}, .leaf = -1};
    if (on_gpu && !gpu_device(diagnostics))
        return false;
    state->calls = arena_array(arena, OperationCall, plan->operation_count);
    scope->requests = arena_array(arena, MPI_Request, count_requests(plan));
    scope->types = message_types_create();
    bool ok = scope->types != NULL;
    if (partial_results_are_read(plan) && plan->buffer_count > 0)
        ok = ok && partial_results_allocate(state, on_gpu);
    else
        ok = ok && allocate_buffers(state, on_gpu);
    describe_neighbours(state);
    ok = ok && allocate_stages(state);
    if (ok && on_gpu) {
        storage_pin(storage);
        memory_pin(state->stage_memory, plan->stage_elements * (int64_t)type_info(storage->type)->size);
    }
    const int64_t scratch = ok ? place_scratch(state) : 0;
    if (scratch > 0) {
        scope->scratch = memory_allocate(plan->message_memory, scratch, storage->type);
        ok = scope->scratch != NULL;
    }
    if (!ok)
        return no_memory(state, diagnostics);
    return transfer_allocate_copies(state, diagnostics) && allocate_gpu_partials(state, diagnostics);
}

void transfer_free(TransferState *state) {
    message_types_free(state->scope.types);
    partial_results_free(state);
    memory_unpin(state->buffers[0]);
    memory_unpin(state->buffers[1]);
    memory_unpin(state->stage_memory);
    memory_release(MEMORY_HOST, state->buffers[0]);
    memory_release(MEMORY_HOST, state->buffers[1]);
    memory_release(MEMORY_GPU, state->gpu_buffers[0]);
    memory_release(MEMORY_GPU, state->gpu_buffers[1]);
    memory_release(MEMORY_GPU, state->gpu_partials);
    if (state->scope.scratch)
        memory_release(state->scope.plan->message_memory, state->scope.scratch);
    memory_release(MEMORY_HOST, state->stage_memory);
    indexed_fetch_free(state->indexed);
    copies_free(&state->copies);
    *state = (TransferState){0};
}

// A rectangle that all members of the group have at the same place of the operation.
static const Rect *common_rect(const RankOperation *operation) {
    const Operation *kind = operation->operation;
    const bool receives =
        operation->send_count == 0 || (kind->shape == SHAPE_MEMBERS && kind->kind == TRANSFER_FETCH);
    return receives ? &operation->receives[0].rect : &operation->sends[0].rect;
}

// Messages between two ranks are started first. Collective operations are started in one order of all of
// them, so that those that block find each other: by kind, members, root and rectangle.
static int compare_calls(const void *left, const void *right) {
    const OperationCall *a = left, *b = right;
    const RankOperation *x = a->plan, *y = b->plan;
    int order = (a->group != NULL) - (b->group != NULL);
    if (order == 0)
        order = (int)x->operation->id - (int)y->operation->id;
    if (order == 0 && a->group && a->group != b->group)
        order = ranks_compare(a->group->ranks, a->group->count, b->group->ranks, b->group->count);
    if (order == 0 && a->group)
        order = (x->root > y->root) - (x->root < y->root);
    if (order == 0 && a->group && x->operation->shape != SHAPE_MESSAGES)
        order = rect_compare(common_rect(x), common_rect(y));
    return order ? order : (x > y) - (x < y);
}

static bool prepare_step(TransferState *state, const RankStep *step, const Group *groups,
                         const Communicators *communicators) {
    OperationCall *calls = &state->calls[step->first_operation];
    for (int64_t i = 0; i < step->operation_count; i++) {
        OperationCall *call = &calls[i];
        if (call->plan->group >= 0)
            call->group = &groups[call->plan->group];
        call->comm =
            call->group ? communicators_find(communicators, call->group) : communicators_all(communicators);
        if (gpu_sums_combine(state->scope.plan, call->plan))
            call->gpus = communicators_find_gpus(communicators, call->group);
        call->root = call->plan->root >= 0 ? call_member(call, call->plan->root) : -1;
    }
    if (step->operation_count > 1)
        qsort(calls, (size_t)step->operation_count, sizeof *calls, compare_calls);
    for (int64_t i = 0; i < step->operation_count; i++) {
        const Operation *operation = calls[i].plan->operation;
        if (!calls[i].plan->read && operation->prepare && !operation->prepare(&calls[i]))
            return false;
    }
    return true;
}

bool transfer_prepare(TransferState *state, const Group *groups, const Communicators *communicators,
                      Diagnostics *diagnostics) {
    const RankTransfer *plan = state->scope.plan;
    transfer_reset(state);
    for (int64_t i = 0; state->reading && i < plan->neighbour_count; i++)
        state->neighbours[i].data = reading_data(state->reading, plan->transfer->id, i);
    for (int64_t s = 0; s < plan->step_count; s++) {
        state->scope.previous = state->scope.view;
        if (!prepare_step(state, transfer_advance(state), groups, communicators))
            return no_memory(state, diagnostics);
    }
    state->blocks = !communicators_sleep(communicators);
    transfer_reset(state);
    return true;
}
