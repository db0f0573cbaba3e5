// SPDX-License-Identifier: BSD-3-Clause
// Where an expression of sparse tensors can be other than zero: unions and intersections of the coordinates
// that its operands store (merge lattices: Kjolstad, Kamil, Chou, Lugato, Amarasinghe 2017). Operands that
// have every coordinate are left out. The loops over a variable follow from such a set, and so do the
// conditions inside of them.
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

// Where `expr` is present (index/presence.h), computed in `type`. `operand` gives the number of the operand
// for an access that is present where it is stored, or -1 where it is left out.
const Set *set_of(Arena *arena, const Expr *expr, ElementType type,
                  int (*operand)(void *context, const Access *access), void *context);

bool set_equal(const Set *a, const Set *b);
// Whether the set mentions the operand; whether every element of the set is stored in it.
bool set_mentions(const Set *set, int operand);
bool set_requires(const Set *set, int operand);

#endif
