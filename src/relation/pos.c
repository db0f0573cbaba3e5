// SPDX-License-Identifier: BSD-3-Clause
// pos: the stored positions of an access in place of coordinates (Senanayake et al. 2020). parent[0] is the
// coordinate that the access has at position child[0], counted from the first one below the position of the
// level above. How many there are, and which coordinates they have, follows from the structure of the tensor:
// in generated code from its arrays, and with numbers from the boundaries of parts of the entries.
#include "relation/relations.h"

static void extents(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children) {
    (void)arena;
    (void)numbers;
    children[0] = parents[0];
}

// False if a variable has no values.
static bool set_values(const NumericRelation *relation, const Rect *rect, Box *box) {
    const StoredAccess *access = relation->relation.access;
    bool any = true;
    for (int l = access->first_level; l <= access->last_level; l++) {
        const int mode = access->modes[l];
        box->values[access->vars[mode]] = rect_mode(rect, mode);
        any = any && rect->lo[mode] < rect->hi[mode];
    }
    return any;
}

// Without the structure every coordinate may be stored at any position.
static bool make_boxes(const NumericRelation *relation, BoxList *list, int64_t at) {
    Box box = list->boxes->items[at];
    RectArray rects = {0};
    bool any = false;
    if (relation->boundaries)
        boundaries_image(relation->boundaries, box.values[relation->relation.child[0]], &relation->stored,
                         list->arena, &rects);
    else
        array_push(list->arena, rects, relation->stored);
    for (int64_t i = 0; i < rects.count && !list->full; i++)
        if (set_values(relation, &rects.items[i], &box))
            box_list_put(list, at, &box, &any);
    return any;
}

static bool bound(const NumericRelation *relation, BoundingBox *bounds) {
    const PositionSet positions = bounds->box.values[relation->relation.child[0]];
    Rect rect = relation->stored;
    if (relation->boundaries)
        boundaries_bound(relation->boundaries, positions.lo, positions.hi, &rect);
    return set_values(relation, &rect, &bounds->box);
}

const RelationKind relation_pos = {
    .name = "pos",
    .done = "iterated by position",
    .parents = 1,
    .children = 1,
    .stored = true,
    .extents = extents,
    .boxes = make_boxes,
    .bound = bound,
};
