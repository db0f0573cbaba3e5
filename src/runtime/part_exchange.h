// SPDX-License-Identifier: BSD-3-Clause
// Part exchange: each rank requests parts of a tensor (plan/selection.h) from the ranks that own them.
#ifndef DISTAL_RUNTIME_PART_EXCHANGE_H
#define DISTAL_RUNTIME_PART_EXCHANGE_H

#include "plan/rank_plan.h"
#include "plan/selection.h"
#include "runtime/agreement.h"
#include "runtime/storage.h"

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

// The same of the rectangles of a selection, whose parts are sorted by peer.
bool part_list_of(PartList *list, int ranks, const Selection *selection, Arena *arena);

// From what each rank receives of a tensor, by peer, what it sends: to other ranks and to itself, in the
// order of the peers and that of their parts. It is in `arena`. Collective; false with the same diagnostic on
// all ranks.
bool exchange_parts(const Selection *receives, Selection *sends, const Storage *storage, Arena *arena,
                    MPI_Comm comm, Diagnostics *diagnostics);

// The same where others are asked: part p is requested from rank to[p] of the communicator, -1: from none,
// and keeps its peer. `rects`: the rectangles that each rank requests of this one.
bool exchange_parts_through(const Selection *receives, const int64_t *to, Selection *requests, int64_t *rects,
                            const Storage *storage, Arena *arena, MPI_Comm comm, Diagnostics *diagnostics);

#endif
