// SPDX-License-Identifier: BSD-3-Clause
// Index variables of one statement, by id from 0, and sets of them.
#ifndef DISTAL_RELATION_VARIABLE_H
#define DISTAL_RELATION_VARIABLE_H

#include "base/intexpr.h"

enum { MAX_VARS = 64 }; // derived variables included
// The message where a statement would have more than MAX_VARS, which is its argument.
#define TOO_MANY_VARS                                                                                        \
    "a statement has at most %d index variables; indices such as i + 1, ranges, and variables that "         \
    "commands make count as well"

typedef uint64_t VarSet; // bit v: variable v
_Static_assert(MAX_VARS <= 64, "a set of variables is one word");

// An index of an access that is more than a variable: a constant and the sum of variables of the statement
// times coefficients, expressions over params. No coefficient is 0.
enum { MAX_INDEX_TERMS = 4 };
typedef struct {
    const IntExpr *constant;
    int count;
    int vars[MAX_INDEX_TERMS];
    const IntExpr *coefficients[MAX_INDEX_TERMS];
} AffineIndex;

#endif
