// SPDX-License-Identifier: BSD-3-Clause
// The GPUs of ranks, of which several may share one.
#ifndef DISTAL_RUNTIME_GPU_RANKS_H
#define DISTAL_RUNTIME_GPU_RANKS_H

#include "base/diagnostic.h"

#include <mpi.h>

// How many GPUs the ranks of `comm`, each of which opens one, have together; 0 where a rank has no GPU,
// which is reported when the GPU is first used. False with a diagnostic where there is no memory. Collective.
bool gpu_ranks_count(MPI_Comm comm, int *count, Diagnostics *diagnostics);

#endif
