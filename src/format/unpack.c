// SPDX-License-Identifier: BSD-3-Clause
// Unpacking of stored tensors: a walk down the tree of levels, in which runs of positions of the last level
// are handled at once. Threads share the positions of the first level: a first pass counts the entries below
// them, a second pass writes them.
#include "format/stored.h"

#include "base/integer.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const StoredTensor *tensor;
    bool compact[MAX_ORDER]; // this level and all below it are
    Entries *entries;        // NULL: only count
    int64_t count;           // of entries so far
    int64_t path[MAX_ORDER]; // coordinates of the levels above
} Walk;

enum { BLOCK = 512 };

static void write_coordinate(const Walk *walk, int l, int64_t entry, int64_t coordinate) {
    walk->entries->coordinates[walk->tensor->mode_order[l]][entry] = coordinate;
}

static void write_entry(Walk *walk, int64_t position, int64_t coordinate) {
    const StoredTensor *tensor = walk->tensor;
    const int last = tensor->order - 1;
    const size_t size = type_info(tensor->type)->size;
    for (int l = 0; l < last; l++)
        write_coordinate(walk, l, walk->count, walk->path[l]);
    if (last >= 0)
        write_coordinate(walk, last, walk->count, coordinate);
    memcpy((char *)walk->entries->values + walk->count * (int64_t)size,
           (const char *)tensor->values + position * (int64_t)size, size);
    walk->count++;
}

// Positions first .. last - 1 of level l, all below the path.
static void walk_positions(Walk *walk, int l, int64_t first, int64_t last) {
    const StoredTensor *tensor = walk->tensor;
    const LevelArrays *level = &tensor->arrays[l];
    if (!walk->entries && walk->compact[l]) {
        for (int below = l + 1; below < tensor->order; below++)
            tensor->levels[below].format->below(&tensor->arrays[below], first, last, &first, &last);
        walk->count += last - first;
        return;
    }
    int64_t coordinates[BLOCK];
    for (int64_t p = first; p < last; p++) {
        const int64_t i = (p - first) % BLOCK;
        if (i == 0)
            tensor->levels[l].format->coordinates(level, p, min_i64(BLOCK, last - p), coordinates);
        if (coordinates[i] < 0)
            continue;
        if (l + 1 < tensor->order) {
            walk->path[l] = coordinates[i];
            int64_t from, to;
            tensor->levels[l + 1].format->below(&tensor->arrays[l + 1], p, p + 1, &from, &to);
            walk_positions(walk, l + 1, from, to);
        } else if (walk->entries) {
            write_entry(walk, p, coordinates[i]);
        } else {
            walk->count++;
        }
    }
}

// The positions of the first level are cut into this many parts; a thread takes several, as the work below
// them differs.
enum { PARTS = 256 };

static void walk_parts(const StoredTensor *tensor, Entries *entries, int64_t *starts) {
    const int64_t positions = tensor->arrays[0].position_count;
    const int parts = (int)max_i64(1, min_i64(PARTS, positions));
    Walk start = {.tensor = tensor, .entries = entries};
    bool compact = true;
    for (int l = tensor->order - 1; l >= 0; l--)
        start.compact[l] = compact = compact && tensor->levels[l].format->compact;
#pragma omp parallel for schedule(dynamic, 1) num_threads(entries_team(tensor->value_count))
    for (int p = 0; p < parts; p++) {
        Walk walk = start;
        walk.count = entries ? starts[p] : 0;
        walk_positions(&walk, 0, part_begin(positions, parts, p), part_begin(positions, parts, p + 1));
        if (!entries)
            starts[p] = walk.count;
    }
}

// The entries before each part, and all of them.
static int64_t count_parts(const StoredTensor *tensor, int64_t starts[PARTS]) {
    if (tensor->order == 0)
        return tensor->value_count;
    memset(starts, 0, PARTS * sizeof *starts);
    walk_parts(tensor, NULL, starts);
    int64_t count = 0;
    for (int p = 0; p < PARTS; p++) {
        const int64_t own = starts[p];
        starts[p] = count;
        count += own;
    }
    return count;
}

int64_t stored_count(const StoredTensor *tensor) {
    int64_t starts[PARTS];
    return count_parts(tensor, starts);
}

const char *stored_unpack(const StoredTensor *tensor, Entries *entries, int64_t limit, Arena *arena) {
    int64_t starts[PARTS];
    *entries = (Entries){.type = tensor->type, .order = tensor->order};
    memcpy(entries->extents, tensor->extents, sizeof entries->extents);
    entries->count = count_parts(tensor, starts);
    const int64_t bytes = entries_bytes(entries, entries->count);
    const char *why = bytes > limit
                          ? arena_printf(arena,
                                         "its entries would take %lld bytes, and there is no memory "
                                         "for them",
                                         (long long)bytes)
                          : entries_allocate(entries);
    if (why)
        return why;
    if (tensor->order > 0)
        walk_parts(tensor, entries, starts);
    else if (entries->count)
        memcpy(entries->values, tensor->values, type_info(tensor->type)->size);
    return NULL;
}
