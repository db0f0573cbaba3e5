// SPDX-License-Identifier: BSD-3-Clause
// Bounds inference, symbolic: variables recovered from their children, and tight upper bounds of loops. A
// point of the iteration space exists where every variable, derived or not, is below its extent; a bound
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

// The bounds of a loop over `loop`, narrowed to where the index that determines the only parent of `relation`
// lies within its mode; `known` before the loop is. False, and nothing narrowed, where that needs a guard.
bool bounds_of_index(const Cin *cin, const Relation *relation, int loop, const bool *known,
                     const IntExpr **lower, const IntExpr **upper);

// By how much an index grows with each iteration of the loop; 0 where that is not known.
int64_t bounds_index_factor(const Cin *cin, const AffineIndex *index, int loop);

// Whether an index is in its mode wherever its variables are below their extents: not below 0; not beyond it.
bool bounds_index_starts(const Cin *cin, const Relation *relation);
bool bounds_index_ends(const Cin *cin, const Relation *relation);

// Whether the value of `var` changes with loop `loop`.
bool bounds_depends(const Cin *cin, int var, int loop);

// Whether `var` grows by one with each iteration of `loop`, in contiguous parts that do not depend on it.
bool bounds_has_unit_stride(const Cin *cin, int var, int loop);

// Whether `var` grows with each iteration of `loop`, in parts that do not depend on it.
bool bounds_increases(const Cin *cin, int var, int loop);

// The variable that indexes accesses of `assign` (accesses of a leaf: a source variable, or one that counts
// through a part that is not contiguous) and that grows by one with each iteration of `loop`, the only one
// that depends on it; -1 where there is none. The loop runs through contiguous parts of it, so its bound is
// exact whatever is outside.
int bounds_unit_source(const Cin *cin, const Stmt *assign, int loop);
// The same variable where indices that are more than a variable, `i + 1`, may depend on the loop as well.
int bounds_part_source(const Cin *cin, const Stmt *assign, int loop);

#endif
