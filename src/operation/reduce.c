// SPDX-License-Identifier: BSD-3-Clause
// Reduce: partial results are added up at the one owner of their rectangle. Between two ranks they are
// messages, which the owner adds to its home piece in the order of the plan, so that the sum is the same in
// every run.
#include "operation/messages.h"
#include "operation/sum.h"

static Piece received(const OperationCall *call, int64_t *offset, int64_t index) {
    const Rect *rect = &call->plan->receives[index].rect;
    const Piece piece = call_scratch(call, rect, *offset);
    *offset += rect_volume(rect);
    return piece;
}

static bool prepare_messages(OperationCall *call) {
    const RankOperation *plan = call->plan;
    int64_t offset = 0;
    call->receives = arena_array(call->scope->arena, Operand, plan->receive_count);
    for (int64_t i = 0; i < plan->receive_count; i++) {
        const Piece piece = received(call, &offset, i);
        Operand *operand = &call->receives[i];
        operand->data = piece.data;
        operand->peer = (int)plan->receives[i].peer;
        if (!message_single(call->scope->types, &piece, &piece.rect, &operand->message))
            return false;
    }
    return call_describe_sends(call);
}

static bool is_owner(const OperationCall *call) {
    return call->plan->receive_count > 0;
}

// Of a group: this rank's part, at home or in its view.
static const Part *own_part(const RankOperation *plan) {
    return plan->receive_count ? plan->receives : plan->sends;
}

static bool is_in_place(const RankOperation *plan, const Locator *locator) {
    return (plan->receive_count == 0 || plan->exclusive) && sum_fits(own_part(plan), locator);
}

static int64_t scratch(const RankOperation *plan, const Locator *locator) {
    if (plan->group >= 0)
        return is_in_place(plan, locator) ? 0 : rect_volume(&own_part(plan)->rect);
    int64_t elements = 0;
    for (int64_t i = 0; i < plan->receive_count; i++)
        elements += rect_volume(&plan->receives[i].rect);
    return elements;
}

static bool prepare(OperationCall *call) {
    if (!call->group)
        return prepare_messages(call);
    const Locator locator = call_locator(call);
    Sum *sum = call->details = arena_new(call->scope->arena, Sum);
    *sum = is_in_place(call->plan, &locator) ? sum_in_place(call, own_part(call->plan))
                                             : sum_in_scratch(call, own_part(call->plan), 0);
    return true;
}

static void start(OperationCall *call) {
    if (!call->group) {
        messages_start(call);
        return;
    }
    const Sum *sum = call->details;
    const int64_t count = rect_volume(&sum->piece.rect);
    call_count(call);
    if (is_owner(call)) {
        sum_begin_at_owner(call, sum);
        sum_start(call, MPI_IN_PLACE, sum->piece.data, count, call->root);
    } else {
        sum_begin(call, sum);
        sum_start(call, sum->piece.data, NULL, count, call->root);
    }
}

static void finish(OperationCall *call) {
    if (call->group) {
        if (is_owner(call))
            sum_end_at_owner(call, call->details);
        return;
    }
    int64_t offset = 0;
    for (int64_t i = 0; i < call->plan->receive_count; i++) {
        const Piece partial = received(call, &offset, i);
        piece_add(call_piece(call, &call->plan->receives[i]), &partial, &partial.rect);
    }
}

const Operation operation_reduce = {OPERATION_REDUCE,   "reduce",       .scratch = scratch,
                                    .prepare = prepare, .start = start, .finish = finish};
