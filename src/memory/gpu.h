// SPDX-License-Identifier: BSD-3-Clause
// Memory of a GPU, which is that of the device that the process has opened.
#ifndef DISTAL_MEMORY_GPU_H
#define DISTAL_MEMORY_GPU_H

#include "memory/device.h"

// The rank of the process among those of its node, which chooses the device where the launcher's environment
// numbers no processes; 0 at first.
void gpu_set_rank_on_node(int rank);

// The device, which is opened where it has not been, as that of this process among those of its node. NULL
// with a clause in *why, in static memory, or with a diagnostic, where there is none. Local.
const Device *gpu_open(const char **why);
const Device *gpu_device(Diagnostics *diagnostics);

#endif
