// SPDX-License-Identifier: BSD-3-Clause
// Accumulate, which serves every reduction: partial results go to the owners of their rectangle in messages,
// which each adds to its home piece in the order of the plan, so that the sum is the same in every run.
#include "operation/messages.h"
#include "plan/situation.h"

static bool recognize(const Situation *situation) {
    return situation->part_count == 1;
}

// What goes to several owners is counted once.
static Cost count(const Situation *situation, Cost own) {
    return holding_count(situation->parts) > 1 ? count_all(situation, own) : count_others(situation, own);
}

static int64_t scratch(const RankOperation *plan, const Locator *locator) {
    (void)locator;
    int64_t elements = 0;
    for (int64_t i = 0; i < plan->receive_count; i++)
        elements += rect_volume(&plan->receives[i].rect);
    return elements;
}

static Piece received(const OperationCall *call, int64_t *offset, int64_t index) {
    const Rect *rect = &call->plan->receives[index].rect;
    const Piece piece = call_scratch(call, rect, *offset);
    *offset += rect_volume(rect);
    return piece;
}

static bool prepare(OperationCall *call) {
    const RankOperation *plan = call->plan;
    int64_t offset = 0;
    call->receives = arena_array(call->scope->arena, Operand, plan->receive_count);
    for (int64_t i = 0; i < plan->receive_count; i++) {
        const Piece piece = received(call, &offset, i);
        Operand *operand = &call->receives[i];
        operand->data = call_address(&piece, piece.data);
        operand->peer = (int)plan->receives[i].peer;
        if (!message_single(call->scope->types, &piece, &piece.rect, &operand->message))
            return false;
    }
    return call_describe_sends(call);
}

static void finish(OperationCall *call) {
    int64_t offset = 0;
    for (int64_t i = 0; i < call->plan->receive_count; i++) {
        const Piece partial = received(call, &offset, i);
        call_take(call, &call->plan->receives[i], &partial);
    }
}

const Operation operation_accumulate = {OPERATION_ACCUMULATE,    "reduce",           TRANSFER_REDUCE,
                                        SHAPE_MESSAGES,          .serves_all = true, .recognize = recognize,
                                        .count = count,          .scratch = scratch, .prepare = prepare,
                                        .start = messages_start, .finish = finish};
