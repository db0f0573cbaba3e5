// SPDX-License-Identifier: BSD-3-Clause
// Node: what the ranks that share a memory have together.
#ifndef DISTAL_RUNTIME_NODE_H
#define DISTAL_RUNTIME_NODE_H

#include "runtime/cores.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

// Bytes that the processes of the node can still have together: of the machine, and of the control groups
// that they are in. The least that any of them sees, -1 where one sees nothing. Collective over `node`.
int64_t node_free_memory(MPI_Comm node);

enum { UNITS_LENGTH = 128 };

typedef struct {
    int64_t cores;            // for the threads of this process; 0 where there are fewer than processes
    bool crowded;             // fewer processing units than processes that may use them
    int64_t node_cores;       // that all processes of the node may use together
    CoreBinding binding;      // the same on all of them
    char units[UNITS_LENGTH]; // processing units that this process may use: "0-3,8"; cut by "..." where it is
                              // long
} CoreShare;

// The cores of this process, shared fairly with the other processes of the node that may use the same ones.
// Where `bind`, and where there is a core for each, all threads of the process are bound to its own.
// Collective over `node`.
CoreShare node_share_cores(MPI_Comm node, bool bind);

// Whether the node has fewer processing units than processes that may use them. Collective over `node`.
bool node_is_crowded(MPI_Comm node);

#endif
