// SPDX-License-Identifier: BSD-3-Clause
// collapse: two loops become one, child[0] = parent[0] * extent(parent[1]) + parent[1]. Below, the values of
// parent[0] are rows, and those of parent[1] columns.
#include "relation/relations.h"

static void extents(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children) {
    (void)numbers;
    children[0] = int_op(arena, INT_MUL, parents[0], parents[1]);
}

static const IntExpr *recover(const RelationTerms *terms, int p) {
    return int_op(terms->arena, p == 0 ? INT_FLOOR_DIV : INT_MOD, terms->value[0],
                  relation_divisor(terms->arena, terms->parent[1]));
}

// The values of the child are products of rows and columns: a box for each.
static bool make_boxes(const NumericRelation *relation, BoxList *list, int64_t at) {
    const Relation *own = &relation->relation;
    Box box = list->boxes->items[at];
    RowsArray products = {0};
    bool any = false;
    positions_rows(box.values[own->child[0]], relation->parent[1], list->arena, &products);
    for (int64_t i = 0; i < products.count; i++) {
        box.values[own->parent[0]] = products.items[i].rows;
        box.values[own->parent[1]] = products.items[i].columns;
        box_list_put(list, at, &box, &any);
    }
    return any;
}

static bool bound(const NumericRelation *relation, BoundingBox *bounds) {
    const Relation *own = &relation->relation;
    const PositionSet fused = bounds->box.values[own->child[0]];
    const int64_t width = relation->parent[1];
    return bound_values(bounds, own->parent[0], relation->parent[0],
                        interval(fused.lo / width, (fused.hi - 1) / width + 1)) &&
           bound_circular(bounds, own->parent[1], width, fused.lo % width, fused.hi - fused.lo);
}

const RelationKind relation_collapse = {
    .name = "collapse",
    .done = "collapsed",
    .parents = 2,
    .children = 1,
    .extents = extents,
    .recover = recover,
    .boxes = make_boxes,
    .bound = bound,
};
