// SPDX-License-Identifier: BSD-3-Clause
// GPU-aware MPI: whether the MPI library sends from and receives in GPU memory, as a CUDA-aware one does, so
// that messages between GPUs need no copies in host memory.
#ifndef DISTAL_RUNTIME_GPU_MESSAGES_H
#define DISTAL_RUNTIME_GPU_MESSAGES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

// Whether the ranks of `comm` use GPU-aware MPI (PlanOptions.gpu_messages), as DISTAL_GPU_MPI of the first
// rank says: "on" or "off"; where it is not set, they do if the MPI libraries of all ranks are CUDA-aware.
// One rank does not. Returns NULL; where it has another value, all ranks return a clause in static memory
// that says so, and *gpu_messages is false. Collective.
const char *gpu_messages_choose(MPI_Comm comm, bool *gpu_messages);
// Predicts that for `ranks` ranks that have not been started, from the environment of this process and from
// what its MPI library was built for. Local.
const char *gpu_messages_expect(int64_t ranks, bool *gpu_messages);

#endif
