// SPDX-License-Identifier: BSD-3-Clause
// Figures of a step of a reduction: what the ranks of one class contribute.
#include "base/integer.h"
#include "plan/ranks.h"
#include "plan/transfer_figures.h"

static void scatter(TransferFigurer *figurer, const HoldingArray *parts, const RankArray *contributors) {
    int64_t elements = 0;
    for (int64_t i = 0; i < parts->count; i++)
        elements = saturated_add(elements, rect_volume(&parts->items[i].rect));
    for (int64_t i = 0; i < contributors->count; i++) {
        figurer_add(figurer, contributors->items[i], elements, parts->count);
        figurer_add_scratch(figurer, contributors->items[i], elements);
    }
    for (int64_t i = 0; i < parts->count; i++) {
        const int64_t own = rect_volume(&parts->items[i].rect);
        figurer->sums.elements[parts->items[i].rank] -= own;
        figurer->sums.messages[parts->items[i].rank]--;
        figurer_add_scratch(figurer, parts->items[i].rank, own);
    }
    figurer_note(figurer, OPERATION_REDUCE_SCATTER);
}

// Whether an owner has the part contiguous in one piece of its home.
static bool is_contiguous_at_home(Planner *planner, int64_t owner, const Rect *rect) {
    const Region pieces = planner_pieces(planner, owner);
    const int64_t piece = pieces_with(&pieces, rect);
    return piece >= 0 &&
           packed_locate(&pieces.rects.items[piece], rect, tensor_levels(planner->home->tensor)) >= 0;
}

// Sums are formed where the part is contiguous, in views and, where no other sum is added there, in homes;
// else in scratch memory. Messages of partial results arrive there.
static void add_scratch_of_sum(TransferFigurer *figurer, const FigureClass *class, const Holding *part,
                               const Footprint *footprint, const RankArray *contributors, bool grouped) {
    Planner *planner = &figurer->planner;
    const int64_t volume = rect_volume(&part->rect);
    const bool several = part->holders && part->holder_count > 1;
    const Region region = {{(Rect *)&part->rect, 1, 1}};
    const bool exclusive = grouped && is_exclusive(planner, class->key, &region, figurer->step);
    if (grouped && packed_locate(&footprint->bounds, &part->rect, tensor_levels(planner->home->tensor)) < 0)
        for (int64_t i = 0; i < contributors->count; i++)
            if (!holding_has(part, contributors->items[i]))
                figurer_add_scratch(figurer, contributors->items[i], volume);
    for (int64_t i = 0; i < (several ? part->holder_count : 1); i++) {
        const int64_t owner = several ? part->holders[i] : part->rank;
        const bool contributes = ranks_contain(contributors->items, contributors->count, owner);
        if (!grouped)
            figurer_add_scratch(figurer, owner, saturated_mul(contributors->count - contributes, volume));
        else if (!exclusive || !is_contiguous_at_home(planner, owner, &part->rect))
            figurer_add_scratch(figurer, owner, volume);
    }
}

// To one owner, or to all of several; in one operation, or in messages.
static void sum_part(TransferFigurer *figurer, const FigureClass *class, const Holding *part,
                     const Footprint *footprint, const RankArray *contributors) {
    const bool several = part->holders && part->holder_count > 1;
    const OperationId id = several ? OPERATION_ALL_REDUCE : OPERATION_REDUCE;
    const int64_t volume = rect_volume(&part->rect), owners = several ? part->holder_count : 1;
    int64_t remote = 0; // contributors that do not own the part
    for (int64_t i = 0; i < contributors->count; i++) {
        const bool owns = holding_has(part, contributors->items[i]);
        remote += !owns;
        if (!owns || several)
            figurer_add(figurer, contributors->items[i], volume, 1);
    }
    if (!several && remote == 0)
        return;
    const bool grouped = (several || owners + remote > 2) && planner_uses(&figurer->planner, id);
    figurer_note(figurer, id);
    add_scratch_of_sum(figurer, class, part, footprint, contributors, grouped);
}

void reduce_figures(TransferFigurer *figurer, const FigureClass *class, const Footprint *footprint) {
    Planner *planner = &figurer->planner;
    const HoldingArray parts = holdings_of(planner, &footprint->region, 0, true, figurer->class_arena);
    RankArray contributors = {0};
    const int64_t in_place = rank_in_place(planner, footprint, &parts, &class->ranks);
    if (in_place >= 0 && class->ranks.count == 1)
        return;
    for (int64_t i = 0; i < class->ranks.count; i++)
        if (class->ranks.items[i] != in_place)
            array_push(figurer->class_arena, contributors, class->ranks.items[i]);
    if (is_reduce_scatter(planner, &parts, &contributors)) {
        scatter(figurer, &parts, &contributors);
        return;
    }
    for (int64_t i = 0; i < parts.count; i++)
        sum_part(figurer, class, &parts.items[i], footprint, &contributors);
}
