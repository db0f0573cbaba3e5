// SPDX-License-Identifier: BSD-3-Clause
// Part sharing: what the ranks of a node receive together (plan/shared_parts.h), found with the structure.
#ifndef DISTAL_RUNTIME_PART_SHARING_H
#define DISTAL_RUNTIME_PART_SHARING_H

#include "plan/shared_parts.h"
#include "runtime/reading.h"
#include "runtime/storage.h"

#include <mpi.h>

typedef struct {
    const StatementPlan *plan;
    int transfer;
    const Storage *storage;
    Reading *reading;
    const Neighbours *neighbours; // NULL: this rank shares no parts
    const Selection *parts;       // that this rank uses, sorted by owner
    Arena *arena;
    Selection requests; // of messages: for this rank, and for its node as aggregator, sorted by owner
    SharedParts shared; // what this rank receives as aggregator
    Selection asked;    // what ranks of the node request of it, in their order, with the owners as peers
    int64_t *rects;     // of these, by member
    int64_t *sources;   // by part that it uses, the member that receives it, -1: itself; NULL: all -1
    SharedRun *runs;    // by rectangle of these parts
} PartSharing;

// Finds the sharing of the parts that this rank uses of the operand of a transfer. `part`: of this rank;
// `reading` is NULL where that shares none. Lives in the arena. Collective over `comm`, the ranks of the
// plan; false with the same diagnostic on all ranks.
bool part_sharing_find(PartSharing *sharing, const StatementPlan *plan, int transfer, const Storage *storage,
                       const Selection *parts, const RankTransfer *part, Reading *reading, Arena *arena,
                       MPI_Comm comm, Diagnostics *diagnostics);
// Whether this rank receives what it uses of an owner, and others of its node use, as their aggregator; by
// rank, in the arena.
bool *part_sharing_aggregated(const PartSharing *sharing, int ranks);

#endif
