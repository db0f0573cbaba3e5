// SPDX-License-Identifier: BSD-3-Clause
// Exchange: many ranks need parts of what many others have at home, as where a tensor is redistributed. Where
// most members of a group send to most others, the messages are one collective operation, in which the MPI
// library bounds how many of them are under way; else they go from rank to rank.
#include "operation/all_to_all.h"
#include "operation/messages.h"
#include "plan/situation.h"

static bool recognize(const Situation *situation) {
    return situation->part_count == 1 && situation->planner->many_to_many;
}

static bool prepare(OperationCall *call) {
    const RankOperation *plan = call->plan;
    if (!call_describe(call))
        return false;
    if (call->group)
        call->details =
            all_to_all_create(call, plan->send_count, call->sends, plan->receive_count, call->receives);
    return !call->group || call->details;
}

static void start(OperationCall *call) {
    if (!call->group) {
        messages_start(call);
        return;
    }
    call_count(call);
    all_to_all_start(call, call->details);
}

const Operation operation_exchange = {
    OPERATION_EXCHANGE,    "exchange",         TRANSFER_FETCH, SHAPE_MESSAGES, .recognize = recognize,
    .count = count_others, .prepare = prepare, .start = start};
