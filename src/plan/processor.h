// SPDX-License-Identifier: BSD-3-Clause
// What a kernel gets for the processor that it runs for: its coordinates, and the numbers that the entries of
// balanced tensors determine for it (spmd_processor_numbers).
#ifndef DISTAL_PLAN_PROCESSOR_H
#define DISTAL_PLAN_PROCESSOR_H

#include "format/stored.h"
#include "plan/plan.h"

// The positions of one processor: those that its rank has of a part of all positions.
typedef struct {
    int transfer;     // by which the rank has the tensor
    int value;        // where the place of the first of all positions is among the values; that of the
                      // last one follows
    int level;        // that the positions are of
    int64_t position; // the first one of the part, counted over all ranks
    bool last;        // no part is behind it
    // The first coordinates of the part and of the next one, by level.
    int64_t first[MAX_ORDER], next[MAX_ORDER];
} PositionPart;
typedef Array(PositionPart) PositionPartArray;

// How many values there are, and those of the processors of a rank, one after the other: per_rank times as
// many. Where positions are depends on what the rank has of the tensor: they are set when that is known.
int processor_value_count(const StatementPlan *plan);
PositionPartArray processor_values(const StatementPlan *plan, int64_t rank, int64_t *values);
// Entries are in order in each cell of a division (machine/division.h), so a rank can iterate over those of
// one. A relation that distributes positions of which some rank has those of several cells; NULL: none.
const Relation *processor_cells_mixed(const StatementPlan *plan);
// `stored`: what the rank has of the tensor; NULL: nothing.
void position_part_set(const PositionPart *part, const StoredTensor *stored, int64_t *values);

#endif
