// SPDX-License-Identifier: BSD-3-Clause
// What a run stands on: cores and threads, memory, and the names of the MPI library and of the BLAS.
#ifndef DISTAL_CLI_ENVIRONMENT_H
#define DISTAL_CLI_ENVIRONMENT_H

#include "base/diagnostic.h"

#include <mpi.h>

// Sets the number of threads of OpenMP and of the BLAS and returns it: `wanted`, or for 0 the cores of this
// rank, shared fairly with the other ranks of its node that may use the same ones. Where those are too few,
// this rank sleeps from now on while it waits. Collective over `node`.
int64_t environment_threads(int64_t wanted, MPI_Comm node);

// "Open MPI 4.1.4"
const char *environment_mpi(Arena *arena);
// "OpenBLAS 0.3.21"; "CBLAS" where the library does not say its name.
const char *environment_blas(Arena *arena);

#endif
