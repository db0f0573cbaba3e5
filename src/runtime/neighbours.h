// SPDX-License-Identifier: BSD-3-Clause
// Neighbours: the ranks of a node, which read each other's homes, and partial results (plan/neighbours.h).
// These are then in shared memory (memory/shared.h), of which a rank maps what it reads, or in memory of
// GPUs, which it opens.
#ifndef DISTAL_RUNTIME_NEIGHBOURS_H
#define DISTAL_RUNTIME_NEIGHBOURS_H

#include "plan/plan.h"

#include <mpi.h>

typedef struct Neighbours {
    MPI_Comm all, node;
    int ranks, count; // of all, and of the node
    bool shares;      // this rank has neighbours
    bool any;         // some rank has
    int64_t *nodes;   // by rank of all
    int *members;     // by rank of all: the number in the node, -1: it is no neighbour
    int *files;       // by member: of its shared memory; -1: this rank, or it is not open
    enum { GPUS_UNTRIED, GPUS_OPEN, GPUS_CLOSED } gpus;
} Neighbours;

// The ranks of `comm` by node, in groups of at most `most` (0: all of a node), which simulate smaller nodes.
// Collective over `comm`, which has to stay; NULL: some rank has no memory for it.
Neighbours *neighbours_create(MPI_Comm comm, int64_t most);
void neighbours_free(Neighbours *neighbours); // which may be NULL
// As PlanOptions.nodes. NULL where no rank has neighbours, or the system does not let them share memory.
const int64_t *neighbours_nodes(const Neighbours *neighbours);

// Tries whether all ranks have GPUs whose memory their neighbours can open, unless that has been tried
// before. Collective over all ranks; `neighbours` may be NULL.
void neighbours_try_gpus(Neighbours *neighbours);
// Whether they have, as far as it has been tried (PlanOptions.gpu_nodes); `neighbours` may be NULL. Local.
bool neighbours_open_gpus(const Neighbours *neighbours);

// Whether this rank has neighbours.
bool neighbours_are_there(const Neighbours *neighbours);

// Says which homes have to be in shared memory: those of which some rank reads what a neighbour has. Sets
// Home.shared of the plan. Collective over all ranks; `neighbours` may be NULL.
void neighbours_share(const Neighbours *neighbours, Plan *plan);

#endif
