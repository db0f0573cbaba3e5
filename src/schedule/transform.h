// SPDX-License-Identifier: BSD-3-Clause
// Rewrites of loop nests that commands are made of. They change a Cin that the command has just copied, in
// every nest that has the loops, and check nothing.
#ifndef DISTAL_SCHEDULE_TRANSFORM_H
#define DISTAL_SCHEDULE_TRANSFORM_H

#include "schedule/arguments.h"

// A variable that does not exist yet: `base` with a letter, and with a number where that is taken. Different
// bases or letters give different names.
NewVar transform_fresh_var(const Cin *cin, const char *base, char letter, Span span);

// Adds the relation, whose children are new loops with these names: they are put, directly one inside of the
// other, in the place of its first parent. The ids of the children are set in it.
void transform_derive(Cin *cin, Relation *relation, const NewVar *children);

// The loops `order`, in this order, in the places that they have now.
void transform_reorder(Cin *cin, const int *order, int count);

// Moves the loops `vars`, directly one inside of the other, outside of all others; or to the place of the
// first of them, and from there outside of loops that run over all of a variable of the statement or over the
// part of one that a distributed loop selects. The loops that stay outside are those that a command has put
// there, such as the outer loop of a split.
typedef enum { HOIST_OUTSIDE_ALL, HOIST_INSIDE_CHUNKS } Hoist;
void transform_hoist(Cin *cin, const int *vars, int count, Hoist hoist);

#endif
