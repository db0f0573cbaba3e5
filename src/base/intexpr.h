// SPDX-License-Identifier: BSD-3-Clause
// IntExpr: an integer expression over params and loop variables, kept symbolic so that one compiled kernel
// serves many sizes. Extents, grid sizes, loop bounds and recovered coordinates are all IntExprs.
#ifndef DISTAL_BASE_INTEXPR_H
#define DISTAL_BASE_INTEXPR_H

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>

typedef enum {
    INT_CONST,
    INT_PARAM, // value is the index of a param of the program (0 is the built-in `ranks`)
    INT_VAR,   // value is the id of an index variable of the statement
    INT_ADD,
    INT_SUB,
    INT_MUL,
    INT_FLOOR_DIV,
    INT_CEIL_DIV,
    INT_MOD, // of a non-negative number by a positive one
    INT_MIN,
    INT_MAX,
} IntOp;

typedef struct IntExpr IntExpr;
struct IntExpr {
    IntOp op;
    int64_t value;               // of the leaves
    const IntExpr *left, *right; // of the operations
};

const IntExpr *int_const(Arena *arena, int64_t value);
const IntExpr *int_param(Arena *arena, int64_t index);
const IntExpr *int_var(Arena *arena, int64_t id);

// `left op right`, folded where that is exact without knowing params (constants that do not overflow,
// x + 0, x * 1, x * 0, x / 1, min and max of equal operands).
const IntExpr *int_op(Arena *arena, IntOp op, const IntExpr *left, const IntExpr *right);

// The larger of 1 and an expression: itself where it is seen to be at least 1.
const IntExpr *int_at_least_one(Arena *arena, const IntExpr *expr);

// An operation with other operands: itself where they are the same.
const IntExpr *int_with_operands(Arena *arena, const IntExpr *expr, const IntExpr *left,
                                 const IntExpr *right);

// A copy in `arena`; NULL of NULL.
const IntExpr *int_copy(Arena *arena, const IntExpr *expr);

// Structurally the same expression, or both NULL.
bool int_equal(const IntExpr *a, const IntExpr *b);

// Whether it mentions no loop variable.
bool int_is_closed(const IntExpr *expr);

// Its value for these params and variables; either array may be NULL if the expression mentions none. False
// if a step overflows 64 bits or divides by a number that is not positive.
bool int_eval(const IntExpr *expr, const int64_t *params, const int64_t *vars, int64_t *value);

// Names by param index and by variable id, for printing.
typedef struct {
    const char *const *params;
    const char *const *vars;
    bool c; // as in C, where `/` rounds towards zero, so that a quotient of what may be negative is floor_div
} IntNames;

// In infix notation, with `/` for floor division, `%` for mod, and calls of ceil_div, min and max; valid C
// where these functions are defined.
void int_print(const IntExpr *expr, IntNames names, Text *to);
// Whether C text of it needs no brackets as an operand.
bool int_is_primary(const IntExpr *expr);

#endif
