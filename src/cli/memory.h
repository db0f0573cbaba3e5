// SPDX-License-Identifier: BSD-3-Clause
// Memory: what a run takes on each rank, as the plan knows before it starts; whether that is there; and what
// would fit where it is not.
#ifndef DISTAL_CLI_MEMORY_H
#define DISTAL_CLI_MEMORY_H

#include "cli/session.h"

#include <mpi.h>

// Bytes that a run with these options takes on `rank` while statement `statement` is executed: homes and
// buffers, whole tensors that --check gathers, and the copy of a target that every repetition of an
// accumulating statement restores. INT64_MAX where that does not fit into 64 bits.
int64_t memory_of_statement(const Pipeline *pipeline, const Options *options, int statement, int64_t rank);
// The most that it takes on `rank`.
int64_t memory_of_rank(const Pipeline *pipeline, const Options *options, int64_t rank);

// Whether no rank takes more than --memory-limit, where that is given. Else false with a diagnostic: what the
// rank with the most takes, tensor by tensor, and, where `advise`, what would fit.
bool memory_within_limit(Session *session, bool advise);

// Whether the ranks of each node together take no more than is free there. False with diagnostics on all
// ranks, the same; what would fit is added on rank 0 only. Collective over MPI_COMM_WORLD; `node` are the
// ranks that share memory.
bool memory_is_free(Session *session, MPI_Comm node);

// Bytes that this rank may take beyond what the plan knows of, for sparse tensors: up to the limit, and not
// more than its node has free. `free_memory`: what that had before the run, -1: not known. Collective over
// `node`.
int64_t memory_left(const Session *session, int64_t free_memory, MPI_Comm node);

// Adds notes to the last diagnostic: what would make the largest rank take `limit` at most, as found out by
// planning with smaller pieces and with more ranks. `ranks_of_node`: as many share what a node has; 0: the
// limit is that of a rank, wherever it is.
void memory_advise(Session *session, int64_t limit, int64_t ranks_of_node);

#endif
