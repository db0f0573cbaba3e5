// SPDX-License-Identifier: BSD-3-Clause
// Homes of tensors without a placement: induced by the schedule.
#ifndef DISTAL_PLAN_INDUCED_H
#define DISTAL_PLAN_INDUCED_H

#include "plan/walk.h"

// Gives `tensor` the home that this statement, the first that accesses it, induces.
void induce_home(StatementPlan *plan, Home *home, const Tensor *tensor, const int64_t *extents, Arena *arena);

#endif
