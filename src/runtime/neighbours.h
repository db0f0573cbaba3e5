// SPDX-License-Identifier: BSD-3-Clause
// Neighbours: the ranks of a node, which read each other's homes, and partial results (plan/neighbours.h).
// These are then in shared memory (memory/shared.h), of which a rank maps what it reads, or in memory of
// GPUs, which it opens.
//
// A rank may read a home when its owner has begun the transfer in the same execution, as nothing changes the
// home from then on until the execution ends; and an execution ends on a rank when all that read its homes
// have ended it. Both are numbers in shared memory, of executions so far, so nothing is set back. What was
// begun on a GPU is finished before either. Partial results of a step may be read when the rank that has them
// gives them, and are there until all their owners have taken them: both are the number of a step.
#ifndef DISTAL_RUNTIME_NEIGHBOURS_H
#define DISTAL_RUNTIME_NEIGHBOURS_H

#include "plan/plan.h"
#include "runtime/storage.h"

#include <mpi.h>

typedef struct Neighbours Neighbours;

// The ranks of `comm` by node, in groups of at most `most` (0: all of a node), which simulate smaller nodes.
// Collective over `comm`, which has to stay; NULL: some rank has no memory for it.
Neighbours *neighbours_create(MPI_Comm comm, int64_t most);
void neighbours_free(Neighbours *neighbours); // which may be NULL
// As PlanOptions.nodes. NULL where no rank has neighbours, or the system does not let them share memory.
const int64_t *neighbours_nodes(const Neighbours *neighbours);

// Whether all ranks have GPUs, memory of which their neighbours can open (PlanOptions.gpu_nodes). Tries it at
// the first call, which is collective over all ranks; `neighbours` may be NULL.
bool neighbours_open_gpus(Neighbours *neighbours);

// Whether this rank has neighbours.
bool neighbours_are_there(const Neighbours *neighbours);

// Says which homes have to be in shared memory: those of which some rank reads what a neighbour has. Sets
// Home.shared of the plan. Collective over all ranks; `neighbours` may be NULL.
void neighbours_share(const Neighbours *neighbours, Plan *plan);

// What neighbours read in one execution.
typedef struct Reading Reading;

// A block that neighbours can map, or open where it is in memory of a GPU.
typedef struct {
    void *memory;
    DeviceHandle handle;
} SharedBlock;

// Local: of the parts of this rank and the storages that they use, which have to stay; `partial`: by
// transfer, the block of its partial results. NULL: no memory.
Reading *reading_create(Neighbours *neighbours, int count, const RankTransfer *const *transfers,
                        Storage *const *storages, const SharedBlock *partial);
void reading_free(Reading *reading); // which may be NULL
// Whether this rank reads something.
bool reading_is_needed(const Reading *reading);
// Where some rank of the node needs it, before the first run, on all of its ranks: exchanges where homes are.
// Collective over the neighbours. Then the pieces can be found, and neighbours know who reads.
void reading_exchange(Reading *reading);
// Local, after that: maps what this rank reads. False: no memory.
bool reading_map(Reading *reading);
// The elements of a piece of a transfer, from index 0 on; NULL before they are mapped.
void *reading_data(const Reading *reading, int transfer, int64_t piece);

// A run begins; this rank begins a transfer; it waits until a piece may be read; the run ends, when no rank
// reads its homes any more.
void reading_begin(Reading *reading);
void reading_start(Reading *reading, int transfer);
void reading_wait(Reading *reading, int transfer, int64_t piece);
void reading_end(Reading *reading);

// Of a reduction: this rank gives its partial results of a step; it waits until a neighbour has given those
// of a piece; it has taken all that it takes in the step; it waits until an owner has.
void reading_give(Reading *reading, int transfer, int64_t step);
void reading_wait_given(Reading *reading, int transfer, int64_t piece, int64_t step);
void reading_take(Reading *reading, int transfer, int64_t step);
void reading_wait_taken(Reading *reading, int transfer, int64_t owner, int64_t step);

#endif
