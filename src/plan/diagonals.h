// SPDX-License-Identifier: BSD-3-Clause
// Footprints whose elements have others between them in a rectangle, as along a diagonal. Where each rank
// uses them in its home, nothing moves, and one rectangle around them is enough. Else they are listed: of
// what replaces what the owners have each element, as a rectangle would replace others, too.
#ifndef DISTAL_PLAN_DIAGONALS_H
#define DISTAL_PLAN_DIAGONALS_H

#include "plan/plan.h"

// Finds which transfers of a statement are in place, once its homes are known. False with a diagnostic where
// more elements would be listed than a plan may have.
bool diagonals_settle(StatementPlan *plan, Diagnostics *diagnostics);

#endif
