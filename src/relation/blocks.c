// SPDX-License-Identifier: BSD-3-Clause
#include "relation/blocks.h"

#include "base/integer.h"

const IntExpr *blocks_recover(const RelationTerms *terms, int p) {
    (void)p;
    const IntExpr *start = int_op(terms->arena, INT_MUL, terms->value[0], terms->child[1]);
    return int_op(terms->arena, INT_ADD, start, terms->value[1]);
}

const IntExpr *blocks_upper(const RelationTerms *terms, int c, const IntExpr *parent) {
    Arena *arena = terms->arena;
    const IntExpr *stride = terms->child[1];
    if (c == 1) {
        if (!terms->value[0])
            return stride;
        const IntExpr *start = int_op(arena, INT_MUL, terms->value[0], stride);
        return int_op(arena, INT_MIN, stride, int_op(arena, INT_SUB, parent, start));
    }
    if (terms->value[1]) // there is a position in a block, so the block is not empty; the bound implies the
                         // extent
        return int_op(arena, INT_CEIL_DIV, int_op(arena, INT_SUB, parent, terms->value[1]), stride);
    return terms->child[0];
}

static PositionSet block(const NumericRelation *relation, int64_t which, PositionSet values, Arena *arena) {
    return positions_shift(values, which * relation->child[1], arena);
}

PositionSet blocks_part(const NumericRelation *relation, const Box *box, PositionSet values, Arena *arena) {
    return block(relation, box->values[relation->relation.child[0]].lo, values, arena);
}

// Segments of the set of all of outer * block + inner.
static int64_t segments(PositionSet outer, PositionSet inner) {
    const int64_t members = outer.periodic ? outer.periodic->size : 1;
    const int64_t runs =
        inner.periodic ? ((inner.hi - inner.lo) / inner.periodic->period + 1) * inner.periodic->count : 1;
    return saturated_mul(members, runs);
}

void partition_put(const NumericRelation *relation, BoxList *list, int64_t at, Box *box, PositionSet values,
                   bool *any) {
    values = positions_clip(values, 0, relation->parent[0]);
    box->values[relation->relation.parent[0]] = values;
    if (values.lo < values.hi)
        box_list_put(list, at, box, any);
}

bool blocks_boxes(const NumericRelation *relation, BoxList *list, int64_t at) {
    const Relation *own = &relation->relation;
    const int64_t length = relation->child[1];
    Box box = list->boxes->items[at];
    const PositionSet outer = box.values[own->child[0]], inner = box.values[own->child[1]];
    bool any = false;
    if (positions_are_all(inner, length) || segments(outer, inner) <= positions_count(outer)) {
        partition_put(relation, list, at, &box, positions_blocks(outer, length, inner, list->arena), &any);
        return any;
    }
    // One set for each block is described by fewer segments.
    for (int64_t i = 0; i < positions_count(outer) && !list->full; i++)
        partition_put(relation, list, at, &box, block(relation, positions_at(outer, i), inner, list->arena),
                      &any);
    return any;
}

bool blocks_bound(const NumericRelation *relation, BoundingBox *bounds) {
    const Relation *own = &relation->relation;
    const int parent = own->parent[0];
    const int64_t extent = relation->parent[0], block = relation->child[1];
    const PositionSet outer = bounds->box.values[own->child[0]], inner = bounds->box.values[own->child[1]];
    const int64_t lo = outer.lo * block + inner.lo, hi = (outer.hi - 1) * block + inner.hi;
    const Periodic *periodic = inner.periodic;
    if (outer.hi - outer.lo == 1 && periodic)
        return bound_periodic(bounds, parent, extent, lo, hi, periodic->origin + outer.lo * block,
                              periodic->period, periodic->size);
    if (outer.hi - outer.lo == 1)
        return bound_values(bounds, parent, extent, interval(lo, hi));
    periodic = outer.periodic;
    if (periodic)
        return bound_periodic(bounds, parent, extent, lo, hi, periodic->origin * block + inner.lo,
                              periodic->period * block, (periodic->size - 1) * block + inner.hi - inner.lo);
    if (relation->child_may_be_periodic)
        return bound_values(bounds, parent, extent, interval(lo, hi));
    return bound_periodic(bounds, parent, extent, lo, hi, inner.lo, block, inner.hi - inner.lo);
}
