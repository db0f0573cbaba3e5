// SPDX-License-Identifier: BSD-3-Clause
#include "operation/sum.h"

#include "base/integer.h"
#include "runtime/agreement.h"

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

// At `root`, or where that is -1 at all members.
static void start_by_mpi(OperationCall *call, const Sum *sum, int root) {
    const int64_t size = (int64_t)type_info(call->scope->storage->type)->size;
    const int64_t count = rect_volume(&sum->piece.rect);
    const bool receives = root < 0 || root == call_member(call, call->scope->plan->rank);
    char *data = count > 0 ? call_address(&sum->piece, sum->piece.data) : NULL;
    for (int64_t done = 0; done < count; done += CALL_ELEMENTS) {
        char *at = data + done * size;
        sum_chunk(call, receives ? MPI_IN_PLACE : at, receives ? at : NULL,
                  (int)min_i64(CALL_ELEMENTS, count - done), root);
    }
}

static void start_on_gpu(const OperationCall *call, const Sum *sum, int root) {
    const int64_t count = rect_volume(&sum->piece.rect);
    if (count > 0)
        device_current()->sums->sum(call->gpus, call_reducer(call), call->scope->storage->type,
                                    sum->piece.data, count, root);
}

// Whether sums on GPUs are begun: for one that has failed, the others would wait for ever.
static bool gpus_are_ready(const OperationCall *call) {
    return agree(call->comm, !device_failed());
}

void sum_start(OperationCall *call, const Sum *sum, int root) {
    if (!call->gpus) {
        call_settle(call);
        start_by_mpi(call, sum, root);
    } else if (!rect_is_empty(&sum->piece.rect) && gpus_are_ready(call)) {
        start_on_gpu(call, sum, root);
    }
}

void sum_start_each(OperationCall *call, const Sum *sums, int count) {
    if (!call->gpus) {
        call_settle(call);
        for (int m = 0; m < count; m++)
            start_by_mpi(call, &sums[m], m);
    } else if (gpus_are_ready(call) && device_current()->sums->begin()) {
        for (int m = 0; m < count; m++)
            start_on_gpu(call, &sums[m], m);
        device_current()->sums->end();
    }
}
