// SPDX-License-Identifier: BSD-3-Clause
// Part exchange: each rank requests parts of a tensor from the ranks that own them.
#ifndef DISTAL_RUNTIME_PART_EXCHANGE_H
#define DISTAL_RUNTIME_PART_EXCHANGE_H

#include "plan/rank_plan.h"
#include "runtime/agreement.h"

// Parts in the order of the ranks at the other end.
typedef struct {
    int64_t *counts; // by rank
    int64_t count;
    Part *parts;
} PartList;

// Copies parts that are sorted by peer; false: no memory. The rest is zero then, or freed with
// part_list_free.
bool part_list_create(PartList *list, int ranks, int64_t count, const Part *parts);
void part_list_free(PartList *list);

// From the parts that each rank receives, those that it sends: to other ranks and to itself. Periodic sets
// are in the arena of the diagnostics. Collective; false with the same diagnostic on all ranks.
// part_list_free follows in any case.
bool exchange_parts(const PartList *receives, PartList *sends, int order, MPI_Comm comm,
                    Diagnostics *diagnostics);

#endif
