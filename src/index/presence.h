// SPDX-License-Identifier: BSD-3-Clause
// Where an expression over sparse tensors has a value: at the points, values of its index variables, at which
// it is present. Everywhere else it is zero (docs/language.md, Sparse statements).
#ifndef DISTAL_INDEX_PRESENCE_H
#define DISTAL_INDEX_PRESENCE_H

#include "index/notation.h"

// When an expression is present, by its operands.
typedef enum {
    PRESENT_ALWAYS,
    PRESENT_STORED, // an access: where the tensor has an entry, or the workspace was given a value
    PRESENT_LEFT,   // where the left operand is
    PRESENT_RIGHT,
    PRESENT_BOTH,   // where both operands are
    PRESENT_EITHER, // where one operand is
} Presence;

// `type`: that the statement computes in.
Presence expr_presence(const Expr *expr, ElementType type);
bool expr_is_always_present(const Expr *expr, ElementType type);
// The smallest part of an expression that is always present because of which it is so.
const Expr *expr_always_present_part(const Expr *expr, ElementType type);
// The share of all points at which an expression is present, if what tensors store is independent of each
// other: `stored` gives that of an access (PRESENT_STORED). Negative, not known: where it does so of one.
double expr_share(const Expr *expr, ElementType type, double (*stored)(void *context, const Access *access),
                  void *context);
// What reductions that are no sums combine: the expression, which is zero where it is not present. Itself
// where it is always present.
const Expr *expr_with_zeros(Arena *arena, const Expr *expr, ElementType type);

#endif
