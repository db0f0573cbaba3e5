// SPDX-License-Identifier: BSD-3-Clause
// The plan of one rank in a transfer: its share of every step of the walk.
#include "base/integer.h"
#include "plan/ranks.h"
#include "plan/scratch.h"
#include "plan/walk.h"

#include <stdlib.h>

typedef Array(Part) PartArray;

typedef struct {
    int64_t rank;
    const Home *home;
    int64_t size; // of an element
    Arena *arena;
    Array(RankStep) steps;
    Array(RankOperation) operations;
} Builder;

static void push_part(Builder *builder, PartArray *parts, const Rect *rect, int64_t peer, int64_t piece,
                      bool previous) {
    // A walk forgets its periodic sets.
    array_push(
        builder->arena, *parts,
        (Part){.rect = rect_copy(rect, builder->arena), .peer = peer, .piece = piece, .previous = previous});
}

static int compare_parts(const void *left, const void *right) {
    const Part *a = left, *b = right;
    return a->peer != b->peer ? (a->peer < b->peer ? -1 : 1) : rect_compare(&a->rect, &b->rect);
}

// By peer, and those of the same two ranks in the same order at both ends.
static void sort_parts(PartArray *parts) {
    if (parts->count > 1)
        qsort(parts->items, (size_t)parts->count, sizeof(Part), compare_parts);
}

static void set_parts(RankOperation *operation, const PartArray *sends, const PartArray *receives) {
    operation->sends = sends->items;
    operation->send_count = sends->count;
    operation->receives = receives->items;
    operation->receive_count = receives->count;
}

static int64_t parts_volume(const PartArray *parts) {
    int64_t volume = 0;
    for (int64_t i = 0; i < parts->count; i++)
        volume += rect_volume(&parts->items[i].rect);
    return volume;
}

static RankOperation operation_of(OperationId id) {
    return (RankOperation){.operation = operations[id], .group = -1, .root = -1};
}

// What lies at home but not in one piece, or not alone, is copied into the buffer beside what is received.
static void copy_own(Builder *builder, const Need *need) {
    const RectArray *own = &builder->home->pieces[builder->rank].rects;
    PartArray sends = {0}, receives = {0};
    Region rest = {0};
    for (int64_t i = 0; i < need->demand->region.rects.count; i++)
        array_push(builder->arena, rest.rects, need->demand->region.rects.items[i]);
    for (int64_t piece = 0; piece < own->count; piece++) {
        for (int64_t i = 0; i < rest.rects.count; i++) {
            Rect part;
            if (rect_intersect(&own->items[piece], &rest.rects.items[i], builder->arena, &part))
                push_part(builder, &receives, &part, builder->rank, piece, false);
        }
        region_subtract(&rest, &own->items[piece], builder->arena);
    }
    RankOperation operation = operation_of(OPERATION_LOCAL);
    set_parts(&operation, &sends, &receives);
    if (receives.count)
        array_push(builder->arena, builder->operations, operation);
}

static bool receives(const Builder *builder, const Delivery *delivery) {
    return ranks_contain(delivery->targets.items, delivery->targets.count, builder->rank);
}

// Messages of one pattern, as one operation.
static void push_messages(Builder *builder, const Walk *walk, OperationId id, bool shifts) {
    const int64_t rank = builder->rank;
    PartArray sent = {0}, received = {0};
    for (int64_t i = 0; i < walk->deliveries.count; i++) {
        const Delivery *delivery = &walk->deliveries.items[i];
        if (delivery->group >= 0 || delivery->from_view != shifts)
            continue;
        if (receives(builder, delivery))
            push_part(builder, &received, &delivery->rect, delivery->source, -1, false);
        const int64_t piece = home_piece_with(builder->home, rank, &delivery->rect);
        for (int64_t k = 0; delivery->source == rank && k < delivery->targets.count; k++)
            push_part(builder, &sent, &delivery->rect, delivery->targets.items[k], piece,
                      delivery->from_view);
    }
    if (sent.count + received.count == 0)
        return;
    RankOperation operation = operation_of(id);
    sort_parts(&sent);
    sort_parts(&received);
    set_parts(&operation, &sent, &received);
    operation.messages = received.count;
    operation.bytes = parts_volume(&received) * builder->size;
    array_push(builder->arena, builder->operations, operation);
}

static void push_broadcast(Builder *builder, const Delivery *delivery) {
    PartArray sent = {0}, received = {0};
    RankOperation operation = operation_of(OPERATION_BROADCAST);
    operation.group = delivery->group;
    operation.root = delivery->source;
    if (delivery->source == builder->rank)
        push_part(builder, &sent, &delivery->rect, builder->rank,
                  home_piece_with(builder->home, builder->rank, &delivery->rect), false);
    else
        push_part(builder, &received, &delivery->rect, delivery->source, -1, false);
    set_parts(&operation, &sent, &received);
    operation.messages = received.count;
    operation.bytes = parts_volume(&received) * builder->size;
    array_push(builder->arena, builder->operations, operation);
}

static void fetch_operations(Builder *builder, const Walk *walk) {
    const Need *need = &walk->needs[builder->rank];
    push_messages(builder, walk, OPERATION_SHIFT, true);
    push_messages(builder, walk, OPERATION_GATHER, false);
    for (int64_t i = 0; i < walk->deliveries.count; i++) {
        const Delivery *delivery = &walk->deliveries.items[i];
        if (delivery->group >= 0 && (delivery->source == builder->rank || receives(builder, delivery)))
            push_broadcast(builder, delivery);
    }
    if (need->demand->region.rects.count && need->piece < 0 && !need->kept)
        copy_own(builder, need);
}

// Whether no other combination of the step adds to elements of this one.
static bool is_exclusive(const Walk *walk, const Combination *combination) {
    for (int64_t i = 0; i < walk->combinations.count; i++)
        if (&walk->combinations.items[i] != combination &&
            rect_common(&walk->combinations.items[i].rect, &combination->rect) > 0)
            return false;
    return true;
}

static void push_sum(Builder *builder, const Walk *walk, const Combination *combination, bool owns,
                     bool contributes) {
    const int64_t rank = builder->rank;
    PartArray sent = {0}, received = {0};
    RankOperation operation =
        operation_of(combination->owner_count > 1 ? OPERATION_ALL_REDUCE : OPERATION_REDUCE);
    operation.group = combination->group;
    operation.root = combination->owners[0];
    operation.contributes = contributes;
    operation.exclusive = is_exclusive(walk, combination);
    if (contributes)
        push_part(builder, &sent, &combination->rect, combination->owners[0], -1, false);
    if (owns)
        push_part(builder, &received, &combination->rect, rank,
                  home_piece_with(builder->home, rank, &combination->rect), false);
    if (contributes && (!owns || combination->owner_count > 1)) {
        operation.messages = 1;
        operation.bytes = parts_volume(&sent) * builder->size;
    }
    set_parts(&operation, &sent, &received);
    array_push(builder->arena, builder->operations, operation);
}

static void reduce_operations(Builder *builder, const Walk *walk) {
    const int64_t rank = builder->rank;
    PartArray none = {0}, own = {0}, sent = {0}, received = {0};
    for (int64_t i = 0; i < walk->combinations.count; i++) {
        const Combination *combination = &walk->combinations.items[i];
        const Rect *rect = &combination->rect;
        bool owns = ranks_contain(combination->owners, combination->owner_count, rank);
        bool contributes = ranks_contain(combination->contributors, combination->contributor_count, rank);
        if (!owns && !contributes)
            continue;
        if (combination->group >= 0) {
            push_sum(builder, walk, combination, owns, contributes);
            continue;
        }
        const int64_t piece = owns ? home_piece_with(builder->home, rank, rect) : -1;
        const int64_t owner = combination->owners[0];
        if (!owns)
            push_part(builder, &sent, rect, owner, -1, false);
        if (owns && contributes)
            push_part(builder, &own, rect, rank, piece, false);
        for (int64_t k = 0; owns && k < combination->contributor_count; k++)
            if (combination->contributors[k] != rank)
                push_part(builder, &received, rect, combination->contributors[k], piece, false);
    }
    RankOperation local = operation_of(OPERATION_LOCAL), reduce = operation_of(OPERATION_REDUCE);
    set_parts(&local, &none, &own);
    if (own.count)
        array_push(builder->arena, builder->operations, local);
    if (sent.count + received.count == 0)
        return;
    sort_parts(&sent);
    sort_parts(&received);
    set_parts(&reduce, &sent, &received);
    reduce.messages = sent.count;
    reduce.bytes = parts_volume(&sent) * builder->size;
    array_push(builder->arena, builder->operations, reduce);
}

static void set_view(Builder *builder, const Need *need, RankStep *step) {
    const Rect *bounds = &need->demand->bounds;
    step->view = step->piece >= 0 ? builder->home->pieces[builder->rank].rects.items[step->piece]
                                  : rect_copy(bounds, builder->arena);
    for (int m = 0; m < bounds->order; m++)
        step->first[m] = need->demand->first[m] - positions_index(rect_mode(&step->view, m), bounds->lo[m]);
}

static int64_t step_scratch(const Builder *builder, const RankStep *step) {
    const PackedMemory memory = {&step->view, builder->home->pieces[builder->rank].rects.items,
                                 builder->home->tensor->mode_order};
    int64_t elements = 0;
    for (int64_t i = step->first_operation; i < builder->operations.count; i++)
        elements += operation_scratch(&builder->operations.items[i], &memory);
    return elements;
}

const RankTransfer *plan_rank_transfer(StatementPlan *plan, int transfer, int64_t rank) {
    const TransferPlan *figures = &plan->transfers[transfer];
    RankTransfer *result = arena_new(plan->arena, RankTransfer);
    result->rank = rank;
    result->transfer = figures->transfer;
    const Tensor *tensor = figures->transfer->access->tensor;
    Builder builder = {.rank = rank,
                       .home = &plan->homes[tensor->id],
                       .size = (int64_t)type_info(tensor->type)->size,
                       .arena = plan->arena};
    Walk *walk = walk_create(plan, transfer);
    while (walk_next(walk)) {
        const Need *need = &walk->needs[rank];
        RankStep step = {.empty = need->demand->region.rects.count == 0,
                         .piece = need->piece,
                         .kept = need->kept,
                         .first_operation = builder.operations.count};
        if (!step.empty) {
            set_view(&builder, need, &step);
            if (step.piece < 0) {
                result->buffer_elements = max_i64(result->buffer_elements, need->demand->volume);
                result->buffer_count = figures->double_buffered ? 2 : 1;
            }
        }
        if (figures->transfer->kind == TRANSFER_FETCH)
            fetch_operations(&builder, walk);
        else
            reduce_operations(&builder, walk);
        result->scratch_elements = max_i64(result->scratch_elements, step_scratch(&builder, &step));
        step.operation_count = builder.operations.count - step.first_operation;
        array_push(plan->arena, builder.steps, step);
    }
    walk_free(walk);
    result->step_count = builder.steps.count;
    result->steps = builder.steps.items;
    result->operations = builder.operations.items;
    return result;
}
