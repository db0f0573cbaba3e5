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

// `at` is replaced by the first box, and the others go to the end of the list.
typedef struct {
    const NumericRelation *relation;
    Arena *arena;
    BoxArray *boxes;
    int64_t at;
    PositionSet values; // of the child
    bool any;
} Rotation;

static void add(Rotation *rotation, Box *box, PositionSet values) {
    if (values.lo >= values.hi)
        return;
    box->values[rotation->relation->relation.parent[0]] = values;
    if (rotation->any)
        array_push(rotation->arena, *rotation->boxes, *box);
    else
        rotation->boxes->items[rotation->at] = *box;
    rotation->any = true;
}

// The child's values plus `shift`: those below the extent, and those from there on less the extent.
static void add_shifted(Rotation *rotation, Box *box, int64_t shift) {
    const int64_t extent = rotation->relation->parent[0];
    const PositionSet below = positions_clip(rotation->values, 0, extent - shift),
                      beyond = positions_clip(rotation->values, extent - shift, extent);
    add(rotation, box, positions_shift(below, shift, rotation->arena));
    add(rotation, box, positions_shift(beyond, shift - extent, rotation->arena));
}

// Boxes for the values of the operands from `next` on; those that are equal modulo the extent share one.
static void add_boxes(Rotation *rotation, Box box, int next, int64_t shift) {
    const Relation *own = &rotation->relation->relation;
    const int64_t extent = rotation->relation->parent[0];
    if (next == own->operand_count) {
        add_shifted(rotation, &box, shift);
        return;
    }
    const int var = own->operands[next];
    const PositionSet all = box.values[var];
    const bool by_residue = !all.periodic && all.hi - all.lo > extent;
    const int64_t count = by_residue ? extent : positions_count(all);
    for (int64_t i = 0; i < count; i++) {
        const int64_t value = positions_at(all, i);
        box.values[var] = by_residue ? positions_every(interval(value, all.hi), extent, rotation->arena)
                                     : interval(value, value + 1);
        add_boxes(rotation, box, next + 1, (shift + value % extent) % extent);
    }
}

static bool make_boxes(const NumericRelation *relation, Arena *arena, BoxArray *boxes, int64_t at) {
    const Relation *own = &relation->relation;
    const PositionSet values = boxes->items[at].values[own->child[0]];
    if (positions_are_all(values, relation->child[0])) {
        boxes->items[at].values[own->parent[0]] = values;
        return true;
    }
    Rotation rotation = {relation, arena, boxes, at, values, false};
    add_boxes(&rotation, boxes->items[at], 0, 0);
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
    .extents = extents,
    .recover = recover,
    .boxes = make_boxes,
    .bound = bound,
};
