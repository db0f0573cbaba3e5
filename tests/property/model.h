// SPDX-License-Identifier: BSD-3-Clause
// A model of what has to move, element by element: every point of the iteration space is followed forward
// through the derived variables to its processor and step, what it touches is marked, and what is marked and
// not at home is counted. It shares no arithmetic on boxes and rectangles with the plan.
#ifndef DISTAL_TESTS_MODEL_H
#define DISTAL_TESTS_MODEL_H

#include "plan/plan.h"

// NULL where the plan brings to every rank what it lacks and no more; else what is wrong, in `arena`.
const char *model_check(const StatementPlan *plan, Arena *arena);

#endif
