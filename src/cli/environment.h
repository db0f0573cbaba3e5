// SPDX-License-Identifier: BSD-3-Clause
// The environment of a run: its cores and threads, and the names of the MPI library and of the BLAS.
#ifndef DISTAL_CLI_ENVIRONMENT_H
#define DISTAL_CLI_ENVIRONMENT_H

#include "base/diagnostic.h"
#include "runtime/node.h"

#include <mpi.h>

// Sets the number of threads of OpenMP and of the BLAS and returns it: `wanted`, or, if that is 0, the number
// of cores of this rank. If ranks of its node have to share cores, this rank sleeps while it waits from now
// on.
int64_t environment_threads(int64_t wanted, const CoreShare *share);

// By rank, on rank 0, the processing units that the rank may use; NULL on the others. Collective over
// MPI_COMM_WORLD.
const char *const *environment_units(const CoreShare *share, Arena *arena);

// "Open MPI 4.1.4"
const char *environment_mpi(Arena *arena);
// "OpenBLAS 0.3.21 for Zen with threads of OpenMP": its core type and its threads; "CBLAS" if the library
// does not give its name.
const char *environment_blas(Arena *arena);
// Why it is slower than it could be, with that many threads; NULL where nothing is known to be wrong.
const char *environment_blas_note(int64_t threads, Arena *arena);

#endif
