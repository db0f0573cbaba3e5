// SPDX-License-Identifier: BSD-3-Clause
// Figures of a step of a fetch: what the ranks of one class receive.
#include "base/integer.h"
#include "plan/ranks.h"
#include "plan/transfer_figures.h"

#include <stdlib.h>

static void note_messages(TransferFigurer *figurer) {
    const Planner *planner = &figurer->planner;
    figurer_note(figurer, planner->many_to_many && planner_uses(planner, OPERATION_EXCHANGE)
                              ? OPERATION_EXCHANGE
                              : OPERATION_GATHER);
}

// A part, and the number of ranks of the class that lack all of it. An owner that uses the part as well makes
// it shared.
static void note_part(TransferFigurer *figurer, const FigureClass *class, const Holding *part,
                      int64_t takers) {
    if (takers == 0)
        return;
    if ((takers > 1 || ranks_contain(class->ranks.items, class->ranks.count, part->rank)) &&
        planner_uses(&figurer->planner, OPERATION_BROADCAST))
        figurer_note(figurer, OPERATION_BROADCAST);
    else
        note_messages(figurer);
}

// One rank that takes from homes of which none is replicated: parts are counted without being found.
static void take_alone(TransferFigurer *figurer, const FigureClass *class, int64_t rank,
                       const Footprint *footprint) {
    const Planner *planner = &figurer->planner;
    const Home *home = planner->home;
    const Region pieces = planner_pieces(&figurer->planner, rank);
    int64_t elements = 0, messages = 0;
    for (int64_t i = 0; i < footprint->region.rects.count; i++) {
        const Rect *rect = &footprint->region.rects.items[i];
        elements += rect_volume(rect);
        messages += layout_part_count(&home->layout, rect);
        for (int64_t k = 0; k < pieces.rects.count; k++) {
            const int64_t own = rect_common(&pieces.rects.items[k], rect);
            elements -= own;
            messages -= own > 0;
        }
    }
    figurer_add(figurer, rank, elements, messages);
    if (messages == 0)
        return;
    // Where others of the class have it already, an owner among them may share a part with this rank.
    if (class->ranks.count == 1) {
        note_messages(figurer);
        return;
    }
    const HoldingArray parts = holdings_of(planner, &footprint->region, 0, false, figurer->class_arena);
    for (int64_t i = 0; i < parts.count; i++)
        note_part(figurer, class, &parts.items[i], parts.items[i].rank != rank);
}

static bool parts_can_be_counted(const TransferFigurer *figurer, const Footprint *footprint) {
    const Home *home = figurer->planner.home;
    return home->kind == HOME_LAYOUT && !home->replicated && home->per_rank == 1 &&
           region_volume(&footprint->region) <= figurer->planner.message_elements;
}

// Members that take every part but those that they hold themselves, each of which has one holder; `all` of
// the class, or some.
static void take_parts(TransferFigurer *figurer, const FigureClass *class, const RankArray *takers,
                       const HoldingArray *parts, const Footprint *footprint, bool all) {
    Planner *planner = &figurer->planner;
    int64_t elements = 0;
    for (int64_t i = 0; i < parts->count; i++)
        elements = saturated_add(elements, rect_volume(&parts->items[i].rect));
    if (all) {
        *class->shared_elements = saturated_add(*class->shared_elements, elements);
        *class->shared_messages += parts->count;
    } else {
        for (int64_t i = 0; i < takers->count; i++)
            figurer_add(figurer, takers->items[i], elements, parts->count);
    }
    const bool spread = is_all_gather(planner, footprint, parts, takers);
    for (int64_t i = 0; i < parts->count; i++) {
        const Holding *part = &parts->items[i];
        const bool own = ranks_contain(takers->items, takers->count, part->rank);
        if (own) {
            figurer->sums.elements[part->rank] -= rect_volume(&part->rect);
            figurer->sums.messages[part->rank]--;
        }
        if (!spread)
            note_part(figurer, class, part, takers->count - own);
    }
    if (!spread)
        return;
    figurer_note(figurer, OPERATION_ALL_GATHER);
    if (!parts_are_contiguous(planner, footprint, parts))
        for (int64_t i = 0; i < takers->count; i++)
            figurer_add_scratch(figurer, takers->items[i], elements);
}

// Parts with several holders.
static void take_held(TransferFigurer *figurer, const FigureClass *class, const RankArray *takers,
                      const HoldingArray *parts, const Footprint *footprint) {
    bool single = true;
    for (int64_t i = 0; i < parts->count; i++)
        single = single && parts->items[i].holder_count <= 1;
    if (single) {
        take_parts(figurer, class, takers, parts, footprint, false);
        return;
    }
    for (int64_t i = 0; i < parts->count; i++) {
        const Holding *part = &parts->items[i];
        const int64_t volume = rect_volume(&part->rect);
        int64_t lacking = 0;
        for (int64_t k = 0, h = 0; k < takers->count; k++) {
            const int64_t rank = takers->items[k];
            while (h < part->holder_count && part->holders[h] < rank)
                h++;
            if (h < part->holder_count && part->holders[h] == rank)
                continue;
            figurer_add(figurer, rank, volume, 1);
            lacking++;
        }
        note_part(figurer, class, part, lacking);
    }
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

static bool has_all(TransferFigurer *figurer, int64_t rank, const Footprint *footprint) {
    arena_reset(figurer->planner.arena);
    const Region pieces = planner_pieces(&figurer->planner, rank);
    for (int64_t i = 0; i < footprint->region.rects.count; i++)
        if (!region_contains(&pieces, &footprint->region.rects.items[i]))
            return false;
    return true;
}

// Takers by the replica that they take from.
static void take_by_choice(TransferFigurer *figurer, const FigureClass *class, const RankArray *takers,
                           const Footprint *footprint) {
    const Planner *planner = &figurer->planner;
    Choice *choices = arena_array(figurer->class_arena, Choice, takers->count);
    int64_t count = 0;
    bool any = false;
    for (int64_t i = 0; i < takers->count; i++) {
        choices[count++] = (Choice){home_choice(planner->home, takers->items[i]), takers->items[i]};
        any = any || !has_all(figurer, takers->items[i], footprint);
    }
    if (!any)
        return;
    qsort(choices, (size_t)count, sizeof *choices, compare_choices);
    for (int64_t first = 0, end; first < count; first = end) {
        RankArray same = {0};
        for (end = first; end < count && choices[end].choice == choices[first].choice; end++)
            array_push(figurer->class_arena, same, choices[end].rank);
        const HoldingArray parts =
            holdings_of(planner, &footprint->region, choices[first].choice, false, figurer->class_arena);
        take_held(figurer, class, &same, &parts, footprint);
    }
}

static void take_lacking(TransferFigurer *figurer, const FigureClass *class, const RankArray *takers,
                         const Footprint *footprint, bool all) {
    const Planner *planner = &figurer->planner;
    if (takers->count == 0 || planner->home->kind == HOME_EVERYWHERE)
        return;
    if (takers->count == 1 && parts_can_be_counted(figurer, footprint)) {
        take_alone(figurer, class, takers->items[0], footprint);
    } else if (planner->home->replicated) {
        take_by_choice(figurer, class, takers, footprint);
    } else {
        const HoldingArray parts = holdings_of(planner, &footprint->region, 0, false, figurer->class_arena);
        take_parts(figurer, class, takers, &parts, footprint, all);
    }
}

static void take_shifted(TransferFigurer *figurer, int64_t rank, int64_t source, const Footprint *footprint) {
    const Region pieces = planner_pieces(&figurer->planner, rank);
    const Region missing = region_without(&footprint->region, &pieces, figurer->class_arena);
    for (int64_t i = 0; i < missing.rects.count; i++) {
        const Rect *rect = &missing.rects.items[i];
        figurer_add(figurer, rank, rect_volume(rect),
                    rect_cut_count(rect, figurer->planner.message_elements));
        figurer->sums.passes_on[source] = 1;
        figurer_note(figurer, OPERATION_SHIFT);
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
        if (kind == REUSE_SHIFT)
            take_shifted(figurer, rank, source, footprint);
        else if (kind == REUSE_NONE)
            array_push(figurer->class_arena, lacking, rank);
    }
    take_lacking(figurer, class, &lacking, footprint, false);
}
