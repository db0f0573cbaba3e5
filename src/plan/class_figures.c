// SPDX-License-Identifier: BSD-3-Clause
// Figures of one class of ranks in one step of a transfer. They come from what its situation costs every rank
// of the class, and from how that differs for the ranks of it that have parts at home.
#include "base/integer.h"
#include "plan/neighbours.h"
#include "plan/ranks.h"
#include "plan/scratch.h"
#include "plan/transfer_figures.h"

#include <stdlib.h>

void figurer_add(TransferFigurer *figurer, int64_t rank, Cost cost) {
    figurer->sums.elements[rank] = saturated_add(figurer->sums.elements[rank], cost.elements);
    figurer->sums.messages[rank] += cost.messages;
}

static void add_scratch(TransferFigurer *figurer, int64_t rank, int64_t elements) {
    if (figurer->scratch_step[rank] != figurer->step + 1)
        figurer->step_scratch[rank] = 0;
    figurer->scratch_step[rank] = figurer->step + 1;
    figurer->step_scratch[rank] = saturated_add(figurer->step_scratch[rank], elements);
    figurer->sums.scratch[rank] = max_i64(figurer->sums.scratch[rank], figurer->step_scratch[rank]);
}

// Scratch memory of an owner of a reduced part: for the part at home and, of an operation that moves one
// part, for the part in its view together with it. `share` has the parts of the view.
static int64_t scratch_at_home(TransferFigurer *figurer, const Situation *part, RankOperation share,
                               int64_t owner, bool contributes) {
    const Region pieces = planner_pieces(part->planner, owner);
    PartArray home = {0};
    situation_home_parts(part, share.operation, owner, &pieces, figurer->class_arena, &home);
    share.contributes = contributes;
    share.send_count = share.operation->shape == SHAPE_PART && contributes ? share.send_count : 0;
    share.receives = home.items;
    share.receive_count = home.count;
    const PackedMemory memory = {&part->footprint->bounds, pieces.rects.items, NULL,
                                 tensor_levels(part->planner->home->tensor), part->planner->message_memory};
    return operation_scratch(&share, &memory);
}

// Of the owners of all parts. Those of one part are alike but for the first one, which alone is a member of
// some operations, and those that contribute, where owners of the same element have the same pieces.
static void add_scratch_at_home(TransferFigurer *figurer, const Situation *situation,
                                const RankOperation *share) {
    const Home *home = situation->planner->home;
    const RankArray *ranks = &situation->ranks;
    const bool same_pieces = home->kind == HOME_LAYOUT && home->per_rank == 1;
    for (int64_t i = 0; i < situation->part_count; i++) {
        const Situation part = situation_of_part(situation, i);
        int64_t of_others = -1;
        for (int64_t k = 0; k < holding_count(part.parts); k++) {
            const int64_t owner = holding_rank(part.parts, k);
            const bool contributes = ranks_contain(ranks->items, ranks->count, owner);
            const bool alike = same_pieces && k > 0 && !contributes;
            const int64_t elements = alike && of_others >= 0
                                         ? of_others
                                         : scratch_at_home(figurer, &part, *share, owner, contributes);
            if (alike)
                of_others = elements;
            add_scratch(figurer, owner, elements);
        }
    }
}

static void count_scratch(TransferFigurer *figurer, const Situation *situation, const Operation *operation) {
    PartArray view = {0}, none = {0};
    if (!operation->scratch || planner_reads_all(&figurer->planner, &situation->ranks))
        return;
    situation_view_parts(situation, operation, -1, figurer->class_arena, &view);
    RankOperation share = rank_operation(situation, operation, &view, &none);
    const PackedMemory memory = {&situation->footprint->bounds, NULL, NULL,
                                 tensor_levels(situation->planner->home->tensor),
                                 situation->planner->message_memory};
    const int64_t elements = operation_scratch(&share, &memory);
    for (int64_t i = 0; i < situation->ranks.count && elements > 0; i++)
        if (operation->shape == SHAPE_MEMBERS || !holding_has(situation->parts, situation->ranks.items[i]))
            add_scratch(figurer, situation->ranks.items[i], elements);
    if (operation->kind == TRANSFER_REDUCE)
        add_scratch_at_home(figurer, situation, &share);
}

// Whether what a rank has used in the step before is sent, and not read from neighbours.
static bool passes_on(TransferFigurer *figurer, const Situation *situation) {
    const Holding *part = situation->parts;
    for (int64_t i = 0; i < situation->part_count; i++)
        if (!planner_reads_part(&figurer->planner, &part[i].rect, true, part[i].rank,
                                situation->ranks.items[0]))
            return true;
    return false;
}

static void note(TransferFigurer *figurer, const Operation *operation) {
    if (operation->id > figurer->pattern)
        figurer->pattern = operation->id;
}

// A part that its owner uses as well counts as shared, even where it goes to only one other rank, in a
// message.
static void note_part(TransferFigurer *figurer, const FigureClass *class, const Situation *part) {
    Situation shared = *part;
    shared.others += ranks_contain(class->ranks.items, class->ranks.count, part->parts->rank);
    note(figurer, situation_operation(&shared));
}

// Adds to *each what an operation costs a rank that owns nothing of the situation, and to the figures of an
// owner how much its cost differs from that.
static void count_operation(TransferFigurer *figurer, const FigureClass *class, const Situation *situation,
                            const Operation *operation, Cost *each) {
    const bool fetches = operation->kind == TRANSFER_FETCH, one = operation->shape != SHAPE_MEMBERS;
    const Cost other = operation->count(situation, (Cost){0});
    if (one && situation->others == 0 && (fetches || holding_count(situation->parts) == 1))
        return; // it is where it is used
    each->elements = saturated_add(each->elements, other.elements);
    each->messages += other.messages;
    for (int64_t i = 0; i < situation->part_count; i++) {
        const Holding *part = &situation->parts[i];
        const Cost own = operation->count(situation, (Cost){rect_volume(&part->rect), 1});
        for (int64_t k = 0; k < holding_count(part); k++) {
            const int64_t owner = holding_rank(part, k);
            if (!ranks_contain(situation->ranks.items, situation->ranks.count, owner))
                continue;
            figurer->sums.elements[owner] -= other.elements - own.elements;
            figurer->sums.messages[owner] -= other.messages - own.messages;
        }
    }
    if (situation->previous && passes_on(figurer, situation))
        figurer->sums.passes_on[situation->parts->rank] = 1;
    if (fetches && one && !situation->previous)
        note_part(figurer, class, situation);
    else
        note(figurer, operation);
    count_scratch(figurer, situation, operation);
}

// The cost that is the same for all ranks of the situation.
static Cost count_situation(TransferFigurer *figurer, const FigureClass *class, const Situation *situation) {
    const Operation *operation = situation_operation(situation);
    Cost each = {0};
    if (operation)
        count_operation(figurer, class, situation, operation, &each);
    for (int64_t i = 0; i < situation->part_count && !operation; i++) {
        const Situation part = situation_of_part(situation, i);
        count_operation(figurer, class, &part, situation_operation(&part), &each);
    }
    return each;
}

// Ranks that lack or contribute the footprint, of homes of this choice; `all` of the class, or some.
static void count_ranks(TransferFigurer *figurer, FigureClass *class, const RankArray *ranks,
                        const Footprint *footprint, const HoldingArray *parts, bool all) {
    const Situation situation =
        situation_create(&figurer->planner, figurer->step, class->key, footprint, *ranks, parts);
    const Cost each = count_situation(figurer, class, &situation);
    if (all) {
        class->shared.elements = saturated_add(class->shared.elements, each.elements);
        class->shared.messages += each.messages;
        return;
    }
    for (int64_t i = 0; i < ranks->count; i++)
        figurer_add(figurer, ranks->items[i], each);
}

// One rank that fetches from homes of which none is replicated: its parts are counted, not listed.
static void take_alone(TransferFigurer *figurer, const FigureClass *class, const RankArray *taker,
                       const Footprint *footprint) {
    Planner *planner = &figurer->planner;
    const Region pieces = planner_pieces(planner, taker->items[0]);
    const Holding any = {.rank = -1};
    Situation situation = situation_create(planner, figurer->step, class->key, footprint, *taker,
                                           &(HoldingArray){(Holding *)&any, 1, 1});
    const Operation *operation = situation_operation(&situation);
    Cost own = {0};
    situation.elements = region_volume(&footprint->region);
    situation.part_count = 0;
    for (int64_t i = 0; i < footprint->region.rects.count; i++) {
        const Rect *rect = &footprint->region.rects.items[i];
        situation.part_count += layout_part_count(&planner->home->layout, rect, figurer->class_arena);
        for (int64_t k = 0; k < pieces.rects.count; k++) {
            const int64_t common = rect_common(&pieces.rects.items[k], rect);
            own.elements += common;
            own.messages += common > 0;
        }
    }
    const Cost cost = operation->count(&situation, own);
    figurer_add(figurer, taker->items[0], cost);
    if (cost.messages == 0)
        return;
    // Where others of the class have it already, an owner among them may share a part with this rank.
    if (class->ranks.count == 1) {
        note(figurer, operation);
        return;
    }
    const HoldingArray parts = holdings_of(planner, &footprint->region, 0, false, figurer->class_arena);
    situation = situation_create(planner, figurer->step, class->key, footprint, *taker, &parts);
    for (int64_t i = 0; i < parts.count; i++) {
        const Situation part = situation_of_part(&situation, i);
        if (part.others > 0)
            note_part(figurer, class, &part);
    }
}

static bool parts_can_be_counted(const TransferFigurer *figurer, const Footprint *footprint) {
    const Home *home = figurer->planner.home;
    return home->kind == HOME_LAYOUT && !home->replicated && home->per_rank == 1 &&
           region_volume(&footprint->region) <= figurer->planner.message_elements;
}

typedef struct {
    int64_t choice, rank;
} Choice;

static int compare_choices(const void *left, const void *right) {
    const Choice *a = left, *b = right;
    if (a->choice != b->choice)
        return a->choice < b->choice ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

// Takers by the replica that they take from.
static void take_by_choice(TransferFigurer *figurer, FigureClass *class, const RankArray *takers,
                           const Footprint *footprint) {
    Planner *planner = &figurer->planner;
    Choice *choices = arena_array(figurer->class_arena, Choice, takers->count);
    int64_t count = 0;
    for (int64_t i = 0; i < takers->count; i++)
        choices[count++] = (Choice){home_choice(planner->home, takers->items[i]), takers->items[i]};
    qsort(choices, (size_t)count, sizeof *choices, compare_choices);
    for (int64_t first = 0, end; first < count; first = end) {
        RankArray same = {0};
        for (end = first; end < count && choices[end].choice == choices[first].choice; end++)
            array_push(figurer->class_arena, same, choices[end].rank);
        const HoldingArray parts =
            holdings_of(planner, &footprint->region, choices[first].choice, false, figurer->class_arena);
        count_ranks(figurer, class, &same, footprint, &parts, false);
    }
}

static void take_lacking(TransferFigurer *figurer, FigureClass *class, const RankArray *takers,
                         const Footprint *footprint, bool all) {
    Planner *planner = &figurer->planner;
    if (takers->count == 0 || planner->home->kind == HOME_EVERYWHERE)
        return;
    if (takers->count == 1 && parts_can_be_counted(figurer, footprint)) {
        take_alone(figurer, class, takers, footprint);
    } else if (planner->home->replicated) {
        take_by_choice(figurer, class, takers, footprint);
    } else {
        const HoldingArray parts = holdings_of(planner, &footprint->region, 0, false, figurer->class_arena);
        count_ranks(figurer, class, takers, footprint, &parts, all);
    }
}

void fetch_figures(TransferFigurer *figurer, FigureClass *class, const Footprint *footprint,
                   const Reuse *reuse, bool all_the_same) {
    if (reuse->users.count == 0) {
        take_lacking(figurer, class, &class->ranks, footprint, all_the_same);
        return;
    }
    const Footprints *footprints = figurer->planner.footprints;
    for (int64_t i = 0; i < reuse->users.count && all_the_same; i++)
        if (reuse->users.items[i].class_key == class->key)
            return; // all keep it
    RankArray lacking = {0};
    for (int64_t i = 0; i < class->ranks.count; i++) {
        Worker member;
        int64_t source;
        const int64_t rank = class->ranks.items[i];
        footprints_worker(footprints, rank, step_local(footprints, figurer->step), &member);
        const ReuseKind kind = reuse_of(&figurer->planner, reuse, &member, &source);
        if (kind == REUSE_SHIFT) {
            const Situation shift =
                situation_of_shift(&figurer->planner, figurer->step, footprint, rank, source);
            figurer_add(figurer, rank, count_situation(figurer, class, &shift));
        } else if (kind == REUSE_NONE) {
            array_push(figurer->class_arena, lacking, rank);
        }
    }
    take_lacking(figurer, class, &lacking, footprint, false);
}

void reduce_figures(TransferFigurer *figurer, FigureClass *class, const Footprint *footprint) {
    Planner *planner = &figurer->planner;
    const HoldingArray parts = holdings_of(planner, &footprint->region, 0, true, figurer->class_arena);
    const int64_t in_place = rank_in_place(planner, footprint, &parts, &class->ranks);
    const RankArray contributors = ranks_without(&class->ranks, in_place, figurer->class_arena);
    if (contributors.count > 0)
        count_ranks(figurer, class, &contributors, footprint, &parts, false);
}
