// SPDX-License-Identifier: BSD-3-Clause
// Where what an indexed fetch gets lies in the view of the rank.
#include "plan/indexed.h"

int64_t coordinate_index(const int64_t *list, int64_t count, int64_t x) {
    int64_t first = 0;
    while (count > 0) {
        const int64_t half = count / 2;
        if (list[first + half] < x) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

Rect indexed_in_view(const IndexedUse *use, const Rect *part) {
    Rect rect = *part;
    for (int m = 0; m < part->order; m++)
        if (use->coordinates[m]) {
            const int64_t first = coordinate_index(use->coordinates[m], use->view.hi[m], part->lo[m]);
            rect_set_mode(&rect, m, (PositionSet){first, first + part->hi[m] - part->lo[m], NULL});
        }
    return rect;
}

// Whether parts have all of `whole` in the modes after the one that is stored first, and runs in that alone.
static bool are_slabs(const Selection *selection, const Tensor *tensor, const Rect *whole, int64_t first,
                      int64_t count) {
    const int outermost = tensor->mode_order[0];
    bool slabs = true;
    for (int64_t i = first; slabs && i < first + count; i++) {
        const SelectedPart *part = &selection->parts.items[i];
        slabs = (part->count == 0 || (selection->mode_count == 1 && selection->modes[0] == outermost)) &&
                !part->rect.periodic[outermost];
        for (int m = 0; slabs && m < tensor->order; m++)
            slabs = m == outermost || (!part->rect.periodic[m] && part->rect.lo[m] == whole->lo[m] &&
                                       part->rect.hi[m] == whole->hi[m]);
    }
    return slabs;
}

bool indexed_arrives_in_view(const IndexedUse *use, const Selection *parts, const Tensor *tensor,
                             int64_t first, int64_t count) {
    const int outermost = tensor->mode_order[0];
    if (count == 0 || use->piece >= 0 || !are_slabs(parts, tensor, &use->view, first, count))
        return false;
    for (int m = 0; m < tensor->order; m++)
        if (m != outermost && use->coordinates[m])
            return false;
    int64_t length = 0;
    for (int64_t i = first; i < first + count; i++)
        for (int64_t r = 0; r < part_rect_count(&parts->parts.items[i]); r++) {
            const Rect rect = part_rect(parts, &parts->parts.items[i], r);
            length += rect_count(&rect, outermost);
        }
    // They are in increasing order, so that nothing else is between the first and the last one.
    const Rect from = indexed_in_view(use, &parts->parts.items[first].rect);
    Rect last = parts->parts.items[first + count - 1].rect;
    last.lo[outermost] = last.hi[outermost] - 1;
    return indexed_in_view(use, &last).lo[outermost] + 1 - from.lo[outermost] == length;
}

bool indexed_leaves_home(const Selection *selection, const Home *home, int64_t first, int64_t count) {
    const Rect whole = rect_whole(home->order, home->extents);
    return count == 1 && selection->parts.items[first].count == 0 &&
           are_slabs(selection, home->tensor, &whole, first, count);
}

int64_t indexed_buffer(const IndexedUse *use) {
    return use->piece >= 0 || rect_is_empty(&use->view) ? 0 : rect_volume(&use->view);
}
