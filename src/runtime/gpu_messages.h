// SPDX-License-Identifier: BSD-3-Clause
// GPU-aware MPI: whether the MPI library sends from and receives in GPU memory, as a CUDA-aware one does, so
// that messages between GPUs need no copies in host memory.
#ifndef DISTAL_RUNTIME_GPU_MESSAGES_H
#define DISTAL_RUNTIME_GPU_MESSAGES_H

#include "base/diagnostic.h"

#include <mpi.h>
#include <stdint.h>

// Whether the ranks of `comm` use GPU-aware MPI (PlanOptions.gpu_messages), as DISTAL_GPU_MPI of the first
// rank says: "on" or "off"; where it is not set, they do if the MPI libraries of all ranks are CUDA-aware.
// One rank does not. False with the same diagnostic on all ranks where it has another value; *gpu_messages is
// false then. Collective.
bool gpu_messages_choose(MPI_Comm comm, bool *gpu_messages, Diagnostics *diagnostics);
// Predicts that for `ranks` ranks that have not been started, from the environment of this process and from
// what its MPI library was built for. Local.
bool gpu_messages_expect(int64_t ranks, bool *gpu_messages, Diagnostics *diagnostics);

#endif
