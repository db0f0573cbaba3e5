// SPDX-License-Identifier: BSD-3-Clause
// All-gather: every member of a group needs what all of them own. Parts that are contiguous in the view are
// received there, others packed into scratch memory and copied from there: a datatype for every part of a
// matrix in blocks would be one element after the other. More elements than an int counts go as an
// all-to-all.
#include "operation/all_to_all.h"

#include "base/integer.h"
#include "plan/situation.h"

#include <limits.h>

typedef struct {
    AllToAll *large; // else NULL
    bool packed;     // received into scratch
    char *base;      // `offsets` count from here
    int *counts, *offsets;
} AllGather;

static bool recognize(const Situation *situation) {
    return situation_is_spread(situation) &&
           (situation->part_count > MANY_PARTS ||
            (situation_is_contiguous(situation) && situation_has_whole_homes(situation)));
}

static int64_t total(const RankOperation *plan) {
    int64_t elements = 0;
    for (int64_t i = 0; i < plan->receive_count; i++)
        elements += rect_volume(&plan->receives[i].rect);
    return elements;
}

// The least offset of a part in the view, -1 where parts cannot be received there.
static int64_t first_in_view(const RankOperation *plan, const Locator *locator) {
    int64_t least = INT64_MAX, most = 0;
    for (int64_t i = 0; i < plan->receive_count; i++) {
        if (rect_is_empty(&plan->receives[i].rect))
            continue;
        const int64_t offset = locator->locate(locator->context, &plan->receives[i]);
        if (offset < 0)
            return -1;
        least = min_i64(least, offset);
        most = max_i64(most, offset);
    }
    least = min_i64(least, most);
    return most - least <= INT_MAX ? least : -1;
}

static bool is_large(const RankOperation *plan) {
    return total(plan) > CALL_ELEMENTS;
}

static int64_t scratch(const RankOperation *plan, const Locator *locator) {
    return is_large(plan) || first_in_view(plan, locator) >= 0 ? 0 : total(plan);
}

static void find_parts(OperationCall *call, AllGather *gather) {
    const RankOperation *plan = call->plan;
    const Locator locator = call_locator(call);
    const int64_t size = (int64_t)type_info(call->scope->storage->type)->size;
    const int64_t first = first_in_view(plan, &locator);
    int64_t offset = 0;
    gather->packed = first < 0;
    const Piece to = gather->packed ? call_scratch(call, &plan->receives[0].rect, 0) : call->scope->view;
    if (to.data)
        gather->base = call_address(&to, (char *)to.data + (gather->packed ? 0 : first * size));
    for (int64_t i = 0; i < plan->receive_count; i++) {
        const int64_t volume = rect_volume(&plan->receives[i].rect);
        if (volume > 0)
            gather->offsets[i] =
                (int)(gather->packed ? offset : locator.locate(locator.context, &plan->receives[i]) - first);
        gather->counts[i] = (int)volume;
        offset += volume;
    }
}

static bool prepare_large(OperationCall *call, AllGather *gather) {
    Operand *sends = arena_array(call->scope->arena, Operand, call->group->count);
    if (!call_describe(call))
        return false;
    for (int64_t m = 0; m < call->group->count; m++) {
        sends[m] = call->sends[0];
        sends[m].peer = (int)m;
    }
    gather->large =
        all_to_all_create(call, call->group->count, sends, call->plan->receive_count, call->receives);
    return gather->large != NULL;
}

static bool prepare(OperationCall *call) {
    Arena *arena = call->scope->arena;
    const RankOperation *plan = call->plan;
    AllGather *gather = call->details = arena_new(arena, AllGather);
    if (is_large(plan))
        return prepare_large(call, gather);
    gather->counts = arena_array(arena, int, plan->receive_count);
    gather->offsets = arena_array(arena, int, plan->receive_count);
    find_parts(call, gather);
    return call_describe_sends(call);
}

static void start(OperationCall *call) {
    const AllGather *gather = call->details;
    call_count(call);
    if (gather->large) {
        all_to_all_start(call, gather->large);
        return;
    }
    const MPI_Datatype element = message_element(call->scope->storage->type);
    const Operand *own = &call->sends[0];
    if (call->scope->blocking)
        MPI_Allgatherv(own->data, own->message.count, own->message.type, gather->base, gather->counts,
                       gather->offsets, element, call->comm);
    else
        MPI_Iallgatherv(own->data, own->message.count, own->message.type, gather->base, gather->counts,
                        gather->offsets, element, call->comm, call_request(call));
}

static void finish(OperationCall *call) {
    const AllGather *gather = call->details;
    int64_t offset = 0;
    for (int64_t i = 0; gather->packed && i < call->plan->receive_count; offset += gather->counts[i++]) {
        const Rect *rect = &call->plan->receives[i].rect;
        const Piece part = call_scratch(call, rect, offset);
        piece_copy(&call->scope->view, &part, rect);
    }
}

const Operation operation_all_gather = {OPERATION_ALL_GATHER,
                                        "all-gather",
                                        TRANSFER_FETCH,
                                        SHAPE_MEMBERS,
                                        .timed_as = COLLECTIVE_ALL_GATHER,
                                        .recognize = recognize,
                                        .count = count_others,
                                        .scratch = scratch,
                                        .prepare = prepare,
                                        .start = start,
                                        .finish = finish};
