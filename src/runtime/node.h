// SPDX-License-Identifier: BSD-3-Clause
// Node: what the ranks that share a memory have together.
#ifndef DISTAL_RUNTIME_NODE_H
#define DISTAL_RUNTIME_NODE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

// Bytes that the processes of the node can still have together: of the machine, and of the container that it
// may be. The least that any of them sees, -1 where one sees nothing. Collective over `node`.
int64_t node_free_memory(MPI_Comm node);

typedef struct {
    int64_t cores; // 0 for some processes where `crowded`
    bool crowded;  // fewer cores than processes that may use them
} CoreShare;

// The cores of this process, shared fairly with the other processes of the node that may use the same ones;
// the first of them get what is left over. Collective over `node`.
CoreShare node_share_cores(MPI_Comm node);

#endif
