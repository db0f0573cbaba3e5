// SPDX-License-Identifier: BSD-3-Clause
#include "memory/memory.h"

#include "base/integer.h"

#include <stdio.h>
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

int64_t memory_available(void) {
    FILE *file = fopen("/proc/meminfo", "re");
    if (!file)
        return -1;
    char line[256];
    long long kilobytes = -1;
    while (kilobytes < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lld", &kilobytes) != 1)
            kilobytes = -1;
    fclose(file);
    return kilobytes < 0 ? -1 : kilobytes * 1024;
}

void memory_copy_rows(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t width,
                      int64_t rows) {
    if (to_pitch == width && from_pitch == width) {
        width *= rows;
        rows = 1;
    }
    for (int t = 0; t < TYPE_COUNT && rows > 1; t++)
        if ((int64_t)type_info((ElementType)t)->size == width && to_pitch % width == 0 &&
            from_pitch % width == 0) {
            memory_host.copy((ElementType)t, to, to_pitch / width, from, from_pitch / width, rows);
            return;
        }
    for (int64_t row = 0; row < rows; row++)
        memcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, (size_t)width);
}
