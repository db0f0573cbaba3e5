// SPDX-License-Identifier: BSD-3-Clause
// Files that are read and written in tiles, not supported yet.
#include "memory/memory.h"

const MemoryKind memory_disk = {.name = "disk"};
