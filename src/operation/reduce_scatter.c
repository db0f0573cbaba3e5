// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter: every member of a group has partial results of all that the members own, and each gets the
// sum of its own part. Parts that follow each other in the view are sent from there, others from packed
// copies. Where it can, the owner adds what its home piece holds to its partial result first, and receives
// the sum in the home piece.
#include "operation/sum.h"
#include "plan/situation.h"

typedef struct {
    Sum *parts;  // by member: partial results
    int own;     // this rank's among them
    int *counts; // NULL: a sum for each part, at its owner, in place of its partial result
    Sum result;
} ReduceScatter;

static bool recognize(const Situation *situation) {
    return situation_is_spread(situation) &&
           (situation->part_count > MANY_PARTS || situation_has_whole_homes(situation));
}

static bool follow_each_other(const RankOperation *plan, const Locator *locator) {
    int64_t end = -1;
    for (int64_t i = 0; i < plan->send_count; i++) {
        const int64_t volume = rect_volume(&plan->sends[i].rect);
        if (volume == 0)
            continue;
        const int64_t offset = locator->locate(locator->context, &plan->sends[i]);
        if (offset < 0 || (end >= 0 && offset != end))
            return false;
        end = offset + volume;
    }
    return true;
}

static int64_t total(const RankOperation *plan) {
    int64_t elements = 0;
    for (int64_t i = 0; i < plan->send_count; i++)
        elements += rect_volume(&plan->sends[i].rect);
    return elements;
}

// A sum for each part: of more elements than one call can count, and in memory of a GPU.
static bool is_apart(const RankOperation *plan, const Locator *locator) {
    return locator->on_gpu || total(plan) > CALL_ELEMENTS;
}

// Whether the sum of the own part is received in the home piece.
static bool is_at_home(const RankOperation *plan, const Locator *locator) {
    return plan->exclusive && sum_fits(plan->receives, locator);
}

// Packed partial results, then the sum of the own part.
static int64_t scratch(const RankOperation *plan, const Locator *locator) {
    const int64_t copies = follow_each_other(plan, locator) ? 0 : total(plan);
    if (plan->receive_count == 0 || is_apart(plan, locator) || is_at_home(plan, locator))
        return copies;
    return copies + rect_volume(&plan->receives->rect);
}

static bool prepare(OperationCall *call) {
    Arena *arena = call->scope->arena;
    const RankOperation *plan = call->plan;
    const Locator locator = call_locator(call);
    ReduceScatter *scatter = call->details = arena_new(arena, ReduceScatter);
    const bool in_place = follow_each_other(plan, &locator);
    int64_t offset = 0;
    scatter->parts = arena_array(arena, Sum, plan->send_count);
    scatter->counts = arena_array(arena, int, plan->send_count);
    for (int64_t i = 0; i < plan->send_count; i++) {
        const int64_t volume = rect_volume(&plan->sends[i].rect);
        scatter->parts[i] =
            in_place ? sum_in_place(call, &plan->sends[i]) : sum_in_scratch(call, &plan->sends[i], offset);
        scatter->counts[i] = (int)volume;
        offset += volume;
    }
    scatter->own = call_member(call, call->scope->plan->rank);
    if (is_apart(plan, &locator)) {
        scatter->counts = NULL;
        scatter->result = scatter->parts[scatter->own];
    } else {
        scatter->result = is_at_home(plan, &locator)
                              ? sum_in_place(call, plan->receives)
                              : sum_in_scratch(call, plan->receives, in_place ? 0 : offset);
    }
    return true;
}

// Whether the sum is received in the home piece.
static bool is_in_home(const ReduceScatter *scatter) {
    return scatter->counts && !scatter->result.is_scratch;
}

// The first element of all parts.
static const void *first_data(const ReduceScatter *scatter, int64_t count) {
    int64_t first = 0;
    while (first + 1 < count && rect_is_empty(&scatter->parts[first].piece.rect))
        first++;
    return scatter->parts[first].piece.data;
}

static void start(OperationCall *call) {
    const ReduceScatter *scatter = call->details;
    const ElementType type = call->scope->storage->type;
    call_count(call);
    for (int64_t i = 0; i < call->plan->send_count; i++)
        if (scatter->parts[i].is_scratch)
            piece_copy(&scatter->parts[i].piece, &call->scope->view, &scatter->parts[i].piece.rect);
    const Piece *own = &scatter->parts[scatter->own].piece;
    if (is_in_home(scatter))
        piece_reduce(call_reducer(call), own, call_piece(call, call->plan->receives), &own->rect);
    if (!scatter->counts) {
        sum_start_each(call, scatter->parts, (int)call->plan->send_count);
        return;
    }
    const MPI_Datatype element = message_element(type);
    const void *send = first_data(scatter, call->plan->send_count);
    if (call->scope->blocking)
        MPI_Reduce_scatter(send, scatter->result.piece.data, scatter->counts, element,
                           reducer_op(call_reducer(call), call->scope->storage->type), call->comm);
    else
        MPI_Ireduce_scatter(send, scatter->result.piece.data, scatter->counts, element,
                            reducer_op(call_reducer(call), call->scope->storage->type), call->comm,
                            call_request(call));
}

static void finish(OperationCall *call) {
    const ReduceScatter *scatter = call->details;
    if (!is_in_home(scatter))
        piece_reduce(call_reducer(call), call_piece(call, call->plan->receives), &scatter->result.piece,
                     &scatter->result.piece.rect);
}

const Operation operation_reduce_scatter = {OPERATION_REDUCE_SCATTER,
                                            "reduce-scatter",
                                            TRANSFER_REDUCE,
                                            SHAPE_MEMBERS,
                                            .sums = true,
                                            .timed_as = COLLECTIVE_REDUCE_SCATTER,
                                            .recognize = recognize,
                                            .count = count_others,
                                            .scratch = scratch,
                                            .prepare = prepare,
                                            .start = start,
                                            .finish = finish};
