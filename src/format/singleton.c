// SPDX-License-Identifier: BSD-3-Clause
// The singleton level: one coordinate, crd[p], for each position p above.
#include "format/formats.h"
#include "format/list.h"

static LevelRange range(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end) {
    (void)level;
    return (LevelRange){value_index(arena, begin), value_index(arena, end)};
}

enum { CRD };

static void measure(LevelArrays *level, int64_t parents, int64_t distinct) {
    (void)distinct;
    level->position_count = level->lengths[CRD] = parents;
}

// The levels above have as many positions as there are entries, one for each.
static void pack(LevelArrays *level, int64_t parents, const LevelEntries *entries, LevelPart part) {
    (void)parents;
    for (int64_t e = part.first; e < part.last; e++)
        if (entries->differs[e] <= entries->depth)
            level_set_coordinate(level, CRD, entries->positions[e], entries->coordinates[e]);
}

static void below(const LevelArrays *level, int64_t first, int64_t last, int64_t *from, int64_t *to) {
    (void)level;
    *from = first;
    *to = last;
}

static void coordinates(const LevelArrays *level, int64_t first, int64_t count, int64_t *to) {
    for (int64_t i = 0; i < count; i++)
        to[i] = level_coordinate(level, CRD, first + i);
}

const LevelFormat singleton_level = {
    .name = "singleton",
    .ordered = true,
    .branchless = true,
    .compact = true,
    .arrays = {{"crd", LEVEL_ARRAY_COORDINATES}},
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
