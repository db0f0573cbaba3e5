// SPDX-License-Identifier: BSD-3-Clause
#include "machine/placement.h"

#include "base/integer.h"

bool layout_create(const Placement *placement, const Grid *grid, int order, const int64_t *extents,
                   Layout *layout, int *bad_dim) {
    *layout = (Layout){.grid = *grid, .order = order};
    int64_t length[MAX_ORDER]; // of the blocks that the dimensions so far give
    for (int mode = 0; mode < order; mode++)
        layout->extents[mode] = length[mode] = extents[mode];
    for (int d = 0; d < grid->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        layout->dims[d].kind = entry->kind;
        if (entry->kind == PLACE_PARTITION) {
            layout->dims[d].mode = entry->mode;
            layout->dims[d].block = length[entry->mode] = ceil_div(length[entry->mode], grid->extents[d]);
        } else if (entry->kind == PLACE_FIX) {
            layout->dims[d].coordinate = entry->coordinate;
            if (entry->coordinate < 0 || entry->coordinate >= grid->extents[d]) {
                *bad_dim = d;
                return false;
            }
        }
    }
    return true;
}

bool layout_rect(const Layout *layout, const int64_t *coordinates, Rect *rect) {
    *rect = rect_whole(layout->order, layout->extents);
    for (int d = 0; d < layout->grid.order; d++) {
        if (layout->dims[d].kind == PLACE_FIX && coordinates[d] != layout->dims[d].coordinate)
            return false;
        if (layout->dims[d].kind != PLACE_PARTITION)
            continue;
        int mode = layout->dims[d].mode;
        int64_t block = layout->dims[d].block, lo = rect->lo[mode], hi = rect->hi[mode];
        rect->lo[mode] = min_i64(lo + coordinates[d] * block, hi);
        rect->hi[mode] = min_i64(rect->lo[mode] + block, hi);
    }
    return !rect_is_empty(rect);
}

typedef struct {
    const Layout *layout;
    const Rect *wanted;
    const int64_t *replica; // coordinates to take along replicated dimensions, NULL: all
    LayoutVisit visit;
    void *context;
} Search;

// `piece` is what the coordinates chosen for the dimensions before `d` hold.
static bool search(const Search *at, int d, int64_t processor, const Rect *piece) {
    const Layout *layout = at->layout;
    if (d == layout->grid.order) {
        Rect part;
        return !rect_intersect(piece, at->wanted, &part) || at->visit(at->context, processor, &part);
    }
    int64_t size = layout->grid.extents[d], first = 0, last = size - 1;
    int mode = layout->dims[d].mode;
    int64_t block = layout->dims[d].block;
    switch (layout->dims[d].kind) {
    case PLACE_FIX:
        first = last = layout->dims[d].coordinate;
        break;
    case PLACE_REPLICATE:
        if (at->replica)
            first = last = at->replica[d];
        break;
    case PLACE_PARTITION:
        if (block == 0)
            return true;
        first = max_i64(0, (at->wanted->lo[mode] - piece->lo[mode]) / block);
        last = min_i64(last, (at->wanted->hi[mode] - 1 - piece->lo[mode]) / block);
        break;
    }
    for (int64_t c = first; c <= last; c++) {
        Rect inner = *piece;
        if (layout->dims[d].kind == PLACE_PARTITION) {
            inner.lo[mode] = min_i64(piece->lo[mode] + c * block, piece->hi[mode]);
            inner.hi[mode] = min_i64(inner.lo[mode] + block, piece->hi[mode]);
            if (inner.lo[mode] >= inner.hi[mode])
                continue;
        }
        if (!search(at, d + 1, processor * size + c, &inner))
            return false;
    }
    return true;
}

void layout_holders(const Layout *layout, const Rect *rect, const int64_t *replica, LayoutVisit visit,
                    void *context) {
    if (rect_is_empty(rect))
        return;
    Rect whole = rect_whole(layout->order, layout->extents);
    search(&(Search){layout, rect, replica, visit, context}, 0, 0, &whole);
}
