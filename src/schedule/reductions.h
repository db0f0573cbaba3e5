// SPDX-License-Identifier: BSD-3-Clause
// Explicit reductions, such as `max({j}, S(i, j))`, in concrete index notation.
#ifndef DISTAL_SCHEDULE_REDUCTIONS_H
#define DISTAL_SCHEDULE_REDUCTIONS_H

#include "schedule/schedule.h"

// The Cin of a statement: cin_create, with a workspace for each explicit reduction, over the other variables
// of its expression, which is computed before what reads it; equal reductions share one. A reduction that is
// the whole right side needs none. NULL with a diagnostic: a workspace would have too many modes.
const Cin *schedule_reductions(Scheduler *scheduler, const Assignment *assignment);

#endif
