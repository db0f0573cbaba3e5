// SPDX-License-Identifier: BSD-3-Clause
// Partial results in memory of GPUs, which a library combines there (DeviceSums): where MPI is GPU-aware, as
// it moves what needs no sum, and each rank has a GPU of its own, which NCCL requires.
#ifndef DISTAL_RUNTIME_GPU_SUMS_H
#define DISTAL_RUNTIME_GPU_SUMS_H

#include "base/diagnostic.h"
#include "memory/device.h"

#include <mpi.h>

// Whether the ranks of `comm`, which all have opened a GPU if they could, combine them there
// (PlanOptions.gpu_sums): as DISTAL_GPU_NCCL of the first rank says, "on" or "off", or if it is not set,
// wherever they can; with "on" an emulated GPU has sums by MPI. *why says in static memory why they do not;
// NULL: there is no reason to. False with the same diagnostic on all ranks where the variable has another
// value. Collective.
bool gpu_sums_choose(MPI_Comm comm, bool gpu_messages, bool *gpu_sums, const char **why,
                     Diagnostics *diagnostics);
// Predicts that for ranks that have not been started: they do where the variable is "on". Local.
bool gpu_sums_expect(bool gpu_messages, bool *gpu_sums, Diagnostics *diagnostics);

// Begins a sum (DeviceSums.sum) of all ranks of `comm`, unless the GPU of one of them has failed: then its
// outcome is of no use. Collective; the first one of a communicator makes a group of its ranks.
void gpu_sums_start(MPI_Comm comm, Reducer reducer, ElementType type, void *elements, int64_t count,
                    int root);
// The group of a communicator that stays longer than the device is left.
void gpu_sums_forget(MPI_Comm comm);

#endif
