// SPDX-License-Identifier: BSD-3-Clause
// Occurrences of one expression in another, as a whole or as some of the factors of a product, and whether a
// workspace that is computed before may take their place (Kjolstad, Ahrens, Kamil and Amarasinghe,
// "Tensor algebra compilation with workspaces", 2019).
#ifndef DISTAL_INDEX_SUBEXPRESSION_H
#define DISTAL_INDEX_SUBEXPRESSION_H

#include "index/notation.h"

typedef struct {
    Arena *arena;
    const Expr *part; // what is replaced; its variables are those of the expression
    const Expr *by;   // an access that the variables in `kept` determine; the others are summed over before
    VarSet kept;
    VarSet left;    // variables of the left side
    bool truncates; // divisions truncate, so they are not linear
    bool whole;     // of an assignment that is `whole`, in which nothing can be summed ahead
    // Set by expr_replace.
    int count; // occurrences replaced
    // Why others are not. Variables that cannot be summed ahead: they index the left side or other factors,
    // or are summed over around what is not linear, a function or a divisor.
    VarSet outside;
    VarSet partly; // variables of the workspace that some terms of the part only are summed over
} Replacement;

// `expr` with every occurrence of the part replaced where that is possible; `expr` itself where there is
// none. Factors of a product and two summands may occur in any order.
const Expr *expr_replace(Replacement *replacement, const Expr *expr);

// The expression with other variables: `ids` by variable id.
const Expr *expr_with_vars(Arena *arena, const Expr *expr, const int *ids);

#endif
