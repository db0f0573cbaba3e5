// SPDX-License-Identifier: BSD-3-Clause
#include "memory/memory.h"

#include "base/integer.h"

#include <string.h>

const MemoryKind *memory_kind(MemoryId id) {
#define POINTER(NAME, name) [MEMORY_##NAME] = &memory_##name,
    static const MemoryKind *const kinds[] = {MEMORY_KINDS(POINTER)};
    return kinds[id];
}

bool memory_find(const char *name, MemoryId *id) {
    for (int i = 0; i < (int)MEMORY_KIND_COUNT; i++)
        if (strcmp(memory_kind((MemoryId)i)->name, name) == 0) {
            *id = (MemoryId)i;
            return true;
        }
    return false;
}

void *memory_allocate(MemoryId id, int64_t count, ElementType type) {
    int64_t bytes;
    return checked_mul(count, (int64_t)type_info(type)->size, &bytes) ? memory_kind(id)->allocate(bytes)
                                                                      : NULL;
}

void memory_release(MemoryId id, void *memory) {
    memory_kind(id)->release(memory);
}
