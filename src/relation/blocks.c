// SPDX-License-Identifier: BSD-3-Clause
#include "relation/blocks.h"

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
    if (terms->value[1]) // a position in a block exists, so the stride is not 0; the bound implies the extent
        return int_op(arena, INT_CEIL_DIV, int_op(arena, INT_SUB, parent, terms->value[1]), stride);
    return terms->child[0];
}

bool partition_boxes(const NumericRelation *relation, Arena *arena, BoxArray *boxes, int64_t at) {
    const Relation *own = &relation->relation;
    const PositionSet outer = boxes->items[at].values[own->child[0]],
                      inner = boxes->items[at].values[own->child[1]];
    const int64_t count = positions_count(outer);
    bool any = false;
    for (int64_t i = 0; i < count; i++) {
        PositionSet part = own->kind->part(relation, positions_at(outer, i), inner, arena);
        part = positions_clip(part, 0, relation->parent[0]);
        if (part.lo >= part.hi)
            continue;
        // The first takes the place of the box, and the others differ from it in the parent only.
        if (any)
            array_push(arena, *boxes, boxes->items[at]);
        boxes->items[any ? boxes->count - 1 : at].values[own->parent[0]] = part;
        any = true;
    }
    return any;
}

PositionSet blocks_part(const NumericRelation *relation, int64_t which, PositionSet values, Arena *arena) {
    return positions_shift(values, which * relation->child[1], arena);
}

bool blocks_boxes(const NumericRelation *relation, Arena *arena, BoxArray *boxes, int64_t at) {
    const Relation *own = &relation->relation;
    const int64_t block = relation->child[1];
    Box *box = &boxes->items[at];
    const PositionSet outer = box->values[own->child[0]], inner = box->values[own->child[1]];
    const bool all = positions_are_all(inner, block);
    if (outer.hi - outer.lo == 1 || (!all && (outer.periodic || inner.periodic)))
        return partition_boxes(relation, arena, boxes, at);
    // Whole blocks are contiguous; parts of them repeat.
    const PositionSet values =
        all ? positions_scale(outer, block, arena) : positions_repeat(inner, block, outer, arena);
    box->values[own->parent[0]] = positions_clip(values, 0, relation->parent[0]);
    return box->values[own->parent[0]].lo < box->values[own->parent[0]].hi;
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
