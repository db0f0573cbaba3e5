// SPDX-License-Identifier: BSD-3-Clause
// One expression inside of another: where it occurs, as a whole or as some of the factors of a product, and
// whether something that is computed ahead may take its place there (Kjolstad, Ahrens, Kamil and Amarasinghe,
// "Tensor algebra compilation with workspaces", 2019).
#ifndef DISTAL_INDEX_SUBEXPRESSION_H
#define DISTAL_INDEX_SUBEXPRESSION_H

#include "index/notation.h"

// Why an occurrence cannot be replaced.
typedef enum {
    REPLACE_FINE,
    REPLACE_LEFT,      // a variable that is to be summed ahead indexes the left side
    REPLACE_NONLINEAR, // it is to be summed ahead inside of what is not linear: a function, a divisor
    REPLACE_SHARED,    // it is to be summed ahead, and other factors have it as well
    REPLACE_PARTIAL,   // a variable of the workspace is summed over in some terms of the part only
} ReplaceObstacle;

typedef struct {
    Arena *arena;
    const Expr *part; // what is replaced; its variables are those of the expression
    const Expr *by;   // an access that is indexed by `kept`; all other variables of the part are summed ahead
    VarSet kept;
    VarSet left;    // variables of the left side
    bool truncates; // divisions do, so they are not linear
    // Set by expr_replace.
    int count; // occurrences replaced
    ReplaceObstacle obstacle;
    int var; // that the obstacle is about
} Replacement;

// `expr` with every occurrence of the part replaced that can be; `expr` itself where there is none. The
// factors of a product and two summands occur in any order.
const Expr *expr_replace(Replacement *replacement, const Expr *expr);

// Whether they are the same but for the order of factors and of two summands.
bool expr_equal(Arena *arena, const Expr *a, const Expr *b);

// The expression with other variables: `ids` by variable id.
const Expr *expr_with_vars(Arena *arena, const Expr *expr, const int *ids);

#endif
