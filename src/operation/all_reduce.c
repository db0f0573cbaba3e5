// SPDX-License-Identifier: BSD-3-Clause
// All-reduce: partial results are added up at all owners of a replicated tensor, with what the first owner
// has at home. An owner receives the sum in its home piece, a rank that only contributes in place of its
// partial result.
#include "operation/sum.h"
#include "plan/situation.h"

typedef struct {
    Sum sum;
    const void *send; // MPI_IN_PLACE: what is in `sum`
} AllReduce;

static bool recognize(const Situation *situation) {
    return situation->part_count == 1 && owner_count(situation->parts) > 1;
}

static bool is_owner(const OperationCall *call) {
    return call->plan->receive_count > 0;
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
    AllReduce *all = call->details = arena_new(call->scope->arena, AllReduce);
    all->sum = is_in_place(plan, &locator) ? sum_in_place(call, own_part(plan))
                                           : sum_in_scratch(call, own_part(plan), 0);
    const bool starts_at_home = plan->exclusive && is_first_owner(call);
    all->send = is_owner(call) && plan->contributes && !starts_at_home && sum_fits(plan->sends, &locator)
                    ? call_data(call, plan->sends)
                    : MPI_IN_PLACE;
    return true;
}

static void start(OperationCall *call) {
    const AllReduce *all = call->details;
    call_count(call);
    if (is_first_owner(call) && call->plan->exclusive)
        sum_begin_at_owner(call, &all->sum);
    else if (all->send == MPI_IN_PLACE)
        sum_begin(call, &all->sum);
    sum_start(call, all->send, all->sum.piece.data, rect_volume(&all->sum.piece.rect), -1);
}

static void finish(OperationCall *call) {
    const AllReduce *all = call->details;
    if (is_owner(call))
        sum_end_at_owner(call, &all->sum);
}

const Operation operation_all_reduce = {
    OPERATION_ALL_REDUCE, "all-reduce",       TRANSFER_REDUCE,    SHAPE_PART,     .recognize = recognize,
    .count = count_all,   .scratch = scratch, .prepare = prepare, .start = start, .finish = finish};
