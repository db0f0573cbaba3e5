// SPDX-License-Identifier: BSD-3-Clause
#include "relation/box.h"

void box_list_put(BoxList *list, int64_t at, const Box *box, bool *any) {
    list->full = list->full || (*any && list->boxes->count >= list->limit);
    if (!*any)
        list->boxes->items[at] = *box;
    else if (!list->full)
        array_push(list->arena, *list->boxes, *box);
    *any = true;
}

bool positions_are_all(PositionSet values, int64_t extent) {
    return !values.periodic && values.lo == 0 && values.hi == extent;
}

bool bound_values(BoundingBox *bounds, int var, int64_t extent, PositionSet values) {
    bounds->box.values[var] = positions_clip(values, 0, extent);
    return bounds->box.values[var].lo < bounds->box.values[var].hi;
}

bool bound_periodic(BoundingBox *bounds, int var, int64_t extent, int64_t lo, int64_t hi, int64_t origin,
                    int64_t period, int64_t length) {
    if (length >= period)
        return bound_values(bounds, var, extent, interval(lo, hi));
    bounds->segments[var] = (Segment){0, length, 0};
    bounds->periodic[var] = (Periodic){origin, period, length, 1, &bounds->segments[var]};
    return bound_values(bounds, var, extent, (PositionSet){lo, hi, &bounds->periodic[var]});
}

bool bound_circular(BoundingBox *bounds, int var, int64_t extent, int64_t first, int64_t length) {
    if (length <= extent - first)
        return bound_values(bounds, var, extent, interval(first, first + length));
    return bound_periodic(bounds, var, extent, 0, extent, first, extent, length);
}
