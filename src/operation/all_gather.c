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

// Whether parts can be received in the view. *first is set to the least offset of a part there.
static bool is_in_view(const RankOperation *plan, const Locator *locator, int64_t *first) {
    int64_t least = INT64_MAX, most = 0;
    for (int64_t i = 0; i < plan->receive_count; i++) {
        if (rect_is_empty(&plan->receives[i].rect))
            continue;
        const int64_t offset = locator->locate(locator->context, &plan->receives[i]);
        if (offset < 0)
            return false;
        least = min_i64(least, offset);
        most = max_i64(most, offset);
    }
    *first = least;
    return most <= least || most - least <= INT_MAX;
}

static bool is_large(const RankOperation *plan) {
    return total(plan) > CALL_ELEMENTS;
}

static int64_t scratch(const RankOperation *plan, const Locator *locator) {
    int64_t first;
    return is_large(plan) || is_in_view(plan, locator, &first) ? 0 : total(plan);
}

static void find_parts(OperationCall *call, AllGather *gather) {
    const RankOperation *plan = call->plan;
    const Locator locator = call_locator(call);
    const int64_t size = (int64_t)type_info(call->scope->storage->type)->size;
    int64_t first, offset = 0;
    gather->packed = !is_in_view(plan, &locator, &first);
    if (gather->packed)
        gather->base = call_scratch(call, &plan->receives[0].rect, 0).data;
    else if (first < INT64_MAX)
        gather->base = (char *)call->scope->view.data + first * size;
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

const Operation operation_all_gather = {OPERATION_ALL_GATHER, "all-gather",   .scratch = scratch,
                                        .prepare = prepare,   .start = start, .finish = finish};
