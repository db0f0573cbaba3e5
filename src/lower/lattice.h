// SPDX-License-Identifier: BSD-3-Clause
// Where an expression of sparse tensors can be other than zero: as unions and intersections of what its
// operands store, with coordinates that all of them have left out (merge lattices: Kjolstad, Kamil, Chou,
// Lugato, Amarasinghe 2017). Of one such set follow the loops over a variable, and the conditions inside of
// them.
#ifndef DISTAL_LOWER_LATTICE_H
#define DISTAL_LOWER_LATTICE_H

#include "index/notation.h"

typedef enum {
    SET_ALL, // everywhere
    SET_OPERAND,
    SET_BOTH,   // intersection
    SET_EITHER, // union
} SetKind;

typedef struct Set Set;
struct Set {
    SetKind kind;
    int operand;
    const Set *left, *right;
};

// The set of `expr`: a sum is stored where one of its terms is, a product where all of its factors are, a
// quotient where its dividend is, a function of zeros that is zero where one of its arguments is. `operand`
// gives the number of the operand that an access stands for, or -1 where it is left out.
const Set *set_of(Arena *arena, const Expr *expr, int (*operand)(void *context, const Access *access),
                  void *context);

bool set_equal(const Set *a, const Set *b);
// Whether some of its operands is this one; whether all elements of the set are in the operand.
bool set_mentions(const Set *set, int operand);
bool set_requires(const Set *set, int operand);

// Whether a function is zero where its arguments are.
bool function_keeps_zero(const Function *function);

#endif
