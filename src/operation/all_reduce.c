// SPDX-License-Identifier: BSD-3-Clause
// All-reduce: partial results are added up at all owners of a replicated tensor, with what the first owner
// has at home. An owner receives the sum in its home piece, a rank that only contributes in place of its
// partial result. MPI takes MPI_IN_PLACE from all members or from none (MPI 3.1, 5.9.6), and members do not
// know which others could do without: a partial result that is not in the memory of the sum is copied there.
#include "operation/sum.h"
#include "plan/situation.h"

static bool recognize(const Situation *situation) {
    return situation->part_count == 1 && holding_count(situation->parts) > 1;
}

// In which the sum is received.
static const Part *own_part(const RankOperation *plan) {
    return plan->receive_count ? plan->receives : plan->sends;
}

static bool is_in_place(const RankOperation *plan, const Locator *locator) {
    return (plan->receive_count == 0 || plan->exclusive) && sum_fits(own_part(plan), locator);
}

static int64_t scratch(const RankOperation *plan, const Locator *locator) {
    return is_in_place(plan, locator) ? 0 : rect_volume(&own_part(plan)->rect);
}

// Whether the sum here starts with what the home piece holds.
static bool is_first_owner(const OperationCall *call) {
    return call->plan->root == call->scope->plan->rank;
}

static bool prepare(OperationCall *call) {
    const RankOperation *plan = call->plan;
    const Locator locator = call_locator(call);
    Sum *sum = call->details = arena_new(call->scope->arena, Sum);
    *sum = is_in_place(plan, &locator) ? sum_in_place(call, own_part(plan))
                                       : sum_in_scratch(call, own_part(plan), 0);
    return true;
}

static void start(OperationCall *call) {
    const Sum *sum = call->details;
    call_count(call);
    if (is_first_owner(call))
        sum_begin_at_owner(call, sum);
    else
        sum_begin(call, sum);
    sum_start(call, sum, -1);
}

static void finish(OperationCall *call) {
    if (call->plan->receive_count)
        sum_end_at_owner(call, call->details);
}

const Operation operation_all_reduce = {OPERATION_ALL_REDUCE,   "all-reduce",
                                        TRANSFER_REDUCE,        SHAPE_PART,
                                        .sums = true,           .timed_as = COLLECTIVE_ALL_REDUCE,
                                        .recognize = recognize, .count = count_all,
                                        .scratch = scratch,     .prepare = prepare,
                                        .start = start,         .finish = finish};
