// SPDX-License-Identifier: BSD-3-Clause
// balance: contiguous parts that entries balance, so that they differ in length. child[0] counts the parts
// and child[1] the positions of one, parent[0] = begin(child[0]) + child[1]. Where a part begins and how long
// it is, is known with the entries: to generated code as variables, for the processor that it runs for.
#include "base/integer.h"
#include "relation/blocks.h"
#include "relation/relations.h"

static void extents(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children) {
    (void)arena;
    children[0] = numbers[0];
    children[1] = parents[0];
}

static const IntExpr *recover(const RelationTerms *terms, int p) {
    (void)p;
    return int_op(terms->arena, INT_ADD, int_var(terms->arena, terms->relation->begin), terms->value[1]);
}

static const IntExpr *upper(const RelationTerms *terms, int c, const IntExpr *parent) {
    (void)parent;
    if (c == 0 || !terms->value[0])
        return terms->child[c];
    return int_var(terms->arena, terms->relation->length);
}

static PositionSet part(const NumericRelation *relation, int64_t which, PositionSet values, Arena *arena) {
    const int64_t *starts = relation->boundaries->starts;
    return positions_shift(positions_clip(values, 0, starts[which + 1] - starts[which]), starts[which],
                           arena);
}

static bool make_boxes(const NumericRelation *relation, BoxList *list, int64_t at) {
    const Relation *own = &relation->relation;
    Box box = list->boxes->items[at];
    const PositionSet outer = box.values[own->child[0]], inner = box.values[own->child[1]];
    const int64_t *starts = relation->boundaries->starts;
    bool any = false;
    if (!outer.periodic && positions_are_all(inner, relation->child[1])) {
        partition_put(relation, list, at, &box, interval(starts[outer.lo], starts[outer.hi]), &any);
        return any;
    }
    for (int64_t i = 0; i < positions_count(outer) && !list->full; i++)
        partition_put(relation, list, at, &box, part(relation, positions_at(outer, i), inner, list->arena),
                      &any);
    return any;
}

static bool bound(const NumericRelation *relation, BoundingBox *bounds) {
    const Relation *own = &relation->relation;
    const PositionSet outer = bounds->box.values[own->child[0]], inner = bounds->box.values[own->child[1]];
    const int64_t *starts = relation->boundaries->starts, start = starts[outer.lo], end = starts[outer.hi];
    const int64_t extent = relation->parent[0];
    if (outer.hi - outer.lo > 1)
        return bound_values(bounds, own->parent[0], extent, interval(start, end));
    const int64_t lo = start + inner.lo, hi = min_i64(start + inner.hi, end);
    if (inner.periodic)
        return bound_periodic(bounds, own->parent[0], extent, lo, hi, inner.periodic->origin + start,
                              inner.periodic->period, inner.periodic->size);
    return bound_values(bounds, own->parent[0], extent, interval(lo, hi));
}

const RelationKind relation_balance = {
    .name = "balance",
    .done = "divided",
    .parents = 1,
    .children = 2,
    .numbers = 1,
    .printed_numbers = 1,
    .partitions = true,
    .contiguous = true,
    .balanced = true,
    .clamps = {false, true},
    .extents = extents,
    .recover = recover,
    .upper = upper,
    .boxes = make_boxes,
    .bound = bound,
    .part = part,
};
