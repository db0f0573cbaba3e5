// SPDX-License-Identifier: BSD-3-Clause
// What the files of plan/ share about walks.
#ifndef DISTAL_PLAN_WALK_H
#define DISTAL_PLAN_WALK_H

#include "plan/pattern.h"

// Turns of the loops around a transfer on one rank, all of its processors together; INT64_MAX where those are
// more than fit into 64 bits.
int64_t walk_steps(const StatementPlan *plan, const Transfer *transfer);

// Like walk_next, but finds only what each rank needs: no homes have to be known, no messages are made.
bool walk_needs(Walk *walk);

#endif
