// SPDX-License-Identifier: BSD-3-Clause
#include "operation/sum.h"

#include "base/integer.h"
#include "runtime/gpu_sums.h"

bool sum_fits(const Part *part, const Locator *locator) {
    return rect_is_empty(&part->rect) || locator->locate(locator->context, part) >= 0;
}

static void *first_element(const OperationCall *call, const Part *part) {
    return rect_is_empty(&part->rect) ? NULL : piece_element(call_piece(call, part), &part->rect);
}

Sum sum_in_place(const OperationCall *call, const Part *part) {
    const Storage *storage = call->scope->storage;
    Sum sum = {piece_packed(&part->rect, tensor_levels(storage->home->tensor), storage->type,
                            first_element(call, part)),
               false};
    sum.piece.memory = call_piece(call, part)->memory;
    return sum;
}

Sum sum_in_scratch(const OperationCall *call, const Part *part, int64_t offset) {
    return (Sum){call_scratch(call, &part->rect, offset), true};
}

void sum_begin(const OperationCall *call, const Sum *sum) {
    const CallScope *scope = call->scope;
    if (!call->plan->contributes)
        piece_clear(call_reducer(call), &sum->piece);
    else if (sum->piece.data != first_element(call, call->plan->sends))
        piece_copy(&sum->piece, &scope->view, &sum->piece.rect);
}

void sum_begin_at_owner(const OperationCall *call, const Sum *sum) {
    const CallScope *scope = call->scope;
    if (!call->plan->exclusive) {
        sum_begin(call, sum);
        return;
    }
    const Piece *home = call_piece(call, call->plan->receives);
    if (sum->is_scratch)
        piece_copy(&sum->piece, home, &sum->piece.rect);
    if (call->plan->contributes)
        piece_reduce(call_reducer(call), &sum->piece, &scope->view, &sum->piece.rect);
}

void sum_end_at_owner(const OperationCall *call, const Sum *sum) {
    const Piece *home = call_piece(call, call->plan->receives);
    if (!call->plan->exclusive)
        piece_reduce(call_reducer(call), home, &sum->piece, &sum->piece.rect);
    else if (sum->is_scratch)
        piece_copy(home, &sum->piece, &sum->piece.rect);
}

static void sum_chunk(OperationCall *call, const void *send, void *receive, int count, int root) {
    const MPI_Datatype element = message_element(call->scope->storage->type);
    if (call->scope->blocking)
        root < 0 ? MPI_Allreduce(send, receive, count, element,
                                 reducer_op(call_reducer(call), call->scope->storage->type), call->comm)
                 : MPI_Reduce(send, receive, count, element,
                              reducer_op(call_reducer(call), call->scope->storage->type), root, call->comm);
    else
        root < 0 ? MPI_Iallreduce(send, receive, count, element,
                                  reducer_op(call_reducer(call), call->scope->storage->type), call->comm,
                                  call_request(call))
                 : MPI_Ireduce(send, receive, count, element,
                               reducer_op(call_reducer(call), call->scope->storage->type), root, call->comm,
                               call_request(call));
}

// What is in memory of a GPU, as MPI takes its address.
static void *address(const OperationCall *call, void *elements) {
    return elements && call->scope->plan->message_memory == MEMORY_GPU
               ? device_current()->message_address(elements)
               : elements;
}

void sum_start(OperationCall *call, const void *send, void *receive, int64_t count, int root) {
    const int64_t size = (int64_t)type_info(call->scope->storage->type)->size;
    if (call->scope->plan->message_memory == MEMORY_GPU && device_current()->sums) {
        gpu_sums_start(call->comm, call_reducer(call), call->scope->storage->type,
                       send == MPI_IN_PLACE ? receive : (void *)(uintptr_t)send, count, root);
        return;
    }
    call_settle(call);
    send = send == MPI_IN_PLACE ? send : address(call, (void *)(uintptr_t)send);
    receive = address(call, receive);
    for (int64_t done = 0; done < count; done += CALL_ELEMENTS) {
        const int64_t at = done * size;
        sum_chunk(call, send == MPI_IN_PLACE ? send : (const char *)send + at,
                  receive ? (char *)receive + at : NULL, (int)min_i64(CALL_ELEMENTS, count - done), root);
    }
}
