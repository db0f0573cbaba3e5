// SPDX-License-Identifier: BSD-3-Clause
// Replicate: what one owner of a replicated tensor has computed alone goes to the other owners, a broadcast
// from that rank. All of them hold the same before, so it adds to its home piece and sends what is there
// then, which the others receive in theirs. Where other operations of the step add to the same elements, it
// sends what it has computed, and each owner adds that.
#include "plan/situation.h"
#include "runtime/call.h"

static bool recognize(const Situation *situation) {
    return situation->part_count == 1 && situation->ranks.count == 1 && holding_count(situation->parts) > 1 &&
           holding_has(situation->parts, situation->ranks.items[0]);
}

// What is received, where it is added afterwards.
static int64_t scratch(const RankOperation *plan, const Locator *locator) {
    (void)locator;
    return plan->exclusive || plan->contributes ? 0 : rect_volume(&plan->receives->rect);
}

static Piece sent_or_received(const OperationCall *call) {
    const RankOperation *plan = call->plan;
    if (plan->exclusive)
        return *call_piece(call, plan->receives);
    return plan->contributes ? call->scope->view : call_scratch(call, &plan->receives->rect, 0);
}

static bool prepare(OperationCall *call) {
    const Rect *rect = &call->plan->receives->rect;
    const Piece piece = sent_or_received(call);
    Operand *operand = call->sends = arena_new(call->scope->arena, Operand);
    operand->data = call_address(&piece, piece_element(&piece, rect));
    return message_collective(call->scope->types, &piece, rect,
                              call->scope->storage->home->tensor->mode_order, &operand->message);
}

static void start(OperationCall *call) {
    const RankOperation *plan = call->plan;
    const Operand *operand = call->sends;
    call_count(call);
    if (plan->exclusive && plan->contributes)
        call_take(call, plan->receives, &call->scope->view);
    call_settle(call);
    if (call->scope->blocking)
        MPI_Bcast(operand->data, operand->message.count, operand->message.type, call->root, call->comm);
    else
        MPI_Ibcast(operand->data, operand->message.count, operand->message.type, call->root, call->comm,
                   call_request(call));
}

static void finish(OperationCall *call) {
    const Piece piece = sent_or_received(call);
    if (!call->plan->exclusive)
        call_take(call, call->plan->receives, &piece);
}

const Operation operation_replicate = {OPERATION_REPLICATE,      "replicate",
                                       TRANSFER_REDUCE,          SHAPE_PART,
                                       .from_contributor = true, .timed_as = COLLECTIVE_BROADCAST,
                                       .recognize = recognize,   .count = count_all,
                                       .scratch = scratch,       .prepare = prepare,
                                       .start = start,           .finish = finish};
