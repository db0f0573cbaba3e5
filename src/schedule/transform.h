// SPDX-License-Identifier: BSD-3-Clause
// Rewrites of loop nests, from which commands are built. They change a Cin that the command has just copied,
// in every nest that has the loops. They check nothing but that rows get the loops around them that they
// need: transform_reorder and transform_hoist give NULL, or why that is not possible.
#ifndef DISTAL_SCHEDULE_TRANSFORM_H
#define DISTAL_SCHEDULE_TRANSFORM_H

#include "schedule/arguments.h"

// A new variable: `base` with a letter, and with a number if that name is taken. Different bases or letters
// give different names.
NewVar transform_fresh_var(const Cin *cin, const char *base, char letter, Span span);

// Adds the relation, whose children are new loops with these names, directly nested in the place of its first
// parent. Sets the ids of the children in it.
void transform_derive(Cin *cin, Relation *relation, const NewVar *children);

// Puts the loops `order`, in this order, into the places that they have now.
const char *transform_reorder(Cin *cin, const int *order, int count);

// Moves the loops `vars`, directly nested, outside of all others; or to the place of the first of them, and
// from there outside of loops over a whole variable of the statement or over the part of one that a
// distributed loop selects. So other loops that a command has put outside, such as the outer loop of a split,
// stay outside.
typedef enum { HOIST_OUTSIDE_ALL, HOIST_INSIDE_CHUNKS } Hoist;
const char *transform_hoist(Cin *cin, const int *vars, int count, Hoist hoist);

#endif
