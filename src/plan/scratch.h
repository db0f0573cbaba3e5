// SPDX-License-Identifier: BSD-3-Clause
// Scratch memory of operations where views and home pieces are packed, as a plan knows them.
#ifndef DISTAL_PLAN_SCRATCH_H
#define DISTAL_PLAN_SCRATCH_H

#include "plan/rank_plan.h"

// Memory of one rank in one step.
typedef struct {
    const Rect *view;
    const Rect *pieces;      // at home
    const DiskStage *stages; // of the transfer
    LevelList levels;
    MemoryId memory; // that messages are in
} PackedMemory;

// Elements of scratch memory that this rank needs for the operation.
int64_t operation_scratch(const RankOperation *operation, const PackedMemory *memory);

#endif
