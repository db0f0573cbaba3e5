// SPDX-License-Identifier: BSD-3-Clause
#include "format/stored.h"

#include "base/integer.h"
#include "memory/memory.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

static int64_t element_size(LevelArrayKind kind, bool wide) {
    return kind == LEVEL_ARRAY_COORDINATES && !wide ? 4 : 8;
}

static int64_t array_bytes(const LevelFormat *format, const LevelArrays *level, int a) {
    const LevelArrayKind kind = format->arrays[a].kind;
    return kind == LEVEL_ARRAY_NONE ? 0 : saturated_mul(level->lengths[a], element_size(kind, level->wide));
}

static int64_t level_bytes(const LevelFormat *format, const LevelArrays *level) {
    int64_t bytes = 0;
    for (int a = 0; a < LEVEL_ARRAY_COUNT; a++)
        bytes = saturated_add(bytes, array_bytes(format, level, a));
    return bytes;
}

int64_t stored_structure_bytes(const StoredTensor *tensor) {
    int64_t bytes = 0;
    for (int l = 0; l < tensor->order; l++)
        bytes = saturated_add(bytes, level_bytes(tensor->levels[l].format, &tensor->arrays[l]));
    return bytes;
}

int64_t stored_bytes(const StoredTensor *tensor) {
    return saturated_add(stored_structure_bytes(tensor),
                         saturated_mul(tensor->value_count, (int64_t)type_info(tensor->type)->size));
}

void stored_free(StoredTensor *tensor) {
    for (int l = 0; l < tensor->order; l++)
        for (int a = 0; a < LEVEL_ARRAY_COUNT; a++) {
            if (!tensor->arrays[l].borrowed[a])
                memory_release(MEMORY_HOST, tensor->arrays[l].arrays[a]);
            tensor->arrays[l].arrays[a] = NULL;
        }
    if (!tensor->values_borrowed)
        memory_release(MEMORY_HOST, tensor->values);
    tensor->values = NULL;
}

// Packing: what all levels of a tensor share.
typedef struct {
    StoredTensor *tensor;
    Entries *entries;
    Arena *arena;
    int64_t left;     // of the limit, in bytes
    uint8_t *differs; // LevelEntries.differs and .positions
    int64_t *positions;
    int team;
    LevelPart *parts; // by thread
    int64_t *distinct;
} Packing;

// Zeroed memory. Each thread zeroes a share, so that pages are placed in the memory near it (first touch).
static void *claim(Packing *packing, int64_t bytes) {
    if (bytes > packing->left)
        return NULL;
    char *memory = memory_host.allocate(bytes);
    if (!memory)
        return NULL;
    packing->left -= bytes;
    const int team = entries_team(bytes / 8);
#pragma omp parallel num_threads(team)
    for (int t = omp_get_thread_num(); t < team; t += omp_get_num_threads()) {
        const int64_t begin = part_begin(bytes, team, t);
        memset(memory + begin, 0, (size_t)(part_begin(bytes, team, t + 1) - begin));
    }
    return memory;
}

static const char *too_large(Packing *packing, const char *what, int64_t bytes) {
    if (bytes == INT64_MAX)
        return arena_printf(packing->arena, "%s would take more than 2^63 bytes", what);
    return arena_printf(packing->arena, "%s would take %lld bytes, and there is no memory for them", what,
                        (long long)bytes);
}

static const char *level_name(const Packing *packing, int l) {
    return arena_printf(packing->arena, "level %d (%s)", l, packing->tensor->levels[l].format->name);
}

static void mark_differences(const Packing *packing) {
    const Entries *entries = packing->entries;
    const int *mode_order = packing->tensor->mode_order, order = entries->order;
#pragma omp parallel for num_threads(packing->team)
    for (int64_t e = 1; e < entries->count; e++) {
        int l = 0;
        while (l < order - 1 &&
               entries->coordinates[mode_order[l]][e] == entries->coordinates[mode_order[l]][e - 1])
            l++;
        packing->differs[e] = (uint8_t)l;
    }
}

// Sets the parts for a level; returns how many entries are distinct there.
static int64_t make_parts(const Packing *packing, int depth) {
    const int64_t count = packing->entries->count;
    const int team = packing->team;
#pragma omp parallel num_threads(team)
    for (int t = omp_get_thread_num(); t < team; t += omp_get_num_threads()) {
        const int64_t first = part_begin(count, team, t), last = part_begin(count, team, t + 1);
        packing->parts[t] = (LevelPart){first, last, 0, first ? packing->positions[first - 1] : -1};
        packing->distinct[t] = 0;
        for (int64_t e = first; e < last; e++)
            packing->distinct[t] += packing->differs[e] <= depth;
    }
    int64_t distinct = 0;
    for (int t = 0; t < team; t++) {
        packing->parts[t].ordinal = distinct;
        distinct += packing->distinct[t];
    }
    return distinct;
}

static const char *allocate_level(Packing *packing, int l) {
    const LevelFormat *format = packing->tensor->levels[l].format;
    LevelArrays *level = &packing->tensor->arrays[l];
    for (int a = 0; a < LEVEL_ARRAY_COUNT; a++) {
        const int64_t bytes = array_bytes(format, level, a);
        if (format->arrays[a].kind == LEVEL_ARRAY_NONE)
            continue;
        level->arrays[a] = claim(packing, bytes);
        if (!level->arrays[a])
            return too_large(
                packing,
                arena_printf(packing->arena, "%s of %s", format->arrays[a].name, level_name(packing, l)),
                bytes);
    }
    return NULL;
}

static const char *pack_level(Packing *packing, int l, int64_t parents) {
    StoredTensor *tensor = packing->tensor;
    const LevelFormat *format = tensor->levels[l].format;
    LevelArrays *level = &tensor->arrays[l];
    int depth = l;
    while (tensor->levels[depth].nonunique)
        depth++;
    const int64_t distinct = make_parts(packing, depth);
    *level = (LevelArrays){.extent = tensor->extents[tensor->mode_order[l]], .wide = tensor->levels[l].wide};
    format->measure(level, parents, distinct);
    if (level->position_count == INT64_MAX)
        return arena_printf(packing->arena, "%s would have more than 2^63 positions", level_name(packing, l));
    const char *why = allocate_level(packing, l);
    if (why)
        return why;
    const LevelEntries entries = {packing->entries->count,
                                  packing->entries->coordinates[tensor->mode_order[l]], packing->differs,
                                  depth, packing->positions};
#pragma omp parallel num_threads(packing->team)
    for (int t = omp_get_thread_num(); t < packing->team; t += omp_get_num_threads())
        format->pack(level, parents, &entries, packing->parts[t]);
    return NULL;
}

static const char *pack_values(Packing *packing, int64_t positions) {
    StoredTensor *tensor = packing->tensor;
    const int64_t size = (int64_t)type_info(tensor->type)->size, bytes = saturated_mul(positions, size);
    tensor->values = claim(packing, bytes);
    if (!tensor->values)
        return too_large(packing, "its values", bytes);
    tensor->value_count = positions;
    const Entries *entries = packing->entries;
    const char *from = entries->values;
    char *to = tensor->values;
#pragma omp parallel for num_threads(packing->team)
    for (int64_t e = 0; e < entries->count; e++)
        memcpy(to + packing->positions[e] * size, from + e * size, (size_t)size);
    return NULL;
}

static const char *pack_all(Packing *packing) {
    mark_differences(packing);
    int64_t positions = 1;
    for (int l = 0; l < packing->tensor->order; l++) {
        const char *why = pack_level(packing, l, positions);
        if (why)
            return why;
        positions = packing->tensor->arrays[l].position_count;
    }
    return pack_values(packing, positions);
}

const char *stored_pack(StoredTensor *tensor, Entries *entries, int64_t limit, Arena *arena) {
    memset(tensor->arrays, 0, sizeof tensor->arrays);
    tensor->values = NULL;
    const char *why = entries_sort(entries, tensor->mode_order);
    if (!why)
        why = entries_sum_duplicates(entries);
    if (why)
        return why;
    Packing packing = {.tensor = tensor, .entries = entries, .arena = arena, .left = limit};
    packing.team = entries_team(entries->count);
    packing.differs = claim(&packing, entries->count);
    packing.positions = claim(&packing, saturated_mul(entries->count, sizeof(int64_t)));
    packing.parts = calloc((size_t)packing.team, sizeof *packing.parts);
    packing.distinct = calloc((size_t)packing.team, sizeof *packing.distinct);
    if (packing.differs && packing.positions && packing.parts && packing.distinct)
        why = pack_all(&packing);
    else
        why = "not enough memory to pack its entries";
    memory_release(MEMORY_HOST, packing.differs);
    memory_release(MEMORY_HOST, packing.positions);
    free(packing.parts);
    free(packing.distinct);
    if (why)
        stored_free(tensor);
    return why;
}
