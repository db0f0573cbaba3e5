// SPDX-License-Identifier: BSD-3-Clause
// Bounds inference, symbolic: variables recovered from their children, and tight upper bounds of loops. A
// point of the iteration space exists where every variable, derived or not, lies below its extent; a bound
// carries as many of these conditions as can be solved for its loop, and the rest become guards.
#ifndef DISTAL_LOWER_BOUNDS_H
#define DISTAL_LOWER_BOUNDS_H

#include "index/cin.h"

// The value of `var` in terms of the variables in `known` (by id) through its relations; NULL while some loop
// that it depends on is not known. Younger variables that can be recovered have to be known: each that is not
// may double the size of the value.
const IntExpr *bounds_recover(const Cin *cin, int var, const bool *known);

// Whether it has such a value.
bool bounds_is_recovered(const Cin *cin, int var, const bool *known);

// An upper bound for a loop over `var` (from 0, step 1) where the variables in `known` have values: never
// more than its extent, clamped to the rectangle of its parent, recursively.
const IntExpr *bounds_upper(const Cin *cin, int var, const bool *known);

// Whether bounds_upper of `var` keeps `parent`, a variable above it, below its extent; else that needs a
// guard.
bool bounds_clamps(const Cin *cin, int parent, int var, const bool *known);

// Whether the value of `var` changes with loop `loop`.
bool bounds_depends(const Cin *cin, int var, int loop);

// The variable that indexes accesses of `assign` (accesses of a leaf: a source variable, or child[1] of a
// REL_CYCLIC) and that `loop` moves by one a turn, the only one that it moves at all; -1 where there is none.
// Only inner parts of splits on the way, so its bound is exact whatever stands outside.
int bounds_unit_source(const Cin *cin, const Stmt *assign, int loop);

#endif
