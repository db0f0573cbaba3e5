// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "format/stored.h"
#include "memory/memory.h"

#include <omp.h>
#include <string.h>

int64_t entry_map_bytes(const EntryMap *map) {
    return saturated_mul(map->count, ((map->from || map->late) + (map->to != NULL)) * (map->wide ? 8 : 4));
}

void entry_map_free(EntryMap *map) {
    memory_release(MEMORY_HOST, map->from);
    memory_release(MEMORY_HOST, map->to);
    *map = (EntryMap){0};
}

static inline int64_t number(const void *numbers, bool wide, int64_t e) {
    return !numbers ? e : wide ? ((const int64_t *)numbers)[e] : (int64_t)((const uint32_t *)numbers)[e];
}

int64_t entry_map_from(const EntryMap *map, int64_t e) {
    return number(map->from, map->wide, e);
}

// The entries of a part. With constants for size, width and whether there are numbers the compiler makes a
// loop for each.
static inline __attribute__((always_inline)) void copy_part(const void *numbers_from, const void *numbers_to,
                                                            const char *from, char *to, int64_t size,
                                                            bool wide, int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; e++)
        memcpy(to + number(numbers_to, wide, e) * size, from + number(numbers_from, wide, e) * size,
               (size_t)size);
}

static void copy(const EntryMap *map, const char *from, char *to, int64_t size, int64_t begin, int64_t end) {
    if (!map->from && !map->to)
        memcpy(to + begin * size, from + begin * size, (size_t)((end - begin) * size));
    else if (!map->to && size == 8 && !map->wide)
        copy_part(map->from, NULL, from, to, 8, false, begin, end);
    else if (!map->to && size == 4 && !map->wide)
        copy_part(map->from, NULL, from, to, 4, false, begin, end);
    else
        copy_part(map->from, map->to, from, to, size, map->wide, begin, end);
}

void entry_map_copy(const EntryMap *map, size_t size, const void *from, void *to, int64_t count) {
    const int team = entries_team(map->count);
    if (map->to)
        memset(to, 0, (size_t)count * size);
#pragma omp parallel num_threads(team)
    for (int t = omp_get_thread_num(); t < team; t += omp_get_num_threads())
        copy(map, from, to, (int64_t)size, part_begin(map->count, team, t),
             part_begin(map->count, team, t + 1));
}

// The first entry of a part that adds to another position than the one before.
static int64_t part_of_positions(const EntryMap *map, int team, int thread) {
    int64_t e = part_begin(map->count, team, thread);
    while (e > 0 && e < map->count && number(map->to, map->wide, e) == number(map->to, map->wide, e - 1))
        e++;
    return e;
}

void entry_map_add(const EntryMap *map, ElementType type, int64_t first, const void *from, void *to) {
    const int64_t size = (int64_t)type_info(type)->size;
    const int team = entries_team(map->count);
#pragma omp parallel num_threads(team)
    for (int t = omp_get_thread_num(); t < team; t += omp_get_num_threads()) {
        const int64_t end = part_of_positions(map, team, t + 1);
        for (int64_t e = part_of_positions(map, team, t); e < end; e++) {
            const int64_t entry = number(map->from, map->wide, e) - first;
            if (entry >= 0)
                memory_host.reduce(REDUCER_SUM, type, (char *)to + number(map->to, map->wide, e) * size, 1,
                                   (const char *)from + entry * size, 1, 1);
        }
    }
}
