// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/transfer.h"

#include "base/integer.h"
#include "plan/ranks.h"
#include "runtime/wait.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(DISTAL_MAX_ORDER == (int)MAX_ORDER, "views hold tensors of any order");

static bool no_memory(const TransferState *state, Diagnostics *diagnostics) {
    const RankTransfer *plan = state->plan;
    int64_t elements = plan->buffer_count * plan->buffer_elements + plan->scratch_elements;
    return diagnostics_error(diagnostics, (Span){0},
                             "rank %" PRId64 " has not enough memory for the buffers of tensor %s, %" PRId64
                             " bytes",
                             plan->rank, state->storage->home->tensor->name, elements * state->size);
}

// Elements of the largest view, from the first to the last.
static int64_t largest_span(const TransferState *state) {
    const RankTransfer *plan = state->plan;
    int64_t span = plan->buffer_count > 0 ? plan->buffer_elements : 0;
    for (int64_t s = 0; s < plan->step_count; s++) {
        const RankStep *step = &plan->steps[s];
        if (!step->kept && !step->empty && step->piece >= 0)
            span = max_i64(span, piece_span(&state->storage->pieces[step->piece]));
    }
    return span;
}

static bool allocate_copies(TransferState *state, Diagnostics *diagnostics) {
    const int threads = omp_get_max_threads();
    const int64_t span = largest_span(state);
    return copies_allocate(&state->copies, threads - 1, span, state->storage->type) ||
           diagnostics_error(diagnostics, (Span){0},
                             "rank %" PRId64 " has not enough memory for the copies of tensor %s that its %d "
                             "threads add to, %" PRId64 " elements each",
                             state->plan->rank, state->storage->home->tensor->name, threads, span);
}

bool transfer_allocate(TransferState *state, const RankTransfer *plan, Storage *storage,
                       Diagnostics *diagnostics) {
    *state =
        (TransferState){.plan = plan, .storage = storage, .size = (int64_t)type_info(storage->type)->size};
    int64_t actions = 0, most_actions = 0;
    for (int64_t s = 0; s < plan->step_count; s++) {
        actions = max_i64(actions, plan->steps[s].first_action + plan->steps[s].action_count);
        most_actions = max_i64(most_actions, plan->steps[s].action_count);
    }
    state->types = message_types_create(storage->type);
    state->operands = calloc((size_t)actions + 1, sizeof(Operand));
    state->requests = calloc((size_t)most_actions + 1, sizeof(MPI_Request));
    bool ok = state->types && state->operands && state->requests;
    for (int64_t i = 0; i < plan->buffer_count && ok; i++) {
        state->buffers[i] = elements_alloc(plan->buffer_elements, storage->type);
        ok = state->buffers[i] != NULL;
    }
    if (ok && plan->scratch_elements > 0) {
        state->scratch = elements_alloc(plan->scratch_elements, storage->type);
        ok = state->scratch != NULL;
    }
    if (!ok)
        return no_memory(state, diagnostics);
    return !plan->transfer->thread_copies || allocate_copies(state, diagnostics);
}

void transfer_free(TransferState *state) {
    message_types_free(state->types);
    free(state->operands);
    free(state->requests);
    free(state->buffers[0]);
    free(state->buffers[1]);
    free(state->scratch);
    copies_free(&state->copies);
    *state = (TransferState){0};
}

void transfer_reset(TransferState *state) {
    state->step = 0;
    state->buffer = 0;
    state->view = (Piece){0};
    state->bytes = state->messages = 0;
}

// Begins the next step: its view, and which buffer is in use.
static const RankStep *advance(TransferState *state) {
    const RankTransfer *plan = state->plan;
    assert(state->step < plan->step_count && "a kernel has no more turns than the plan");
    const RankStep *step = &plan->steps[state->step++];
    if (step->kept)
        return step;
    if (step->empty) {
        state->view.data = NULL;
    } else if (step->piece >= 0) {
        state->view = state->storage->pieces[step->piece];
    } else {
        // What was used before may still be on its way to others.
        if (plan->buffer_count == 2)
            state->buffer = !state->buffer;
        state->view.rect = step->view;
        packed_strides(&step->view, state->storage->home->tensor->mode_order, state->view.stride);
        state->view.data = state->buffers[state->buffer];
    }
    return step;
}

static const Piece *home_piece(const TransferState *state, const Action *action) {
    return &state->storage->pieces[action->piece];
}

static Piece scratch_piece(const TransferState *state, const Action *action) {
    Piece part = {.rect = action->rect, .data = (char *)state->scratch + action->scratch * state->size};
    packed_strides(&action->rect, state->storage->home->tensor->mode_order, part.stride);
    return part;
}

// What the elements of the message are a part of. `previous` is the view of the step before.
static Piece message_piece(const TransferState *state, const Action *action, const Piece *previous) {
    switch (action->kind) {
    case ACTION_SEND:
        return action->from_view ? *previous : *home_piece(state, action);
    case ACTION_BROADCAST:
        return action->piece >= 0 ? *home_piece(state, action) : state->view;
    case ACTION_RECEIVE_PARTIAL:
    case ACTION_REDUCE:
        return scratch_piece(state, action);
    default:
        return state->view;
    }
}

// In elements that lie packed, for operations on numbers; MPI counts them in an int.
static bool packed_message(const TransferState *state, const Action *action, MessageType *message,
                           Diagnostics *diagnostics) {
    int64_t volume = rect_volume(&action->rect);
    if (volume > INT_MAX)
        return diagnostics_error(diagnostics, (Span){0},
                                 "a partial result of tensor %s has %" PRId64
                                 " elements, more than one MPI operation takes",
                                 state->storage->home->tensor->name, volume);
    *message = (MessageType){message_element(state->storage->type), (int)volume};
    return true;
}

static bool prepare_action(TransferState *state, const Action *action, const Piece *previous, MPI_Comm comm,
                           const Group *groups, const MPI_Comm *group_comms, Operand *operand,
                           Diagnostics *diagnostics) {
    if (action->kind == ACTION_COPY || action->kind == ACTION_ADD)
        return true;
    const Piece piece = message_piece(state, action, previous);
    const Tensor *tensor = state->storage->home->tensor;
    operand->data = piece_element(&piece, &action->rect, state->storage->type);
    operand->comm = action->group >= 0 ? group_comms[action->group] : comm;
    operand->peer = (int)action->peer;
    if (action->group >= 0 && action->peer >= 0)
        operand->peer =
            (int)ranks_position(groups[action->group].ranks, groups[action->group].count, action->peer);
    if (action->kind == ACTION_REDUCE)
        return packed_message(state, action, &operand->message, diagnostics);
    bool ok =
        action->kind == ACTION_BROADCAST
            ? message_collective(state->types, &piece, &action->rect, tensor->mode_order, &operand->message)
            : message_single(state->types, &piece, &action->rect, &operand->message);
    return ok || no_memory(state, diagnostics);
}

bool transfer_prepare(TransferState *state, MPI_Comm comm, const Group *groups, const MPI_Comm *group_comms,
                      Diagnostics *diagnostics) {
    const RankTransfer *plan = state->plan;
    transfer_reset(state);
    for (int64_t s = 0; s < plan->step_count; s++) {
        const Piece previous = state->view;
        const RankStep *step = advance(state);
        for (int64_t a = step->first_action; a < step->first_action + step->action_count; a++)
            if (!prepare_action(state, &plan->actions[a], &previous, comm, groups, group_comms,
                                &state->operands[a], diagnostics))
                return false;
    }
    transfer_reset(state);
    return true;
}

static void expose(TransferState *state, const RankStep *step) {
    const Piece *view = &state->view;
    state->exposed.data = view->data;
    memcpy(state->exposed.lo, step->first, sizeof state->exposed.lo);
    memcpy(state->exposed.stride, view->stride, sizeof state->exposed.stride);
}

static void count(TransferState *state, const Action *action) {
    state->bytes += rect_volume(&action->rect) * state->size;
    state->messages++;
}

static MPI_Request *next_request(TransferState *state) {
    return &state->requests[state->request_count++];
}

static void finish(TransferState *state) {
    wait_all(state->request_count, state->requests);
    state->request_count = 0;
}

static void send(TransferState *state, const Operand *operand) {
    MPI_Isend(operand->data, operand->message.count, operand->message.type, operand->peer,
              state->plan->transfer->id, operand->comm, next_request(state));
}

static void receive(TransferState *state, const Operand *operand) {
    MPI_Irecv(operand->data, operand->message.count, operand->message.type, operand->peer,
              state->plan->transfer->id, operand->comm, next_request(state));
}

static void fetch_action(TransferState *state, const Action *action, const Operand *operand) {
    switch (action->kind) {
    case ACTION_RECEIVE:
        count(state, action);
        receive(state, operand);
        break;
    case ACTION_SEND:
        send(state, operand);
        break;
    case ACTION_BROADCAST:
        if (action->peer != state->plan->rank)
            count(state, action);
        MPI_Ibcast(operand->data, operand->message.count, operand->message.type, operand->peer, operand->comm,
                   next_request(state));
        break;
    case ACTION_COPY:
        piece_copy(&state->view, home_piece(state, action), &action->rect, state->storage->type);
        break;
    default:
        assert(false && "an action that is no part of a fetch");
    }
}

void transfer_start(TransferState *state) {
    const RankStep *step = advance(state);
    for (int64_t a = step->first_action; a < step->first_action + step->action_count; a++)
        fetch_action(state, &state->plan->actions[a], &state->operands[a]);
    expose(state, step);
}

void transfer_wait(TransferState *state) {
    finish(state);
}

void transfer_accumulate(TransferState *state) {
    const RankStep *step = advance(state);
    if (!step->empty && step->piece < 0)
        piece_zero(&state->view, state->storage->type);
    expose(state, step);
}

// Everybody's part in the operation, zeros where this rank has none, is in scratch; so is the sum.
static void start_sum(TransferState *state, const Action *action, const Operand *operand) {
    const Piece scratch = scratch_piece(state, action);
    if (action->contributes)
        piece_copy(&scratch, &state->view, &action->rect, state->storage->type);
    else
        piece_zero(&scratch, state->storage->type);
    if (action->contributes && action->peer != state->plan->rank)
        count(state, action);
    if (action->peer < 0)
        MPI_Iallreduce(MPI_IN_PLACE, operand->data, operand->message.count, operand->message.type, MPI_SUM,
                       operand->comm, next_request(state));
    else if (action->peer == state->plan->rank)
        MPI_Ireduce(MPI_IN_PLACE, operand->data, operand->message.count, operand->message.type, MPI_SUM,
                    operand->peer, operand->comm, next_request(state));
    else
        MPI_Ireduce(operand->data, NULL, operand->message.count, operand->message.type, MPI_SUM,
                    operand->peer, operand->comm, next_request(state));
}

static void reduce_action(TransferState *state, const Action *action, const Operand *operand) {
    switch (action->kind) {
    case ACTION_ADD:
        piece_add(home_piece(state, action), &state->view, &action->rect, state->storage->type);
        break;
    case ACTION_RECEIVE_PARTIAL:
        receive(state, operand);
        break;
    case ACTION_SEND_PARTIAL:
        count(state, action);
        send(state, operand);
        break;
    case ACTION_REDUCE:
        start_sum(state, action, operand);
        break;
    default:
        assert(false && "an action that is no part of a reduction");
    }
}

// What came is added after all of it is there, in the order of the actions: the same sum in every run.
void transfer_reduce(TransferState *state) {
    const RankStep *step = &state->plan->steps[state->step - 1];
    const int64_t end = step->first_action + step->action_count;
    for (int64_t a = step->first_action; a < end; a++)
        reduce_action(state, &state->plan->actions[a], &state->operands[a]);
    finish(state);
    for (int64_t a = step->first_action; a < end; a++) {
        const Action *action = &state->plan->actions[a];
        if ((action->kind != ACTION_REDUCE && action->kind != ACTION_RECEIVE_PARTIAL) || action->piece < 0)
            continue;
        const Piece from = scratch_piece(state, action);
        piece_add(home_piece(state, action), &from, &action->rect, state->storage->type);
    }
}
