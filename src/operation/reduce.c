// SPDX-License-Identifier: BSD-3-Clause
// Reduce: partial results of several ranks are added up at the one owner of their rectangle.
#include "operation/sum.h"
#include "plan/situation.h"

static bool recognize(const Situation *situation) {
    return situation->part_count == 1 && holding_count(situation->parts) == 1 && situation->others > 1;
}

static bool is_owner(const OperationCall *call) {
    return call->plan->receive_count > 0;
}

// This rank's part, at home or in its view.
static const Part *own_part(const RankOperation *plan) {
    return plan->receive_count ? plan->receives : plan->sends;
}

static bool is_in_place(const RankOperation *plan, const Locator *locator) {
    return (plan->receive_count == 0 || plan->exclusive) && sum_fits(own_part(plan), locator);
}

static int64_t scratch(const RankOperation *plan, const Locator *locator) {
    return is_in_place(plan, locator) ? 0 : rect_volume(&own_part(plan)->rect);
}

static bool prepare(OperationCall *call) {
    const Locator locator = call_locator(call);
    Sum *sum = call->details = arena_new(call->scope->arena, Sum);
    *sum = is_in_place(call->plan, &locator) ? sum_in_place(call, own_part(call->plan))
                                             : sum_in_scratch(call, own_part(call->plan), 0);
    return true;
}

static void start(OperationCall *call) {
    const Sum *sum = call->details;
    call_count(call);
    if (is_owner(call))
        sum_begin_at_owner(call, sum);
    else
        sum_begin(call, sum);
    sum_start(call, sum, call->root);
}

static void finish(OperationCall *call) {
    if (is_owner(call))
        sum_end_at_owner(call, call->details);
}

const Operation operation_reduce = {OPERATION_REDUCE,       "reduce",
                                    TRANSFER_REDUCE,        SHAPE_PART,
                                    .sums = true,           .timed_as = COLLECTIVE_REDUCE,
                                    .recognize = recognize, .count = count_others,
                                    .scratch = scratch,     .prepare = prepare,
                                    .start = start,         .finish = finish};
