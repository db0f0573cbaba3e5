// SPDX-License-Identifier: BSD-3-Clause
// The additive terms of a statement, as the reference evaluator sums them.
#ifndef DISTAL_INDEX_EVALUATE_TERMS_H
#define DISTAL_INDEX_EVALUATE_TERMS_H

#include "index/notation.h"

// An additive term: the part of the right side that is summed over the same variables.
typedef struct {
    bool negative;
    VarSet summed;
    const Expr *expr;
} Addend;
typedef Array(Addend) Addends;

// Whether the last addend is the element as it was: where the statement accumulates, and where it is an
// update whose indices may leave elements out, which stay as they were.
bool addends_keep_old(const Assignment *assignment);

// The terms of the right side, one where it is `whole`, and, where the statement accumulates, the old value
// of the left side: a term of its own, or, where a maximum, a minimum or a product is stored in a sparse
// tensor, an operand of the only term.
Addends evaluate_terms(Arena *arena, const Assignment *assignment);

#endif
