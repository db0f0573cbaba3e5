// SPDX-License-Identifier: BSD-3-Clause
// The part of one rank in a transfer: its share of every step of the walk, as actions in the order of
// execution.
#include "base/integer.h"
#include "plan/ranks.h"
#include "plan/walk.h"

#include <string.h>

typedef struct {
    int64_t rank;
    const Home *home;
    Arena *arena;
    Array(RankStep) steps;
    Array(Action) actions;
    int64_t scratch; // elements used in this step
} Builder;

static void push(Builder *builder, Action action) {
    action.rect = rect_copy(&action.rect, builder->arena); // a walk forgets its periodic sets
    array_push(builder->arena, builder->actions, action);
}

// What lies at home but not in one piece, or not alone, is copied into the buffer beside what is received.
static void copy_own(Builder *builder, const Need *need) {
    const RectArray *own = &builder->home->pieces[builder->rank].rects;
    Region rest = {0};
    for (int64_t i = 0; i < need->demand->region.rects.count; i++)
        array_push(builder->arena, rest.rects, need->demand->region.rects.items[i]);
    for (int64_t piece = 0; piece < own->count; piece++) {
        for (int64_t i = 0; i < rest.rects.count; i++) {
            Rect part;
            if (rect_intersect(&own->items[piece], &rest.rects.items[i], builder->arena, &part))
                push(builder, (Action){ACTION_COPY, -1, -1, part, piece, .scratch = -1});
        }
        region_subtract(&rest, &own->items[piece], builder->arena);
    }
}

static void fetch_actions(Builder *builder, const Walk *walk) {
    const Need *need = &walk->needs[builder->rank];
    const int64_t rank = builder->rank;
    // Receives first, so that they are posted when messages arrive.
    for (int64_t i = 0; i < walk->deliveries.count; i++) {
        const Delivery *delivery = &walk->deliveries.items[i];
        if (delivery->group < 0 && ranks_contain(delivery->targets.items, delivery->targets.count, rank))
            push(builder, (Action){ACTION_RECEIVE, delivery->source, -1, delivery->rect, -1, .scratch = -1});
    }
    for (int64_t i = 0; i < walk->deliveries.count; i++) {
        const Delivery *delivery = &walk->deliveries.items[i];
        for (int64_t k = 0; delivery->group < 0 && delivery->source == rank && k < delivery->targets.count;
             k++)
            push(builder, (Action){ACTION_SEND, delivery->targets.items[k], -1, delivery->rect,
                                   home_piece_with(builder->home, rank, &delivery->rect), delivery->from_view,
                                   .scratch = -1});
    }
    for (int64_t i = 0; i < walk->deliveries.count; i++) {
        const Delivery *delivery = &walk->deliveries.items[i];
        if (delivery->group < 0 || (delivery->source != rank &&
                                    !ranks_contain(delivery->targets.items, delivery->targets.count, rank)))
            continue;
        int64_t piece = delivery->source == rank ? home_piece_with(builder->home, rank, &delivery->rect) : -1;
        push(builder, (Action){ACTION_BROADCAST, delivery->source, delivery->group, delivery->rect, piece,
                               .scratch = -1});
    }
    if (need->demand->region.rects.count && need->piece < 0 && !need->kept)
        copy_own(builder, need);
}

static int64_t take_scratch(Builder *builder, const Rect *rect) {
    int64_t offset = builder->scratch;
    builder->scratch += rect_volume(rect);
    return offset;
}

static void reduce_actions(Builder *builder, const Walk *walk) {
    const int64_t rank = builder->rank;
    for (int64_t i = 0; i < walk->combinations.count; i++) {
        const Combination *combination = &walk->combinations.items[i];
        bool owns = ranks_contain(combination->owners, combination->owner_count, rank);
        bool contributes = ranks_contain(combination->contributors, combination->contributor_count, rank);
        if (!owns && !contributes)
            continue;
        Action action = {.peer = -1,
                         .group = combination->group,
                         .rect = combination->rect,
                         .piece = owns ? home_piece_with(builder->home, rank, &combination->rect) : -1,
                         .contributes = contributes,
                         .scratch = -1};
        if (combination->owner_count > 1) {
            action.kind = ACTION_REDUCE;
            action.scratch = take_scratch(builder, &action.rect);
            push(builder, action);
            continue;
        }
        const int64_t owner = combination->owners[0];
        if (owns && contributes) {
            action.kind = ACTION_ADD;
            push(builder, action);
            action.contributes = false;
        }
        int64_t other = combination->contributors[0] != owner ? combination->contributors[0]
                        : combination->contributor_count > 1  ? combination->contributors[1]
                                                              : -1;
        if (other < 0)
            continue;
        if (combination->group < 0) {
            action.kind = owns ? ACTION_RECEIVE_PARTIAL : ACTION_SEND_PARTIAL;
            action.peer = owns ? other : owner;
            if (owns)
                action.scratch = take_scratch(builder, &action.rect);
        } else {
            action.kind = ACTION_REDUCE;
            action.peer = owner;
            action.scratch = take_scratch(builder, &action.rect);
        }
        push(builder, action);
    }
}

static void set_view(Builder *builder, const Need *need, RankStep *step) {
    const Rect *bounds = &need->demand->bounds;
    step->view = step->piece >= 0 ? builder->home->pieces[builder->rank].rects.items[step->piece]
                                  : rect_copy(bounds, builder->arena);
    for (int m = 0; m < bounds->order; m++)
        step->first[m] = need->demand->first[m] - positions_index(rect_mode(&step->view, m), bounds->lo[m]);
}

const RankTransfer *plan_rank_transfer(StatementPlan *plan, int transfer, int64_t rank) {
    const TransferPlan *figures = &plan->transfers[transfer];
    RankTransfer *result = arena_new(plan->arena, RankTransfer);
    result->rank = rank;
    result->transfer = figures->transfer;
    Builder builder = {rank, &plan->homes[figures->transfer->access->tensor->id], plan->arena, {0}, {0}, 0};
    Walk *walk = walk_create(plan, transfer);
    while (walk_next(walk)) {
        const Need *need = &walk->needs[rank];
        RankStep step = {.empty = need->demand->region.rects.count == 0,
                         .piece = need->piece,
                         .kept = need->kept,
                         .first_action = builder.actions.count};
        if (!step.empty) {
            set_view(&builder, need, &step);
            if (step.piece < 0) {
                result->buffer_elements = max_i64(result->buffer_elements, need->demand->volume);
                result->buffer_count = figures->double_buffered ? 2 : 1;
            }
        }
        builder.scratch = 0;
        if (figures->transfer->kind == TRANSFER_FETCH)
            fetch_actions(&builder, walk);
        else
            reduce_actions(&builder, walk);
        result->scratch_elements = max_i64(result->scratch_elements, builder.scratch);
        step.action_count = builder.actions.count - step.first_action;
        array_push(plan->arena, builder.steps, step);
    }
    walk_free(walk);
    result->step_count = builder.steps.count;
    result->steps = builder.steps.items;
    result->actions = builder.actions.items;
    return result;
}
