// SPDX-License-Identifier: BSD-3-Clause
// The GPUs of ranks, of which several may share one.
#ifndef DISTAL_RUNTIME_GPU_RANKS_H
#define DISTAL_RUNTIME_GPU_RANKS_H

#include <mpi.h>

// How many GPUs the ranks of `comm`, each of which has opened one, have together; 0: some rank lacks memory.
// Collective.
int gpu_ranks_count(MPI_Comm comm);

#endif
