// SPDX-License-Identifier: BSD-3-Clause
// All-gather: every member of a group needs what all of them own. Parts that are contiguous in the view are
// received there, others packed into scratch memory and copied from there: a datatype for every part of a
// matrix in blocks would be one element after the other. More elements than an int counts go as an
// all-to-all.
#include "operation/all_to_all.h"

#include "base/integer.h"

#include <limits.h>

typedef struct {
    AllToAll *large; // else NULL
    bool packed;     // received into scratch
    char *base;      // `offsets` count from here
    int *counts, *offsets;
} AllGather;

static int64_t total(const RankOperation *plan) {
    int64_t elements = 0;
    for (int64_t i = 0; i < plan->receive_count; i++)
        elements += rect_volume(&plan->receives[i].rect);
    return elements;
}

// Where the parts are, from the first one on in memory. False where they cannot be received there.
static bool find_in_view(const OperationCall *call, AllGather *gather) {
    const RankOperation *plan = call->plan;
    const int64_t size = (int64_t)type_info(call->scope->storage->type)->size;
    for (int64_t i = 0; i < plan->receive_count; i++) {
        char *at = call_data(call, &plan->receives[i]);
        if (at && !call_is_packed(call, &plan->receives[i]))
            return false;
        if (at && (!gather->base || at < gather->base))
            gather->base = at;
    }
    for (int64_t i = 0; i < plan->receive_count; i++) {
        const char *at = call_data(call, &plan->receives[i]);
        const int64_t offset = at ? (at - gather->base) / size : 0;
        if (offset > INT_MAX)
            return false;
        gather->offsets[i] = (int)offset;
    }
    return true;
}

static void find_in_scratch(const OperationCall *call, AllGather *gather) {
    int64_t offset = 0;
    gather->packed = true;
    gather->base = call_scratch(call, &call->plan->receives[0].rect, 0).data;
    for (int64_t i = 0; i < call->plan->receive_count; offset += gather->counts[i++])
        gather->offsets[i] = (int)offset;
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
    if (total(plan) > CALL_ELEMENTS)
        return prepare_large(call, gather);
    gather->counts = arena_array(arena, int, plan->receive_count);
    gather->offsets = arena_array(arena, int, plan->receive_count);
    for (int64_t i = 0; i < plan->receive_count; i++)
        gather->counts[i] = (int)rect_volume(&plan->receives[i].rect);
    if (!find_in_view(call, gather))
        find_in_scratch(call, gather);
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
        piece_copy(&call->scope->view, &part, rect, call->scope->storage->type);
    }
}

const Operation operation_all_gather = {OPERATION_ALL_GATHER, "all-gather", .prepare = prepare,
                                        .start = start, .finish = finish};
