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

// Decided from a sample of ranks in the first step, so that all ranks decide alike.
static bool is_collective(const Planner *planner) {
    const Footprints *footprints = planner->footprints;
    const Home *home = planner->home;
    enum { SAMPLES = 4 };
    if (!planner->many_to_many || home->kind != HOME_LAYOUT || home->replicated ||
        footprints->member_keys > 1 || footprints->ranks < SAMPLES || footprints->steps == 0)
        return false;
    for (int64_t i = 0; i < SAMPLES; i++) {
        Worker worker;
        Footprint footprint;
        int64_t parts = 0;
        if (footprint_of_rank(footprints, i * footprints->ranks / SAMPLES, 0, planner->arena, &worker,
                              &footprint))
            for (int64_t k = 0; k < footprint.region.rects.count; k++)
                parts += layout_part_count(&home->layout, &footprint.region.rects.items[k], planner->arena);
        if (2 * parts < footprints->ranks)
            return false;
    }
    return true;
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

const Operation operation_exchange = {OPERATION_EXCHANGE,     "exchange",
                                      TRANSFER_FETCH,         SHAPE_MESSAGES,
                                      .recognize = recognize, .is_collective = is_collective,
                                      .count = count_others,  .prepare = prepare,
                                      .start = start};
