// SPDX-License-Identifier: BSD-3-Clause
// The compressed level: the coordinates that are stored, in a list of their own for each position above. What
// is below position p is at positions pos[p] to pos[p + 1], and position q has coordinate crd[q].
#include "format/formats.h"

#include "base/integer.h"
#include "format/list.h"

enum { POS, CRD };

static LevelRange range(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end) {
    return (LevelRange){list_load(arena, level, POS, begin), list_load(arena, level, POS, end)};
}

static void measure(LevelArrays *level, int64_t parents, int64_t distinct) {
    level->position_count = distinct;
    level->lengths[POS] = saturated_add(parents, 1);
    level->lengths[CRD] = distinct;
}

static void pack(LevelArrays *level, int64_t parents, const LevelEntries *entries, LevelPart part) {
    int64_t *pos = level->arrays[POS], parent = part.parent, position = part.ordinal - 1;
    for (int64_t e = part.first; e < part.last; e++) {
        if (entries->differs[e] <= entries->depth) {
            level_set_coordinate(level, CRD, ++position, entries->coordinates[e]);
            while (parent < entries->positions[e])
                pos[++parent] = position;
        }
        entries->positions[e] = position;
    }
    if (part.last == entries->count)
        while (parent < parents)
            pos[++parent] = position + 1;
}

static void below(const LevelArrays *level, int64_t first, int64_t last, int64_t *from, int64_t *to) {
    const int64_t *pos = level->arrays[POS];
    *from = pos[first];
    *to = pos[last];
}

static void coordinates(const LevelArrays *level, int64_t first, int64_t count, int64_t *to) {
    for (int64_t i = 0; i < count; i++)
        to[i] = level_coordinate(level, CRD, first + i);
}

const LevelFormat compressed_level = {
    .name = "compressed",
    .ordered = true,
    .unique = true,
    .compact = true,
    .arrays = {{"pos", LEVEL_ARRAY_POSITIONS}, {"crd", LEVEL_ARRAY_COORDINATES}},
    .measure = measure,
    .pack = pack,
    .below = below,
    .coordinates = coordinates,
    .bind = list_bind,
    .range = range,
    .coordinate = list_coordinate,
    .search = list_search,
    .found = list_found,
    .run_end = list_run_end,
};
