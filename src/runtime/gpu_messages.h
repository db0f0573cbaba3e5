// SPDX-License-Identifier: BSD-3-Clause
// Messages from and to memory of GPUs, without copies on the host, by MPI libraries that take addresses
// there.
#ifndef DISTAL_RUNTIME_GPU_MESSAGES_H
#define DISTAL_RUNTIME_GPU_MESSAGES_H

#include <mpi.h>
#include <stdbool.h>

// Whether such messages are sent (PlanOptions.gpu_messages): DISTAL_GPU_MPI of the first rank is "on", or it
// is not "off" and the MPI libraries of all ranks say that they take memory of CUDA. Collective.
bool gpu_messages_are_sent(MPI_Comm comm);
// The same of one process, for plans without ranks: what the environment says.
bool gpu_messages_are_asked_for(void);

#endif
