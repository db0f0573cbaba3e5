// SPDX-License-Identifier: BSD-3-Clause
// Staging: what the operations of a rank use of a home in disk, which has no addresses, and what that reads
// and writes. Local copies read files into views, and write results from there. Operations that send what is
// at home send it from the view, where the rank uses it itself, and from a stage else; reductions with other
// ranks have what they add to in a stage.
#ifndef DISTAL_PLAN_STAGING_H
#define DISTAL_PLAN_STAGING_H

#include "plan/rank_step.h"

// For the operations of the step: says where their parts at home are, and adds stages to the plan. Nothing
// where the home is in memory.
void stage_step(RankPlanner *rank, RankStep *step, RankTransfer *result, RankOperation *all);
// After all steps of a transfer that has been planned but for its stages: which parts are fresh, and what is
// read and written, or copied between memory of the host and of a GPU.
void stage_finish(RankPlanner *rank, RankTransfer *result);

#endif
