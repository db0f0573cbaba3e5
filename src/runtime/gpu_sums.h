// SPDX-License-Identifier: BSD-3-Clause
// Partial results in memory of GPUs, which a library combines there (DeviceSums): where MPI is GPU-aware, as
// it moves what needs no sum, and each rank has a GPU of its own, which NCCL requires.
#ifndef DISTAL_RUNTIME_GPU_SUMS_H
#define DISTAL_RUNTIME_GPU_SUMS_H

#include "base/diagnostic.h"
#include "memory/device.h"
#include "plan/rank_plan.h"

#include <mpi.h>

// Whether the ranks of `comm`, which have `gpus` GPUs together (runtime/gpu_ranks.h), combine them there
// (PlanOptions.gpu_sums): as DISTAL_GPU_NCCL of the first rank says, "on" or "off", or if it is not set,
// wherever they can; with "on" an emulated GPU has sums by MPI. *why says why they do not, in the arena of
// the diagnostics; NULL: there is no reason to. False with the same diagnostic on all ranks where the
// variable has another value. Collective.
bool gpu_sums_choose(MPI_Comm comm, bool gpu_messages, int gpus, bool *gpu_sums, const char **why,
                     Diagnostics *diagnostics);
// Predicts that for ranks that have not been started: they do where the variable is "on". Local.
bool gpu_sums_expect(bool gpu_messages, bool *gpu_sums, Diagnostics *diagnostics);

// Whether the group of an operation combines its partial results there, by DeviceSums. Local.
bool gpu_sums_combine(const RankTransfer *transfer, const RankOperation *operation);
// Makes a group (DeviceSums) of the GPUs of all ranks of `comm`, which have sums. NULL on all ranks where one
// could not join; that rank's failure is noted (device_check). Collective.
void *gpu_sums_join(MPI_Comm comm);
// Leaves a group, if it is not NULL. Local.
void gpu_sums_leave(void *group);

#endif
