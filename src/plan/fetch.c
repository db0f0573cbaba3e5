// SPDX-License-Identifier: BSD-3-Clause
// What one rank does in a step of a fetch: it takes what it lacks of its own footprint, and gives what others
// lack of theirs, found by searching the classes whose footprints meet its home.
#include "plan/rank_step.h"
#include "plan/ranks.h"
#include "plan/search.h"

#include <string.h>

// The ranks that lack a part: those of the class without its holders.
static RankArray takers_of(const RankPlanner *rank, const Holding *part, const RankArray *lacking) {
    RankArray takers = {0};
    takers.items = arena_array(rank->planner->arena, int64_t, lacking->count + 1);
    for (int64_t i = 0; i < lacking->count; i++)
        if (!holding_has(part, lacking->items[i]))
            takers.items[takers.count++] = lacking->items[i];
    return takers;
}

static void add_broadcast(RankPlanner *rank, int64_t class_key, const Holding *part,
                          const RankArray *takers) {
    PartArray parts = {0};
    const bool is_root = part->rank == rank->rank;
    RankOperation operation = {.operation = operations[OPERATION_BROADCAST], .root = part->rank};
    int64_t *members = takers->items, at = takers->count; // the source goes to its place among them
    for (; at > 0 && members[at - 1] > part->rank; at--)
        members[at] = members[at - 1];
    members[at] = part->rank;
    operation.group = rank_group(rank, members, takers->count + 1);
    add_part(rank, &parts, &part->rect, is_root ? rank->rank : part->rank,
             is_root ? own_piece(rank, &part->rect) : -1, false);
    if (is_root) {
        operation.sends = parts.items;
        operation.send_count = 1;
    } else {
        operation.receives = parts.items;
        operation.receive_count = operation.messages = 1;
        operation.bytes = rect_volume(&part->rect) * rank->planner->element_size;
    }
    add_collective(rank, class_key, &part->rect, &operation);
}

// A part that this rank gives or takes: to several ranks in one operation, or in a message.
static void serve_part(RankPlanner *rank, int64_t class_key, const Holding *part, const RankArray *lacking) {
    const bool is_source = part->rank == rank->rank;
    const RankArray takers = takers_of(rank, part, lacking);
    if (takers.count == 0 || (!is_source && !ranks_contain(takers.items, takers.count, rank->rank)))
        return;
    if (takers.count > 1 && planner_uses(rank->planner, OPERATION_BROADCAST)) {
        add_broadcast(rank, class_key, part, &takers);
        return;
    }
    if (!is_source)
        add_part(rank, &rank->receives, &part->rect, part->rank, -1, false);
    for (int64_t i = 0; i < takers.count && is_source; i++)
        add_part(rank, &rank->sends, &part->rect, takers.items[i], own_piece(rank, &part->rect), false);
}

static void add_all_gather(RankPlanner *rank, const HoldingArray *parts, const RankArray *members) {
    const Planner *planner = rank->planner;
    const Rect nothing = {.order = planner->home->order, .hi = {0}};
    PartArray sends = {0}, receives = {0};
    const Holding **by_member = arena_array(planner->arena, const Holding *, members->count);
    for (int64_t i = 0; i < parts->count; i++)
        by_member[ranks_position(members->items, members->count, parts->items[i].rank)] = &parts->items[i];
    RankOperation operation = {.operation = operations[OPERATION_ALL_GATHER],
                               .group = rank_group(rank, members->items, members->count),
                               .root = -1};
    receives.items = arena_array(rank->kept_arena, Part, members->count);
    receives.capacity = members->count;
    for (int64_t m = 0; m < members->count; m++) {
        const Rect *rect = by_member[m] ? &by_member[m]->rect : &nothing;
        const int64_t volume = by_member[m] ? rect_volume(rect) : 0;
        add_part(rank, &receives, rect, members->items[m], -1, false);
        if (members->items[m] == rank->rank)
            add_part(rank, &sends, rect, rank->rank, by_member[m] ? own_piece(rank, rect) : -1, false);
        if (by_member[m] && members->items[m] != rank->rank) {
            operation.messages++;
            operation.bytes += volume * planner->element_size;
        }
    }
    operation.sends = sends.items;
    operation.send_count = sends.count;
    operation.receives = receives.items;
    operation.receive_count = receives.count;
    add_collective(rank, rank->worker.class_key, &parts->items[0].rect, &operation);
}

// What is at home but not in one piece, or not alone, is copied into the buffer beside what is received.
static void copy_own(RankPlanner *rank) {
    for (int64_t i = 0; i < rank->own.rects.count && rank->piece < 0; i++)
        for (int64_t k = 0; k < rank->footprint.region.rects.count; k++) {
            Rect part;
            if (rect_intersect(&rank->own.rects.items[i], &rank->footprint.region.rects.items[k],
                               rank->planner->arena, &part))
                add_part(rank, &rank->local, &part, rank->rank, i, false);
        }
}

// The rank's own class, of which it lacks the footprint: what it takes, and what it gives to the others.
static void serve_own_class(RankPlanner *rank, const RankArray *lacking) {
    const Planner *planner = rank->planner;
    const HoldingArray parts = holdings_of(planner, &rank->footprint.region,
                                           home_choice(planner->home, rank->rank), false, planner->arena);
    if (is_all_gather(rank->planner, &rank->footprint, &parts, lacking)) {
        add_all_gather(rank, &parts, lacking);
        return;
    }
    for (int64_t i = 0; i < parts.count; i++)
        serve_part(rank, rank->worker.class_key, &parts.items[i], lacking);
    copy_own(rank);
}

typedef struct {
    RankPlanner *rank;
    bool lacks; // the rank's own class is served already
} Giving;

static bool serve_class(void *context, const Worker *worker, int64_t iteration, const Footprint *footprint) {
    (void)iteration;
    const Giving *giving = context;
    RankPlanner *rank = giving->rank;
    const Planner *planner = rank->planner;
    if (giving->lacks && worker->class_key == rank->worker.class_key)
        return true;
    const Reuse reuse = reuse_find(planner, footprint, rank->step, planner->arena);
    const RankArray lacking = lacking_ranks(planner, worker, &reuse, rank->step,
                                            home_choice(planner->home, rank->rank), planner->arena);
    if (lacking.count == 0)
        return true;
    const HoldingArray parts =
        holdings_by(planner, &footprint->region, rank->rank, &rank->own, false, planner->arena);
    for (int64_t i = 0; i < parts.count; i++)
        serve_part(rank, worker->class_key, &parts.items[i], &lacking);
    return true;
}

static void take_from_user(RankPlanner *rank, int64_t source) {
    const Region missing = region_without(&rank->footprint.region, &rank->own, rank->planner->arena);
    for (int64_t i = 0; i < missing.rects.count; i++) {
        HoldingArray parts = {0};
        holdings_cut(rank->planner, &missing.rects.items[i], rank->planner->arena, &parts);
        for (int64_t k = 0; k < parts.count; k++)
            add_part(rank, &rank->shift_receives, &parts.items[k].rect, source, -1, false);
    }
}

// Ranks that use in this step what this rank used in the step before take it from here where it is nearest.
static bool shift_to_class(void *context, const Worker *worker, int64_t iteration,
                           const Footprint *footprint) {
    RankPlanner *rank = context;
    const Planner *planner = rank->planner;
    const Footprints *footprints = planner->footprints;
    Worker target;
    if (!footprints_worker(footprints, rank->rank, step_local(footprints, rank->step - 1), &target))
        return true;
    target = worker_with_class(footprints, &target, worker);
    const int64_t taker = target.index / footprints->per_rank;
    int64_t source;
    if (taker == rank->rank || target.index % footprints->per_rank != step_local(footprints, rank->step) ||
        !footprint_exists(footprints, target.coordinates, iteration, planner->scratch))
        return true;
    const Reuse reuse = reuse_find(planner, footprint, rank->step, planner->arena);
    if (reuse_of(planner, &reuse, &target, &source) != REUSE_SHIFT || source != rank->rank)
        return true;
    const Region pieces = planner_pieces(rank->planner, taker);
    const Region missing = region_without(&footprint->region, &pieces, planner->arena);
    for (int64_t i = 0; i < missing.rects.count; i++) {
        HoldingArray parts = {0};
        holdings_cut(planner, &missing.rects.items[i], planner->arena, &parts);
        for (int64_t k = 0; k < parts.count; k++)
            add_part(rank, &rank->shift_sends, &parts.items[k].rect, taker, -1, true);
    }
    return true;
}

void fetch_step(RankPlanner *rank, const Footprint *previous) {
    const Planner *planner = rank->planner;
    const int64_t iteration = step_iteration(planner->footprints, rank->step);
    bool lacks = false;
    if (rank->takes_part) {
        int64_t source;
        const Reuse reuse = reuse_find(planner, &rank->footprint, rank->step, planner->arena);
        const ReuseKind kind = reuse_of(planner, &reuse, &rank->worker, &source);
        rank->kept = kind == REUSE_KEPT && rank->piece < 0;
        lacks = kind == REUSE_NONE;
        if (lacks) {
            const RankArray lacking = lacking_ranks(planner, &rank->worker, &reuse, rank->step,
                                                    home_choice(planner->home, rank->rank), planner->arena);
            serve_own_class(rank, &lacking);
        } else if (kind == REUSE_SHIFT && rank->piece < 0) {
            take_from_user(rank, source);
            copy_own(rank);
        }
    }
    if (rank->step > 0 && previous->region.rects.count && planner_uses(planner, OPERATION_SHIFT))
        search_classes(planner->footprints, iteration, iteration + 1, SEARCH_EQUAL, previous,
                       planner->scratch, shift_to_class, rank);
    const Footprint home = {.region = rank->own};
    search_classes(planner->footprints, iteration, iteration + 1, SEARCH_MEETING, &home, planner->scratch,
                   serve_class, &(Giving){rank, lacks});
}
