// SPDX-License-Identifier: BSD-3-Clause
#include "plan/result_parts.h"

#include "base/integer.h"
#include "format/level_list.h"

#include <stdlib.h>

// What this rank computes of a tensor, and whether it finds entries.
static Rect find_bounds(const StatementPlan *plan, const Tensor *tensor, int64_t rank, bool *assembles) {
    Arena *scratch = arena_create_within(plan->arena);
    Rect bounds = {.order = tensor->order};
    bool any = false;
    *assembles = false;
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Transfer *transfer = &plan->spmd->transfers[t];
        if (transfer->kind != TRANSFER_REDUCE || transfer->statement_access->tensor != tensor)
            continue;
        *assembles = plan->spmd->stages[transfer->stage].result == RESULT_ASSEMBLED;
        const Region written = footprint_of_steps(plan->footprints[t], rank, scratch);
        for (int64_t i = 0; i < written.rects.count; i++) {
            const Rect *rect = &written.rects.items[i];
            for (int d = 0; d < tensor->order; d++) {
                bounds.lo[d] = any ? min_i64(bounds.lo[d], rect->lo[d]) : rect->lo[d];
                bounds.hi[d] = any ? max_i64(bounds.hi[d], rect->hi[d]) : rect->hi[d];
            }
            any = true;
        }
    }
    arena_free(scratch);
    return bounds;
}

ResultParts result_parts(const StatementPlan *plan, const Tensor *tensor, const Home *home, int64_t rank) {
    bool assembles;
    const Rect bounds = find_bounds(plan, tensor, rank, &assembles);
    return (ResultParts){.home = home, .completes = assembles && home_cuts_fibers(home), .bounds = bounds};
}

static bool is_in_fiber(const Tensor *tensor, int level) {
    return level_is_padded(tensor->order, tensor->levels, level);
}

Rect result_parts_stored(const ResultParts *parts) {
    const Tensor *tensor = parts->home->tensor;
    Rect bounds = parts->bounds;
    for (int l = 0; l < tensor->order && parts->completes && !rect_is_empty(&bounds); l++) {
        const int mode = tensor->mode_order[l];
        if (is_in_fiber(tensor, l))
            rect_set_mode(&bounds, mode, (PositionSet){0, parts->home->extents[mode], NULL});
    }
    return bounds;
}

// Of a part that a rank has at home, what this rank has computed of fibers. Where that is nothing, but it has
// found which fibers are stored, their first element there, which is zero.
static Rect computed_part(const ResultParts *parts, const Rect *part) {
    const Tensor *tensor = parts->home->tensor;
    Rect computed = *part, first = *part;
    bool any = true;
    for (int l = 0; l < tensor->order; l++) {
        const int mode = tensor->mode_order[l];
        if (!is_in_fiber(tensor, l))
            continue;
        const PositionSet own =
            positions_clip(rect_mode(part, mode), parts->bounds.lo[mode], parts->bounds.hi[mode]);
        any = any && positions_count(own) > 0;
        rect_set_mode(&computed, mode, own);
        rect_set_mode(&first, mode, (PositionSet){part->lo[mode], part->lo[mode] + 1, NULL});
    }
    return any || !parts->completes ? computed : first;
}

PartArray result_parts_list(const ResultParts *parts, Arena *arena) {
    const Rect whole = rect_whole(parts->home->order, parts->home->extents);
    HoldingArray owners = {0};
    PartArray list = {0};
    home_owners(parts->home, &whole, arena, &owners);
    for (int64_t i = 0; i < owners.count; i++) {
        const Holding *holding = &owners.items[i];
        for (int64_t h = 0; h < holding_count(holding); h++)
            array_push(arena, list,
                       (Part){.rect = computed_part(parts, &holding->rect),
                              .peer = holding_rank(holding, h),
                              .piece = -1});
    }
    if (list.count > 0)
        qsort(list.items, (size_t)list.count, sizeof(Part), part_compare);
    return list;
}
