// SPDX-License-Identifier: BSD-3-Clause
// Neighbours: ranks of one node, which read each other's homes, and partial results, in place of getting
// messages (PlanOptions.nodes). Operations are chosen, and counted, as if there were none. Then each pair of
// a rank that has elements at home and one that gets them is looked at: where they are neighbours, the one
// reads what the other has. What a rank uses is in place there where one home piece of a neighbour contains
// it: then it needs no buffer. Both ends of a message, and all members of a group, find the same.
#ifndef DISTAL_PLAN_NEIGHBOURS_H
#define DISTAL_PLAN_NEIGHBOURS_H

#include "plan/planner.h"
#include "plan/rank_step.h"

// Whether neighbours read what they have of the tensor in a transfer, which is stored in full where leaves
// are executed: in memory of the host or, where all ranks are neighbours, of GPUs. Of a fetch they read
// homes, which do not change from the first fetch on until the statement ends; of a reduction, where all
// ranks are neighbours and no element has several homes, the owners read partial results in views.
bool neighbours_read(const StatementPlan *plan, int transfer);

// Whether neighbours help each other in an indexed fetch (plan/indexed.h): the operand is dense, in memory of
// the host.
bool neighbours_gather(const StatementPlan *plan, int transfer);
// Whether `rank` then copies what it uses from the home of `owner`, another rank, into its view.
bool neighbours_gather_from(const StatementPlan *plan, int transfer, int64_t rank, int64_t owner);

// Whether all of these ranks read what the others have at home.
bool planner_reads_all(const Planner *planner, const RankArray *ranks);
// The same of what `source` has at home, or has used in the step before (`previous`): of that the taker reads
// what is at home with its neighbours, wherever the source has it.
bool planner_reads_part(Planner *planner, const Rect *rect, bool previous, int64_t source, int64_t taker);
// The piece of a neighbour of `rank` that contains a footprint; false: there is none.
bool neighbour_in_place(Planner *planner, int64_t rank, const Footprint *footprint, NeighbourPiece *found);

// The part of a rank with the operations that are left where it reads what neighbours have, and what it reads
// of them. In the arena of the plan, which then has the groups that are left.
const RankTransfer *neighbours_divert(StatementPlan *plan, int transfer, const RankTransfer *part);

// Of what neighbours_divert has found: whether the rank reads something of others; how many ranks take
// partial results of it, counted in each step.
bool neighbours_reads_others(const RankTransfer *part);
int64_t neighbours_owner_count(const RankTransfer *part);

#endif
