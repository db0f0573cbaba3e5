// SPDX-License-Identifier: BSD-3-Clause
#include "plan/situation.h"

#include "base/integer.h"
#include "plan/ranks.h"
#include "plan/search.h"

static bool is_reduced(const Situation *situation) {
    return situation->planner->transfer->kind == TRANSFER_REDUCE;
}

static int64_t count_holders(const Holding *part, const RankArray *ranks) {
    int64_t count = 0;
    for (int64_t h = 0; h < holding_count(part); h++)
        count += ranks_contain(ranks->items, ranks->count, holding_rank(part, h));
    return count;
}

Situation situation_create(Planner *planner, int64_t step, int64_t class_key, const Footprint *footprint,
                           RankArray ranks, const HoldingArray *parts) {
    Situation situation = {.planner = planner,
                           .step = step,
                           .class_key = class_key,
                           .footprint = footprint,
                           .ranks = ranks,
                           .parts = parts->items,
                           .part_count = parts->count};
    for (int64_t i = 0; i < parts->count; i++)
        situation.elements = saturated_add(situation.elements, rect_volume(&parts->items[i].rect));
    if (parts->count == 1)
        situation.others = ranks.count - count_holders(situation.parts, &ranks);
    return situation;
}

Situation situation_of_part(const Situation *situation, int64_t part) {
    Situation one = *situation;
    one.parts = &situation->parts[part];
    one.part_count = 1;
    one.elements = rect_volume(&one.parts->rect);
    one.others = one.ranks.count - count_holders(one.parts, &one.ranks);
    return one;
}

Situation situation_of_shift(Planner *planner, int64_t step, const Footprint *footprint, int64_t taker,
                             int64_t source) {
    const Region pieces = planner_pieces(planner, taker);
    const Region missing = region_without(&footprint->region, &pieces, planner->arena);
    HoldingArray parts = {0};
    RankArray takers = {0};
    array_push(planner->arena, takers, taker);
    for (int64_t i = 0; i < missing.rects.count; i++)
        holding_cut(planner, &(Holding){.rect = missing.rects.items[i], .rank = source}, planner->arena,
                    &parts);
    Situation situation = situation_create(planner, step, -1, footprint, takers, &parts);
    situation.previous = true;
    return situation;
}

// What replaces elements has one source, and goes to their owners in messages.
static bool can_replace(const Operation *operation) {
    return operation->id == OPERATION_ACCUMULATE;
}

const Operation *situation_operation(const Situation *situation) {
    const Transfer *transfer = situation->planner->transfer;
    for (int id = OPERATION_COUNT - 1; id >= 0; id--) {
        const Operation *operation = operations[id];
        if (operation->recognize && operation->kind == transfer->kind &&
            (!transfer->replaces || can_replace(operation)) &&
            planner_uses(situation->planner, (OperationId)id) && operation->recognize(situation))
            return operation;
    }
    return NULL;
}

// Members of a fetch are the ranks that receive the part, and the one that sends it.
RankArray situation_members(const Situation *situation, const Operation *operation, Arena *arena) {
    const Holding *part = situation->parts;
    if (operation->shape == SHAPE_MEMBERS)
        return situation->ranks;
    const bool reduced = is_reduced(situation);
    const int64_t owners = reduced ? holding_count(part) : 1;
    RankArray members = {.items = arena_array(arena, int64_t, situation->ranks.count + owners)};
    int64_t next = 0;
    for (int64_t i = 0; i < situation->ranks.count; i++) {
        const int64_t rank = situation->ranks.items[i];
        if (holding_has(part, rank))
            continue;
        for (; next < owners && (reduced ? holding_rank(part, next) : part->rank) < rank; next++)
            members.items[members.count++] = reduced ? holding_rank(part, next) : part->rank;
        members.items[members.count++] = rank;
    }
    for (; next < owners; next++)
        members.items[members.count++] = reduced ? holding_rank(part, next) : part->rank;
    return members;
}

typedef struct {
    const Planner *planner;
    int64_t class_key, step;
} Others;

static bool is_same_class(void *context, const Worker *worker, int64_t iteration,
                          const Footprint *footprint) {
    (void)iteration;
    (void)footprint;
    const Others *others = context;
    return worker->class_key == others->class_key ||
           existing_ranks(others->planner, worker, others->step, others->planner->arena).count == 0;
}

// Whether no other operation of the step adds to the elements of a reduction.
static bool is_exclusive(const Situation *situation) {
    const Planner *planner = situation->planner;
    Footprint target = {.region = situation->footprint->region};
    Rect rect;
    if (situation->part_count == 1) {
        rect = situation->parts->rect;
        target.region.rects.items = &rect;
        target.region.rects.count = 1;
    }
    return search_step(planner->footprints, situation->step, SEARCH_OVERLAPPING, &target, planner->scratch,
                       is_same_class, &(Others){planner, situation->class_key, situation->step});
}

void add_part(PartArray *parts, Part part, Arena *arena) {
    part.rect = rect_copy(&part.rect, arena);
    array_push(arena, *parts, part);
}

// The part that each member owns, NULL where it owns nothing.
static const Holding **parts_by_member(const Situation *situation, Arena *scratch) {
    const RankArray *members = &situation->ranks;
    const Holding **by_member = arena_array(scratch, const Holding *, members->count);
    for (int64_t i = 0; i < situation->part_count; i++) {
        const Holding *part = &situation->parts[i];
        by_member[ranks_position(members->items, members->count, part->rank)] = part;
    }
    return by_member;
}

void situation_view_parts(const Situation *situation, const Operation *operation, int64_t rank, Arena *arena,
                          PartArray *parts) {
    const Holding *part = situation->parts;
    const RankArray *ranks = &situation->ranks;
    if (operation->shape == SHAPE_MEMBERS) {
        const Rect nothing = {.order = part->rect.order};
        const Holding **by_member = parts_by_member(situation, situation->planner->arena);
        parts->items = arena_array(arena, Part, ranks->count);
        parts->capacity = ranks->count;
        for (int64_t m = 0; m < ranks->count; m++)
            add_part(
                parts,
                (Part){by_member[m] ? by_member[m]->rect : nothing, ranks->items[m], -1, .previous = false},
                arena);
    } else if (operation->shape == SHAPE_PART || !is_reduced(situation)) {
        add_part(parts, (Part){part->rect, part->rank, -1, .previous = false}, arena);
    } else {
        for (int64_t i = 0; i < holding_count(part); i++)
            if (holding_rank(part, i) != rank)
                add_part(parts, (Part){part->rect, holding_rank(part, i), -1, .previous = false}, arena);
    }
}

void situation_home_parts(const Situation *situation, const Operation *operation, int64_t rank,
                          const Region *own, Arena *arena, PartArray *parts) {
    const Holding *part = situation->parts;
    const RankArray *ranks = &situation->ranks;
    if (operation->shape == SHAPE_MEMBERS) {
        for (int64_t i = 0; i < situation->part_count; i++)
            if (part[i].rank == rank) {
                add_part(parts,
                         (Part){part[i].rect, rank, pieces_with(own, &part[i].rect), .previous = false},
                         arena);
                return;
            }
        add_part(parts, (Part){{.order = part->rect.order}, rank, -1, .previous = false}, arena);
        return;
    }
    const int64_t piece = situation->previous ? -1 : pieces_with(own, &part->rect);
    if (operation->shape == SHAPE_PART) {
        add_part(parts, (Part){part->rect, rank, piece, .previous = false}, arena);
        return;
    }
    for (int64_t i = 0; i < ranks->count; i++)
        if (ranks->items[i] != rank && (is_reduced(situation) || !holding_has(part, ranks->items[i])))
            add_part(parts, (Part){part->rect, ranks->items[i], piece, .previous = situation->previous},
                     arena);
}

RankOperation rank_operation(const Situation *situation, const Operation *operation, const PartArray *view,
                             const PartArray *home) {
    const bool reduced = is_reduced(situation);
    const PartArray *sends = reduced ? view : home, *receives = reduced ? home : view;
    return (RankOperation){.operation = operation,
                           .group = -1,
                           .root = operation->shape != SHAPE_PART ? -1
                                   : operation->from_contributor  ? situation->ranks.items[0]
                                                                  : situation->parts->rank,
                           .contributes = reduced && view->count > 0,
                           .exclusive =
                               reduced && operation->shape != SHAPE_MESSAGES && is_exclusive(situation),
                           .send_count = sends->count,
                           .sends = sends->items,
                           .receive_count = receives->count,
                           .receives = receives->items};
}

bool situation_is_spread(const Situation *situation) {
    const RankArray *ranks = &situation->ranks;
    const int64_t count = situation->part_count;
    if (count < 2 || count > ranks->count || 2 * count < ranks->count)
        return false;
    int64_t *owners = arena_array(situation->planner->arena, int64_t, count);
    for (int64_t i = 0; i < count; i++) {
        const Holding *part = &situation->parts[i];
        owners[i] = part->rank;
        if (part->holder_count > 1 || !ranks_contain(ranks->items, ranks->count, part->rank))
            return false;
    }
    ranks_sort(owners, count);
    return ranks_unique(owners, count) == count;
}

bool situation_has_whole_homes(const Situation *situation) {
    for (int64_t i = 0; i < situation->part_count; i++) {
        const Region pieces = planner_pieces(situation->planner, situation->parts[i].rank);
        if (region_volume(&pieces) != rect_volume(&situation->parts[i].rect))
            return false;
    }
    return true;
}

bool situation_is_contiguous(const Situation *situation) {
    for (int64_t i = 0; i < situation->part_count; i++)
        if (packed_locate(&situation->footprint->bounds, &situation->parts[i].rect,
                          tensor_levels(situation->planner->home->tensor)) < 0)
            return false;
    return true;
}

Cost count_others(const Situation *situation, Cost own) {
    return (Cost){situation->elements - own.elements, situation->part_count - own.messages};
}

Cost count_all(const Situation *situation, Cost own) {
    (void)own;
    return (Cost){situation->elements, situation->part_count};
}
