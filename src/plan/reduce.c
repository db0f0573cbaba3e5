// SPDX-License-Identifier: BSD-3-Clause
// What one rank does in a step of a reduction: its partial results go to their owners, and what others have
// computed of its home, found by searching the classes whose footprints meet it, is added there.
#include "plan/rank_step.h"
#include "plan/ranks.h"
#include "plan/search.h"

// Partial results of one class: who has them, and where they belong.
typedef struct {
    const Worker *worker;
    const Region *region;   // their footprint
    RankArray contributors; // ranks of the class, but for one that computes in its home
    HoldingArray parts;     // those that the rank has to do with
} ClassResult;

static void without_rank(RankArray *ranks, int64_t rank) {
    const int64_t position = ranks_position(ranks->items, ranks->count, rank);
    if (position < 0)
        return;
    ranks->count--;
    for (int64_t i = position; i < ranks->count; i++)
        ranks->items[i] = ranks->items[i + 1];
}

int64_t rank_in_place(Planner *planner, const Footprint *footprint, const HoldingArray *parts,
                      const RankArray *members) {
    if (planner->home->replicated || footprint->region.rects.count != 1 || parts->count == 0)
        return -1;
    const int64_t owner = parts->items[0].rank;
    for (int64_t i = 1; i < parts->count; i++)
        if (parts->items[i].rank != owner)
            return -1;
    if (!ranks_contain(members->items, members->count, owner))
        return -1;
    const Region pieces = planner_pieces(planner, owner);
    return pieces_in_place(&pieces, &footprint->bounds) >= 0 ? owner : -1;
}

static RankOperation group_operation(RankPlanner *rank, OperationId id, const RankArray *members) {
    return (RankOperation){
        .operation = operations[id], .group = rank_group(rank, members->items, members->count), .root = -1};
}

static void set_parts(RankOperation *operation, const PartArray *sends, const PartArray *receives) {
    operation->sends = sends->items;
    operation->send_count = sends->count;
    operation->receives = receives->items;
    operation->receive_count = receives->count;
}

// Every contributor owns a part, or nothing.
static void add_reduce_scatter(RankPlanner *rank, const ClassResult *result) {
    const RankArray *members = &result->contributors;
    const Rect nothing = {.order = rank->planner->home->order};
    const Holding **by_member = arena_array(rank->planner->arena, const Holding *, members->count);
    for (int64_t i = 0; i < result->parts.count; i++)
        by_member[ranks_position(members->items, members->count, result->parts.items[i].rank)] =
            &result->parts.items[i];
    PartArray sends = {0}, receives = {0};
    RankOperation operation = group_operation(rank, OPERATION_REDUCE_SCATTER, members);
    operation.contributes = true;
    operation.exclusive = is_exclusive(rank->planner, result->worker->class_key, result->region, rank->step);
    for (int64_t m = 0; m < members->count; m++) {
        const Rect *rect = by_member[m] ? &by_member[m]->rect : &nothing;
        const bool own = members->items[m] == rank->rank;
        const int64_t volume = by_member[m] ? rect_volume(rect) : 0;
        add_part(rank, &sends, rect, members->items[m], -1, false);
        if (own)
            add_part(rank, &receives, rect, rank->rank, by_member[m] ? own_piece(rank, rect) : -1, false);
        if (by_member[m] && !own) {
            operation.messages++;
            operation.bytes += volume * rank->planner->element_size;
        }
    }
    set_parts(&operation, &sends, &receives);
    add_collective(rank, result->worker->class_key, &result->parts.items[0].rect, &operation);
}

// The sum of a part at its owner, or at all of them.
static void add_sum(RankPlanner *rank, const ClassResult *result, const Holding *part, OperationId id,
                    const RankArray *members, bool owns, bool contributes) {
    PartArray sends = {0}, receives = {0};
    RankOperation operation = group_operation(rank, id, members);
    Region region = {0};
    array_push(rank->planner->arena, region.rects, part->rect);
    operation.root = part->rank;
    operation.contributes = contributes;
    operation.exclusive = is_exclusive(rank->planner, result->worker->class_key, &region, rank->step);
    if (contributes)
        add_part(rank, &sends, &part->rect, part->rank, -1, false);
    if (owns)
        add_part(rank, &receives, &part->rect, rank->rank, own_piece(rank, &part->rect), false);
    if (contributes && (!owns || part->holder_count > 1)) {
        operation.messages = 1;
        operation.bytes = rect_volume(&part->rect) * rank->planner->element_size;
    }
    set_parts(&operation, &sends, &receives);
    add_collective(rank, result->worker->class_key, &part->rect, &operation);
}

// Messages from every contributor to every owner.
static void add_messages(RankPlanner *rank, const RankArray *contributors, const Holding *part,
                         const RankArray *owners, bool owns, bool contributes) {
    const int64_t piece = owns ? own_piece(rank, &part->rect) : -1;
    if (owns && contributes)
        add_part(rank, &rank->local, &part->rect, rank->rank, piece, false);
    if (contributes && (!owns || owners->count > 1)) {
        rank->reduced_elements += rect_volume(&part->rect);
        rank->reduced_messages++;
    }
    for (int64_t i = 0; contributes && i < owners->count; i++)
        if (owners->items[i] != rank->rank)
            add_part(rank, &rank->sends, &part->rect, owners->items[i], -1, false);
    for (int64_t i = 0; owns && i < contributors->count; i++)
        if (contributors->items[i] != rank->rank)
            add_part(rank, &rank->receives, &part->rect, contributors->items[i], piece, false);
}

static void reduce_part(RankPlanner *rank, const ClassResult *result, const Holding *part) {
    const Planner *planner = rank->planner;
    RankArray owners = {0}, members = {0};
    for (int64_t i = 0; i < part->holder_count && part->holders; i++)
        array_push(planner->arena, owners, part->holders[i]);
    if (!part->holders)
        array_push(planner->arena, owners, part->rank);
    const bool owns = ranks_contain(owners.items, owners.count, rank->rank);
    const bool contributes =
        ranks_contain(result->contributors.items, result->contributors.count, rank->rank);
    if (!owns && !contributes)
        return;
    for (int64_t i = 0; i < owners.count; i++)
        array_push(planner->arena, members, owners.items[i]);
    for (int64_t i = 0; i < result->contributors.count; i++)
        array_push(planner->arena, members, result->contributors.items[i]);
    ranks_sort(members.items, members.count);
    members.count = ranks_unique(members.items, members.count);
    const OperationId id = owners.count > 1 ? OPERATION_ALL_REDUCE : OPERATION_REDUCE;
    if ((owners.count > 1 || members.count > 2) && planner_uses(planner, id))
        add_sum(rank, result, part, id, &members, owns, contributes);
    else
        add_messages(rank, &result->contributors, part, &owners, owns, contributes);
}

static bool reduce_class(void *context, const Worker *worker, int64_t iteration, const Footprint *footprint) {
    (void)iteration;
    RankPlanner *rank = context;
    const Planner *planner = rank->planner;
    if (rank->takes_part && worker->class_key == rank->worker.class_key)
        return true;
    ClassResult result = {.worker = worker,
                          .region = &footprint->region,
                          .contributors = existing_ranks(planner, worker, rank->step, planner->arena)};
    if (result.contributors.count == 0)
        return true;
    result.parts = holdings_by(planner, &footprint->region, rank->rank, &rank->own, true, planner->arena);
    for (int64_t i = 0; i < result.parts.count; i++)
        reduce_part(rank, &result, &result.parts.items[i]);
    return true;
}

static void reduce_own_class(RankPlanner *rank) {
    Planner *planner = rank->planner;
    ClassResult result = {.worker = &rank->worker,
                          .region = &rank->footprint.region,
                          .contributors = existing_ranks(planner, &rank->worker, rank->step, planner->arena),
                          .parts = holdings_of(planner, &rank->footprint.region, 0, true, planner->arena)};
    without_rank(&result.contributors,
                 rank_in_place(planner, &rank->footprint, &result.parts, &result.contributors));
    if (rank->piece < 0 && is_reduce_scatter(planner, &result.parts, &result.contributors)) {
        add_reduce_scatter(rank, &result);
        return;
    }
    for (int64_t i = 0; i < result.parts.count; i++)
        reduce_part(rank, &result, &result.parts.items[i]);
}

void reduce_step(RankPlanner *rank) {
    const Planner *planner = rank->planner;
    const int64_t iteration = step_iteration(planner->footprints, rank->step);
    if (rank->takes_part)
        reduce_own_class(rank);
    const Footprint home = {.region = rank->own};
    search_classes(planner->footprints, iteration, iteration + 1, SEARCH_MEETING, &home, planner->scratch,
                   reduce_class, rank);
}
