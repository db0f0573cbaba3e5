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

// The same from other ranks than the owners: part p is requested of rank to[p] of the communicator, -1: of
// none, and keeps its owner as peer. `requests`: to this rank, in the order of the ranks that they are from;
// adds the rectangles of each rank to `rects`, by rank.
bool exchange_parts_through(const Selection *receives, const int64_t *to, Selection *requests, int64_t *rects,
                            const Storage *storage, Arena *arena, MPI_Comm comm, Diagnostics *diagnostics);

// Says that there is none for requests of a tensor; false.
bool no_memory_for_requests(const Storage *storage, Diagnostics *diagnostics);

#endif
