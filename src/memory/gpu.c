// SPDX-License-Identifier: BSD-3-Clause
// Memory of a GPU, not supported yet.
#include "memory/memory.h"

const MemoryKind memory_gpu = {.name = "gpu"};
