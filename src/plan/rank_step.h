// SPDX-License-Identifier: BSD-3-Clause
// One step of a transfer while it is planned for one rank: the operations that the rank takes part in.
#ifndef DISTAL_PLAN_RANK_STEP_H
#define DISTAL_PLAN_RANK_STEP_H

#include "plan/situation.h"

// The parts of the rank in an operation, in its view and at home, and what is counted for them.
typedef struct {
    PartArray view, home;
    Cost cost;
} Share;

// A collective operation, with what orders it among those of its step on all ranks alike.
typedef struct {
    int64_t class_key;
    Rect rect;
    RankOperation operation;
} Collective;

// A footprint of some class in a step, and whether all that use it have it from the step before.
typedef struct {
    int64_t step;
    Footprint footprint;
    bool by_all;
} RecentReuse;
enum { RECENT_COUNT = 4 };

typedef struct {
    Planner *planner;
    StatementPlan *plan;
    int64_t rank;
    Region own;        // pieces of the rank's home
    bool through_host; // of the transfer, as RankTransfer has it before it is finished
    int64_t step;
    bool takes_part; // it runs a processor in this step that has iterations
    Worker worker;
    Footprint footprint;      // empty where it does not take part
    int64_t piece;            // in place in this home piece; -1
    NeighbourPiece neighbour; // in place in this one; `piece` is -1 where there is none
    bool kept;
    bool serves_own;     // what the rank's own class lacks or contributes has been found
    SortedReuse passing; // of what the rank used in the step before, where others use it in this step
    RecentReuse recent[RECENT_COUNT];
    int next_recent;
    // What has been found so far. Parts stay, so they are in the arena of the plan.
    Array(Collective) collectives;    // in the arena of the step
    Share messages[OPERATION_COUNT];  // of SHAPE_MESSAGES
    int64_t groups[OPERATION_COUNT];  // of these, of all ranks, where they are collective; else -1
    Array(DiskStage) stages;          // of all steps so far, where the home is in disk
    Array(NeighbourPiece) neighbours; // that steps so far are in place in
    Arena *kept_arena, *step_arena;
} RankPlanner;

// Finds the operations of the step. `previous` is what the rank used in the step before.
void rank_step(RankPlanner *rank, const Footprint *previous);

// Registers a group of the rank that is planned.
int64_t rank_group(StatementPlan *plan, const int64_t *members, int64_t count);

#endif
