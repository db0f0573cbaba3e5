// SPDX-License-Identifier: BSD-3-Clause
// pos: the stored positions of an access in place of coordinates (Senanayake et al. 2020). parent[0] is the
// coordinate that the access has at position child[0], counted from the first one below the position of the
// level above. How many there are, and which coordinates they have, follows from the structure of the tensor:
// in generated code from its arrays, and with numbers from `stored`.
#include "relation/relations.h"

static void extents(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children) {
    (void)arena;
    (void)numbers;
    children[0] = parents[0];
}

// Without the structure every coordinate may be stored at any position.
static bool make_boxes(const NumericRelation *relation, BoxList *list, int64_t at) {
    const Relation *own = &relation->relation;
    Box box = list->boxes->items[at];
    PositionSetArray sets = {0};
    bool any = false;
    if (own->stored)
        own->stored->preimage(own->stored, box.values[own->child[0]], list->arena, &sets);
    else
        array_push(list->arena, sets, interval(0, relation->parent[0]));
    for (int64_t i = 0; i < sets.count && !list->full; i++) {
        box.values[own->parent[0]] = positions_clip(sets.items[i], 0, relation->parent[0]);
        if (box.values[own->parent[0]].lo < box.values[own->parent[0]].hi)
            box_list_put(list, at, &box, &any);
    }
    return any;
}

static bool bound(const NumericRelation *relation, BoundingBox *bounds) {
    const Relation *own = &relation->relation;
    const PositionSet positions = bounds->box.values[own->child[0]];
    PositionSet values = interval(0, relation->parent[0]);
    if (own->stored)
        values = own->stored->bound(own->stored, positions.lo, positions.hi);
    return bound_values(bounds, own->parent[0], relation->parent[0], values);
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
