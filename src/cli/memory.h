// SPDX-License-Identifier: BSD-3-Clause
// Memory: how much a run needs on each rank, from its plan; whether there is as much; and if not, which
// params or how many ranks would fit.
#ifndef DISTAL_CLI_MEMORY_H
#define DISTAL_CLI_MEMORY_H

#include "cli/session.h"

#include <mpi.h>

// What `rank`, or where that is -1 the first of the ranks that need most, needs at most of one kind of
// memory, that of the host or that of its GPU, and the statement that it needs that for: homes and buffers,
// whole tensors that --check gathers, and the copy of a target that every execution of an accumulating
// statement restores. INT64_MAX where that does not fit into 64 bits. Of one rank and memory of the host,
// figures are not made for it.
typedef struct {
    int statement;
    int64_t rank, bytes;
} MemoryPeak;
MemoryPeak memory_peak(const Pipeline *pipeline, const Options *options, MemoryId kind, int64_t rank);
// That of one rank and the statements from `first` to before `last`, which are executed together
// (pipeline/peaks.h).
MemoryPeak memory_peak_together(const Pipeline *pipeline, const Options *options, int first, int last,
                                MemoryId kind, int64_t rank);

// Where a rank would need more than --memory-limit, plans with smaller workspaces in place of those that are
// added by default. Before entries are counted.
void memory_fit_defaults(Session *session);
// Plans without pipelining where a rank would need more than a limit with it.
void memory_fit_pipeline(Session *session);

// Whether no rank needs more than --memory-limit and --gpu-memory-limit, where they are given. Else false
// with a diagnostic: what the rank with the largest peak needs, tensor by tensor, and, if `advise`, what
// would fit.
bool memory_within_limit(Session *session, bool advise);

// Whether the ranks of each node together need no more than is free there. False with the same diagnostic on
// all ranks; rank 0 adds what would fit. Collective over MPI_COMM_WORLD; `node`: the ranks that share memory.
bool memory_is_free(Session *session, MPI_Comm node);

// The same of each rank and its GPU memory, where the program uses any; opens the GPU. Ranks that share
// one may still take it from each other. Collective over MPI_COMM_WORLD.
bool memory_is_free_on_gpu(Session *session);

// Bytes that this rank may use in addition to its plan, for sparse tensors, within the limit and the free
// memory of its node. `free_memory`: of the node before the run, -1: not known. Collective over
// `node`.
int64_t memory_left(const Session *session, int64_t free_memory, MPI_Comm node);

// Adds notes to the last diagnostic: changes with which no rank needs more than `limit` of a kind of memory,
// found by planning with smaller pieces and with more ranks. `ranks_of_node`: number of ranks that share the
// memory of a node; 0: the limit is that of each rank.
void memory_advise(Session *session, MemoryId kind, int64_t limit, int64_t ranks_of_node);

#endif
