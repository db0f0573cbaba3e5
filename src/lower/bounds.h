// SPDX-License-Identifier: BSD-3-Clause
// Bounds inference, symbolic: variables recovered from their children, and tight upper bounds of loops.
#ifndef DISTAL_LOWER_BOUNDS_H
#define DISTAL_LOWER_BOUNDS_H

#include "index/cin.h"

// The value of `var` in terms of the variables in `known` (by id) through its relations; NULL while some loop
// that it depends on is not known.
const IntExpr *bounds_recover(const Cin *cin, int var, const bool *known);

// An upper bound for a loop over `var` (from 0, step 1) where the variables in `known` have values: never
// more than its extent, clamped to the rectangle of its parent, recursively. *exact says whether a guard is
// still needed for its parent.
const IntExpr *bounds_upper(const Cin *cin, int var, const bool *known, bool *exact);

#endif
