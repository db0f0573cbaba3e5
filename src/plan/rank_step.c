// SPDX-License-Identifier: BSD-3-Clause
// What one rank does in a step of a transfer: its own class, of which it takes or contributes the footprint,
// and the classes that its home serves, found by a search for footprints that intersect it.
#include "plan/rank_step.h"
#include "plan/ranks.h"
#include "plan/search.h"

static void add_collective(RankPlanner *rank, const Situation *situation, const Operation *operation,
                           const Share *share, Cost cost) {
    RankOperation all = rank_operation(situation, operation, &share->view, &share->home);
    const RankArray members = situation_members(situation, operation, rank->planner->arena);
    all.group = rank_group(rank->plan, members.items, members.count);
    all.bytes = cost.elements * rank->planner->element_size;
    all.messages = cost.messages;
    array_push(rank->step_arena, rank->collectives,
               (Collective){situation->class_key, rect_copy(&situation->parts->rect, rank->step_arena), all});
}

// Adds the share of the rank, which may be none.
static void add_share(RankPlanner *rank, const Situation *situation, const Operation *operation) {
    const Holding *part = situation->parts;
    const bool reduces = operation->kind == TRANSFER_REDUCE, all = operation->shape == SHAPE_MEMBERS;
    const bool uses = ranks_contain(situation->ranks.items, situation->ranks.count, rank->rank);
    Cost own = {0}, cost = {0};
    for (int64_t i = 0; i < situation->part_count; i++)
        if (holding_has(&part[i], rank->rank)) {
            own.elements += rect_volume(&part[i].rect);
            own.messages++;
        }
    const bool in_view = uses && (reduces || all || own.messages == 0);
    const bool at_home = all ? uses : reduces ? own.messages > 0 : part->rank == rank->rank;
    if (!in_view && !at_home)
        return;
    if (uses)
        cost = operation->count(situation, own);
    Share new = {0}, *share = operation->shape == SHAPE_MESSAGES ? &rank->messages[operation->id] : &new;
    if (in_view)
        situation_view_parts(situation, operation, rank->rank, rank->kept_arena, &share->view);
    if (at_home)
        situation_home_parts(situation, operation, rank->rank, &rank->own, rank->kept_arena, &share->home);
    if (operation->shape != SHAPE_MESSAGES) {
        add_collective(rank, situation, operation, share, cost);
        return;
    }
    share->cost.elements += cost.elements;
    share->cost.messages += cost.messages;
    if (in_view && at_home)
        add_part(&rank->messages[OPERATION_LOCAL].home,
                 (Part){part->rect, rank->rank, pieces_with(&rank->own, &part->rect), .previous = false},
                 rank->kept_arena);
}

// The operation that moves all parts of the situation at once; NULL: they are moved one by one.
static const Operation *serve(RankPlanner *rank, const Situation *situation) {
    const Operation *operation = situation_operation(situation);
    if (operation)
        add_share(rank, situation, operation);
    for (int64_t i = 0; i < situation->part_count && !operation; i++) {
        const Situation part = situation_of_part(situation, i);
        add_share(rank, &part, situation_operation(&part));
    }
    return operation;
}

static bool rank_is_buffered(const RankPlanner *rank) {
    return rank->piece < 0 && rank->neighbour.piece < 0;
}

// What is at home but not in one piece, or not alone, is copied into the buffer beside what is received.
static void copy_own(RankPlanner *rank) {
    for (int64_t i = 0; i < rank->own.rects.count && rank_is_buffered(rank); i++)
        for (int64_t k = 0; k < rank->footprint.region.rects.count; k++) {
            Rect part;
            if (rect_intersect(&rank->own.rects.items[i], &rank->footprint.region.rects.items[k],
                               rank->planner->arena, &part))
                add_part(&rank->messages[OPERATION_LOCAL].view,
                         (Part){part, rank->rank, i, .previous = false}, rank->kept_arena);
        }
}

static const Operation *serve_shift(RankPlanner *rank, const Footprint *footprint, int64_t taker,
                                    int64_t source) {
    const Situation situation = situation_of_shift(rank->planner, rank->step, footprint, taker, source);
    return serve(rank, &situation);
}

// Ranks that use in this step what this rank used in the step before take it from here where it is nearest.
static bool shift_to_class(void *context, const Worker *worker, int64_t iteration,
                           const Footprint *footprint) {
    RankPlanner *rank = context;
    const Planner *planner = rank->planner;
    const Footprints *footprints = planner->footprints;
    Worker target;
    arena_reset(planner->arena);
    if (!footprints_worker(footprints, rank->rank, step_local(footprints, rank->step - 1), &target))
        return true;
    target = worker_with_class(footprints, &target, worker);
    const int64_t taker = target.index / footprints->per_rank;
    int64_t source;
    if (rank->passing.step != rank->step) {
        const Reuse reuse = reuse_find(planner, footprint, rank->step, planner->arena);
        rank->passing = reuse_sort(planner, &reuse, &target, rank->step_arena);
    }
    if (taker == rank->rank || target.index % footprints->per_rank != step_local(footprints, rank->step) ||
        !footprint_exists(footprints, target.coordinates, iteration, planner->scratch))
        return true;
    if (reuse_of_sorted(planner, &rank->passing, &target, &source) == REUSE_SHIFT && source == rank->rank)
        serve_shift(rank, footprint, taker, source);
    return true;
}

// Whether all that use the footprint in this step have it from the step before. Classes often have the same
// few footprints in turn.
static bool is_reused(RankPlanner *rank, const Footprint *footprint) {
    for (int i = 0; i < RECENT_COUNT; i++) {
        const RecentReuse *recent = &rank->recent[i];
        if (recent->step == rank->step && footprint_equal(&recent->footprint, footprint))
            return recent->by_all;
    }
    RecentReuse *recent = &rank->recent[rank->next_recent++ % RECENT_COUNT];
    *recent = (RecentReuse){rank->step, footprint_copy(footprint, rank->step_arena),
                            reuse_by_all(rank->planner, footprint, rank->step)};
    return recent->by_all;
}

static bool serve_other_class(void *context, const Worker *worker, int64_t iteration,
                              const Footprint *footprint) {
    (void)iteration;
    RankPlanner *rank = context;
    if (rank->serves_own && worker->class_key == rank->worker.class_key)
        return true;
    Planner *planner = rank->planner;
    const bool reduces = planner->transfer->kind == TRANSFER_REDUCE;
    RankArray ranks;
    arena_reset(planner->arena);
    if (!reduces && is_reused(rank, footprint))
        return true;
    if (reduces) {
        ranks = existing_ranks(planner, worker, rank->step, planner->arena);
    } else {
        const Reuse reuse = reuse_find(planner, footprint, rank->step, planner->arena);
        ranks = lacking_ranks(planner, worker, &reuse, rank->step, home_choice(planner->home, rank->rank),
                              planner->arena);
    }
    if (ranks.count == 0)
        return true;
    const HoldingArray parts =
        holdings_by(planner, &footprint->region, rank->rank, &rank->own, reduces, planner->arena);
    const Situation situation =
        situation_create(planner, rank->step, worker->class_key, footprint, ranks, &parts);
    serve(rank, &situation);
    return true;
}

// The footprint comes from the buffer, from a rank that used it in the step before, or from homes.
static void fetch_own(RankPlanner *rank) {
    Planner *planner = rank->planner;
    const Footprint *footprint = &rank->footprint;
    const int64_t choice = home_choice(planner->home, rank->rank);
    int64_t source;
    const Reuse reuse = reuse_find(planner, footprint, rank->step, planner->arena);
    const ReuseKind kind = reuse_of(planner, &reuse, &rank->worker, &source);
    rank->kept = kind == REUSE_KEPT && rank->piece < 0;
    rank->serves_own = kind == REUSE_NONE;
    if (kind == REUSE_KEPT || (kind == REUSE_SHIFT && rank->piece >= 0))
        return;
    const Operation *operation;
    if (kind == REUSE_SHIFT) {
        operation = serve_shift(rank, footprint, rank->rank, source);
    } else {
        const RankArray lacking =
            lacking_ranks(planner, &rank->worker, &reuse, rank->step, choice, planner->arena);
        const HoldingArray parts = holdings_of(planner, &footprint->region, choice, false, planner->arena);
        const Situation situation =
            situation_create(planner, rank->step, rank->worker.class_key, footprint, lacking, &parts);
        operation = serve(rank, &situation);
    }
    if (!operation || operation->shape != SHAPE_MEMBERS) // which copies the own part as well
        copy_own(rank);
}

static void reduce_own(RankPlanner *rank) {
    Planner *planner = rank->planner;
    const Footprint *footprint = &rank->footprint;
    const RankArray members = existing_ranks(planner, &rank->worker, rank->step, planner->arena);
    const HoldingArray parts = holdings_of(planner, &footprint->region, 0, true, planner->arena);
    const int64_t in_place = rank_in_place(planner, footprint, &parts, &members);
    const Situation situation = situation_create(planner, rank->step, rank->worker.class_key, footprint,
                                                 ranks_without(&members, in_place, planner->arena), &parts);
    rank->serves_own = true;
    serve(rank, &situation);
}

void rank_step(RankPlanner *rank, const Footprint *previous) {
    const Planner *planner = rank->planner;
    const bool fetches = planner->transfer->kind == TRANSFER_FETCH;
    rank->serves_own = false;
    if (rank->takes_part && fetches)
        fetch_own(rank);
    else if (rank->takes_part)
        reduce_own(rank);
    if (fetches && rank->step > 0 && previous->region.rects.count && planner_uses(planner, OPERATION_SHIFT))
        search_step(planner->footprints, rank->step, SEARCH_EQUAL, previous, planner->scratch, shift_to_class,
                    rank);
    const Footprint home = {.region = rank->own};
    search_step(planner->footprints, rank->step, SEARCH_OVERLAPPING, &home, planner->scratch,
                serve_other_class, rank);
}
