// SPDX-License-Identifier: BSD-3-Clause
// Broadcast: several ranks need the same rectangle of one owner.
#include "plan/situation.h"
#include "runtime/call.h"

static bool recognize(const Situation *situation) {
    return situation->part_count == 1 && situation->others > 1;
}

static bool prepare(OperationCall *call) {
    CallScope *scope = call->scope;
    const Part *part = call->plan->send_count ? call->plan->sends : call->plan->receives;
    const Piece *piece = call_piece(call, part);
    Operand *operand = call->sends = arena_new(scope->arena, Operand);
    operand->data = call_address(piece, piece_element(piece, &part->rect));
    return message_collective(scope->types, piece, &part->rect, scope->storage->home->tensor->mode_order,
                              &operand->message);
}

static void start(OperationCall *call) {
    const Operand *operand = call->sends;
    call_count(call);
    if (call->scope->blocking)
        MPI_Bcast(operand->data, operand->message.count, operand->message.type, call->root, call->comm);
    else
        MPI_Ibcast(operand->data, operand->message.count, operand->message.type, call->root, call->comm,
                   call_request(call));
}

const Operation operation_broadcast = {OPERATION_BROADCAST,
                                       "broadcast",
                                       TRANSFER_FETCH,
                                       SHAPE_PART,
                                       .timed_as = COLLECTIVE_BROADCAST,
                                       .recognize = recognize,
                                       .count = count_others,
                                       .prepare = prepare,
                                       .start = start};
