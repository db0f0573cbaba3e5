// SPDX-License-Identifier: BSD-3-Clause
// rotate: parent[0] = (child[0] + the sum of the operands) mod extent(parent[0]).
#include "base/integer.h"
#include "relation/relations.h"

static void extents(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children) {
    (void)arena;
    (void)numbers;
    children[0] = parents[0];
}

static const IntExpr *recover(const RelationTerms *terms, int p) {
    const IntExpr *sum = terms->value[0];
    for (int i = 0; i < terms->relation->operand_count; i++)
        sum = int_op(terms->arena, INT_ADD, sum, terms->operands[i]);
    return int_op(terms->arena, INT_MOD, sum, relation_divisor(terms->arena, terms->parent[p]));
}

typedef struct {
    const NumericRelation *relation;
    BoxList *list;
    int64_t at;
    PositionSet values; // of the child, with those of the operands in `added` added
    VarSet added;
    bool any;
} Rotation;

static void put(Rotation *rotation, Box *box, PositionSet values) {
    box->values[rotation->relation->relation.parent[0]] = values;
    if (values.lo < values.hi)
        box_list_put(rotation->list, rotation->at, box, &rotation->any);
}

// The values of the child plus `shift`, modulo the extent: those below the extent, and those beyond it.
static void put_shifted(Rotation *rotation, Box *box, int64_t shift) {
    Arena *arena = rotation->list->arena;
    const int64_t extent = rotation->relation->parent[0];
    const PositionSet below = positions_clip(rotation->values, 0, extent - shift),
                      beyond = positions_clip(rotation->values, extent - shift, extent);
    put(rotation, box, positions_shift(below, shift, arena));
    put(rotation, box, positions_shift(beyond, shift - extent, arena));
}

// Boxes for the values of the operands from `next` on; values that are equal modulo the extent share one.
static void put_all(Rotation *rotation, Box box, int next, int64_t shift) {
    const Relation *own = &rotation->relation->relation;
    const int64_t extent = rotation->relation->parent[0];
    if (next == own->operand_count) {
        put_shifted(rotation, &box, shift);
        return;
    }
    const int var = own->operands[next];
    if (rotation->added >> var & 1) {
        put_all(rotation, box, next + 1, shift);
        return;
    }
    const PositionSet all = box.values[var];
    const bool by_residue = !all.periodic && all.hi - all.lo > extent;
    const int64_t count = by_residue ? extent : positions_count(all);
    for (int64_t i = 0; i < count && !rotation->list->full; i++) {
        const int64_t value = positions_at(all, i);
        box.values[var] = by_residue ? positions_every(interval(value, all.hi), extent, rotation->list->arena)
                                     : interval(value, value + 1);
        put_all(rotation, box, next + 1, (shift + value % extent) % extent);
    }
}

// Operands that only this relation uses make an interval longer, as it is shifted by all of their values.
// Returns the start of the result; its length, at most the extent, is that of rotation->values.
static int64_t add_intervals(Rotation *rotation) {
    const Relation *own = &rotation->relation->relation;
    const Box *box = &rotation->list->boxes->items[rotation->at];
    const int64_t extent = rotation->relation->parent[0];
    int64_t first = rotation->values.lo, length = rotation->values.hi - rotation->values.lo;
    for (int i = 0; i < own->operand_count; i++) {
        const PositionSet by = box->values[own->operands[i]];
        if (rotation->values.periodic || by.periodic || !(rotation->list->used_once >> own->operands[i] & 1))
            continue;
        rotation->added |= (VarSet)1 << own->operands[i];
        first = (first + by.lo % extent) % extent;
        length = min_i64(extent, saturated_add(length, by.hi - by.lo - 1));
    }
    if (rotation->added)
        rotation->values = interval(0, length);
    return rotation->added ? first : 0;
}

static bool make_boxes(const NumericRelation *relation, BoxList *list, int64_t at) {
    Box box = list->boxes->items[at];
    Rotation rotation = {.relation = relation, .list = list, .at = at};
    rotation.values = box.values[relation->relation.child[0]];
    const int64_t first = add_intervals(&rotation);
    if (positions_are_all(rotation.values, relation->child[0]))
        put(&rotation, &box, rotation.values);
    else
        put_all(&rotation, box, 0, first);
    return rotation.any;
}

static bool bound(const NumericRelation *relation, BoundingBox *bounds) {
    const Relation *own = &relation->relation;
    const int64_t extent = relation->parent[0];
    const PositionSet rotated = bounds->box.values[own->child[0]];
    int64_t first = rotated.lo, length = rotated.hi - rotated.lo;
    for (int i = 0; i < own->operand_count; i++) {
        const PositionSet by = bounds->box.values[own->operands[i]];
        first = (first + by.lo % extent) % extent;
        length = saturated_add(length, by.hi - by.lo - 1);
    }
    return bound_circular(bounds, own->parent[0], extent, first, min_i64(length, extent));
}

const RelationKind relation_rotate = {
    .name = "rotate",
    .done = "rotated",
    .parents = 1,
    .children = 1,
    .has_operands = true,
    .rotates = true,
    .extents = extents,
    .recover = recover,
    .boxes = make_boxes,
    .bound = bound,
};
