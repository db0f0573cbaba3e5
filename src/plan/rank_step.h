// SPDX-License-Identifier: BSD-3-Clause
// One step of a transfer while it is planned for one rank: the operations that the rank takes part in.
#ifndef DISTAL_PLAN_RANK_STEP_H
#define DISTAL_PLAN_RANK_STEP_H

#include "plan/planner.h"

typedef Array(Part) PartArray;

// A collective operation, with what orders it among those of its step on all ranks alike.
typedef struct {
    int64_t class_key;
    Rect rect;
    RankOperation operation;
} Collective;

typedef struct {
    Planner *planner;
    StatementPlan *plan;
    int64_t rank;
    Region own; // pieces of the rank's home
    int64_t step;
    bool takes_part; // it runs a processor in this step that has iterations
    Worker worker;
    Footprint footprint; // empty where it does not take part
    int64_t piece;       // in place in this home piece; -1
    bool kept;
    // What has been found so far. Parts stay, so they are in the arena of the plan.
    Array(Collective) collectives;
    PartArray local, shift_sends, shift_receives, sends, receives; // messages
    // Of partial results in messages: what goes to several owners is counted once.
    int64_t reduced_elements, reduced_messages;
    Arena *kept_arena;
} RankPlanner;

// Finds the operations of the step: fetch.c, reduce.c.
// `previous` is what the rank used in the step before.
void fetch_step(RankPlanner *rank, const Footprint *previous);
void reduce_step(RankPlanner *rank);

// Registers a group of the rank in its plan.
int64_t rank_group(RankPlanner *rank, const int64_t *members, int64_t count);
void add_part(RankPlanner *rank, PartArray *parts, const Rect *rect, int64_t peer, int64_t piece,
              bool previous);
// The home piece of the rank with this part.
int64_t own_piece(const RankPlanner *rank, const Rect *rect);
void add_collective(RankPlanner *rank, int64_t class_key, const Rect *rect, const RankOperation *operation);

#endif
