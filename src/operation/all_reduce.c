// SPDX-License-Identifier: BSD-3-Clause
// All-reduce: partial results are added up at all owners of a replicated tensor, with what the first owner
// has at home. An owner receives the sum in its home piece, a rank that only contributes in place of its
// partial result.
#include "operation/sum.h"

typedef struct {
    Sum sum;
    const void *send; // MPI_IN_PLACE: what is in `sum`
} AllReduce;

static bool is_owner(const OperationCall *call) {
    return call->plan->receive_count > 0;
}

// Whether the sum here starts with what the home piece holds.
static bool is_first_owner(const OperationCall *call) {
    return call->plan->root == call->scope->plan->rank;
}

static bool prepare(OperationCall *call) {
    const RankOperation *plan = call->plan;
    AllReduce *all = call->details = arena_new(call->scope->arena, AllReduce);
    all->send = MPI_IN_PLACE;
    if (!is_owner(call)) {
        all->sum = sum_create(call, plan->sends, true, 0);
        return true;
    }
    all->sum = sum_create(call, plan->receives, plan->exclusive, 0);
    if (plan->contributes && call_is_packed(call, plan->sends) && !(plan->exclusive && is_first_owner(call)))
        all->send = call_data(call, plan->sends);
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

const Operation operation_all_reduce = {OPERATION_ALL_REDUCE, "all-reduce", .prepare = prepare,
                                        .start = start, .finish = finish};
