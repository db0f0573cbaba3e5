// SPDX-License-Identifier: BSD-3-Clause
// What a run stands on: cores and threads, memory, and the names of the MPI library and of the BLAS.
#ifndef DISTAL_CLI_ENVIRONMENT_H
#define DISTAL_CLI_ENVIRONMENT_H

#include "base/diagnostic.h"

#include <mpi.h>

// Sets the number of threads of OpenMP and of the BLAS and returns it: `wanted`, or for 0 the cores of this
// rank, shared fairly with the other ranks of its node that may use the same ones. Collective over `node`.
int64_t environment_threads(int64_t wanted, MPI_Comm node);

// Whether the ranks of the node can have `bytes` each (its own number): the sum has to fit into the memory
// that is free. False with a diagnostic on the ranks of a node where it does not. Collective over `node`.
bool environment_fits(int64_t bytes, MPI_Comm node, Diagnostics *diagnostics);

// "Open MPI 4.1.4"
const char *environment_mpi(Arena *arena);
// "OpenBLAS 0.3.21"; "CBLAS" where the library does not say its name.
const char *environment_blas(Arena *arena);

#endif
