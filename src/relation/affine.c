// SPDX-License-Identifier: BSD-3-Clause
// affine: parent[0] = constant + the sum of the operands times their coefficients. The parent is the index of
// an access; its operands, variables of the statement, stay. There is an iteration where it lies within its
// mode.
#include "relation/affine.h"

#include "base/integer.h"
#include "relation/relations.h"

// sum + factor * value, with a minus where that is a number below zero.
static const IntExpr *plus(Arena *arena, const IntExpr *sum, const IntExpr *factor, const IntExpr *value) {
    const bool negative = factor->op == INT_CONST && factor->value < 0;
    if (negative)
        factor = int_const(arena, -factor->value);
    return int_op(arena, negative ? INT_SUB : INT_ADD, sum, int_op(arena, INT_MUL, value, factor));
}

static const IntExpr *recover(const RelationTerms *terms, int p) {
    (void)p;
    const AffineIndex *index = terms->relation->affine;
    const IntExpr *sum = int_const(terms->arena, 0);
    for (int i = 0; i < index->count; i++)
        sum = plus(terms->arena, sum, index->coefficients[i], terms->operands[i]);
    return plus(terms->arena, sum, index->constant, int_const(terms->arena, 1));
}

// coefficient * x for all x of an interval, from the first to the last.
static PositionSet product_range(int64_t coefficient, PositionSet values) {
    const int64_t first = coefficient * values.lo, last = coefficient * (values.hi - 1);
    return interval(min_i64(first, last), max_i64(first, last) + 1);
}

// What the operands but number `except` (-1: all) add up to, with the constant, from the first to the last.
static PositionSet sum_range(const NumericRelation *relation, const PositionSet *values, int except) {
    const NumericAffine *affine = &relation->affine;
    PositionSet sum = interval(affine->constant, affine->constant + 1);
    for (int i = 0; i < relation->relation.operand_count; i++) {
        if (i == except)
            continue;
        const PositionSet by = product_range(affine->coefficients[i], values[i]);
        sum = interval(sum.lo + by.lo, sum.hi + by.hi - 1);
    }
    return sum;
}

// The values of an operand for which, with some value of `others`, the parent lies within its extent.
static PositionSet within(const NumericRelation *relation, int operand, PositionSet others) {
    const int64_t coefficient = relation->affine.coefficients[operand];
    const int64_t above = -others.hi, below = relation->parent[0] - others.lo; // of the product, exclusive
    return coefficient > 0 ? interval(floor_div(above, coefficient) + 1, ceil_div(below, coefficient))
                           : interval(floor_div(-below, -coefficient) + 1, ceil_div(-above, -coefficient));
}

static PositionSet window(const NumericRelation *relation) {
    const int64_t constant = relation->affine.constant;
    return within(relation, 0, interval(constant, constant + 1));
}

// The values of all operands, kept to those for which there is an iteration; false if there are none.
static bool clip_operands(const NumericRelation *relation, PositionSet *values) {
    const NumericAffine *affine = &relation->affine;
    for (int i = 0; i < relation->relation.operand_count; i++) {
        values[i] = positions_clip(values[i], affine->lo[i], affine->hi[i]);
        if (values[i].lo >= values[i].hi)
            return false;
    }
    for (int i = 0; i < relation->relation.operand_count; i++) {
        const PositionSet kept = within(relation, i, sum_range(relation, values, i));
        values[i] = positions_clip(values[i], kept.lo, kept.hi);
        if (values[i].lo >= values[i].hi)
            return false;
    }
    return true;
}

static int64_t magnitude(int64_t number) {
    return number < 0 ? -number : number;
}

static void take_operands(const Relation *relation, const Box *box, PositionSet *values) {
    for (int i = 0; i < relation->operand_count; i++)
        values[i] = box->values[relation->operands[i]];
}

// The operand to be added next: small coefficients first, which leave no gaps.
static int next_operand(const NumericRelation *relation, VarSet *added) {
    const int64_t *coefficients = relation->affine.coefficients;
    int next = 0;
    while (*added >> next & 1)
        next++;
    for (int i = next + 1; i < relation->relation.operand_count; i++)
        if (!(*added >> i & 1) && magnitude(coefficients[i]) < magnitude(coefficients[next]))
            next = i;
    *added |= (VarSet)1 << next;
    return next;
}

// coefficient * x for all x, moved by each of `sum`. What is in neither form is the interval around it.
static PositionSet add_multiples(PositionSet sum, int64_t coefficient, PositionSet values, Arena *arena) {
    const PositionSet range = product_range(coefficient, values);
    const int64_t size = sum.hi - sum.lo, stride = magnitude(coefficient);
    const PositionSet around = interval(sum.lo + range.lo, sum.hi + range.hi - 1);
    if (values.hi - values.lo == 1)
        return positions_shift(sum, range.lo, arena);
    if (size == 1 && coefficient == 1)
        return positions_shift(values, sum.lo, arena);
    if (size == 1 && coefficient == -1)
        return positions_reflect(values, sum.lo, arena);
    if (values.periodic || sum.periodic || size >= stride)
        return around;
    return positions_shift(
        positions_blocks(interval(0, values.hi - values.lo), stride, interval(0, size), arena),
        sum.lo + range.lo, arena);
}

static bool make_boxes(const NumericRelation *relation, BoxList *list, int64_t at) {
    Box *box = &list->boxes->items[at];
    const Relation *own = &relation->relation;
    const NumericAffine *affine = &relation->affine;
    PositionSet values[MAX_INDEX_TERMS];
    take_operands(own, box, values);
    if (!clip_operands(relation, values))
        return false;
    PositionSet sum = interval(affine->constant, affine->constant + 1);
    VarSet added = 0;
    for (int n = 0; n < own->operand_count; n++) {
        const int next = next_operand(relation, &added);
        sum = add_multiples(sum, affine->coefficients[next], values[next], list->arena);
    }
    for (int i = 0; i < own->operand_count; i++)
        box->values[own->operands[i]] = values[i];
    sum = positions_clip(sum, 0, relation->parent[0]);
    box->values[own->parent[0]] = sum;
    return sum.lo < sum.hi;
}

static bool bound(const NumericRelation *relation, BoundingBox *bounds) {
    const Relation *own = &relation->relation;
    PositionSet values[MAX_INDEX_TERMS];
    for (int i = 0; i < own->operand_count; i++) {
        const PositionSet all = bounds->box.values[own->operands[i]];
        values[i] = interval(all.lo, all.hi);
    }
    return clip_operands(relation, values) &&
           bound_values(bounds, own->parent[0], relation->parent[0], sum_range(relation, values, -1));
}

bool affine_has_gaps(const NumericRelation *relation, const Box *box) {
    int64_t size = 1; // of the interval so far
    bool strided = false;
    VarSet added = 0;
    for (int n = 0; n < relation->relation.operand_count; n++) {
        const int next = next_operand(relation, &added);
        const PositionSet values = box->values[relation->relation.operands[next]];
        const int64_t stride = magnitude(relation->affine.coefficients[next]);
        if (values.hi - values.lo == 1)
            continue;
        if (strided || (values.periodic && (size > 1 || stride != 1)))
            return true;
        strided = values.periodic || size < stride;
        size += stride * (values.hi - values.lo - 1);
    }
    return false;
}

bool affine_limits_together(const NumericRelation *relation, const Box *box) {
    PositionSet values[MAX_INDEX_TERMS];
    take_operands(&relation->relation, box, values);
    const PositionSet sum = sum_range(relation, values, -1);
    return relation->relation.operand_count > 1 && (sum.lo < 0 || sum.hi > relation->parent[0]);
}

const RelationKind relation_affine = {
    .name = "index",
    .done = "indexed",
    .parents = 1,
    .has_operands = true,
    .window = window,
    .recover = recover,
    .boxes = make_boxes,
    .bound = bound,
};
