// SPDX-License-Identifier: BSD-3-Clause
// Memory of a GPU, which is that of the device that the process has opened.
#ifndef DISTAL_MEMORY_GPU_H
#define DISTAL_MEMORY_GPU_H

#include "memory/device.h"

// The device, which is opened where it has not been, as that of this process among those of its node, which
// the launcher's environment numbers. NULL with a diagnostic where there is none. Local.
const Device *gpu_device(Diagnostics *diagnostics);

#endif
