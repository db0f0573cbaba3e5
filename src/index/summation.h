// SPDX-License-Identifier: BSD-3-Clause
// Which variables the parts of a right side are summed over. A variable that the left side lacks is summed
// over around the additive term of the statement that has it (docs/language.md). Inside a term, the meaning
// of a sum is clear only if all of its addends have the same of these variables.
#ifndef DISTAL_INDEX_SUMMATION_H
#define DISTAL_INDEX_SUMMATION_H

#include "index/notation.h"

// An addition or a subtraction.
bool expr_is_sum(const Expr *expr);

// Whether the addends of a sum, nested sums included, differ in their variables of `summed`. *common: the
// variables that all of them have; may be NULL.
bool sum_is_mixed(const Expr *sum, VarSet summed, VarSet *common);

// The addends of a sum in order, through signs and nested sums; calls `visit` for each.
void sum_addends(const Expr *sum, void (*visit)(void *context, const Expr *addend), void *context);

// The first outermost sum inside a product, a quotient or a call whose addends differ in this way; NULL where
// there is none. `left`: the variables of the left side. *summed: those that parts of it are summed over,
// which explicit reductions around it do not bind; may be NULL.
const Expr *expr_mixed_sum(const Expr *expr, VarSet left, VarSet *summed);

// What the assignment itself sums: the right side without explicit sums that are all of it, as B(i, j) of
// `A(i) = sum({j}, B(i, j))`. The right side where there are none, or the assignment does not sum. An update
// sums ahead, unless it stores other entries in a sparse tensor.
const Expr *assignment_summand(const Assignment *assignment);

// `sum({k}, expr)`, by reducer, over the variables of `bound`.
const Expr *expr_reduced(Arena *arena, const Expr *expr, Reducer reducer, VarSet bound);

// A statement that accumulates with the old value on the right side: `A(i) *= B(i, k)` is
// `A(i) = A(i) * prod({k}, B(i, k))`, and `A(i) max= b(i)` is `A(i) = max(A(i), b(i))`. Any other is
// returned.
const Assignment *assignment_stored(Arena *arena, const Assignment *assignment);

#endif
