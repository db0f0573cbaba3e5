// SPDX-License-Identifier: BSD-3-Clause
// Demands: what ranks need in one step of a transfer. Ranks whose coordinates agree where the access depends
// on them need the same, which is found once for all of them: a row of a grid, and not each rank of it.
#ifndef DISTAL_PLAN_DEMAND_H
#define DISTAL_PLAN_DEMAND_H

#include "plan/plan.h"

typedef struct Demands Demands;

// For the steps of one transfer, in order; lives in the arena.
Demands *demands_create(StatementPlan *plan, const Transfer *transfer, Arena *arena);

// Demands of all ranks in step `turn` of the loops around the transfer, while each runs processor `local` of
// its own: written to needs[rank].demand. Those of the call before stay, those before that are overwritten.
// `scratch` is for memory that is not used after the call.
void demands_find(Demands *demands, int64_t local, int64_t turn, Need *needs, Arena *scratch);

#endif
