// SPDX-License-Identifier: BSD-3-Clause
// The singleton level: one coordinate, crd[p], for each position p above.
#include "format/formats.h"
#include "format/list.h"

static LevelRange range(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end) {
    (void)level;
    return (LevelRange){value_index(arena, begin), value_index(arena, end)};
}

static const Value *search_above(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end,
                                 const IntExpr *position) {
    (void)level, (void)begin, (void)end;
    return value_index(arena, position);
}

enum { CRD };

static Slice image(const LevelArrays *level, Slice parents, int64_t lo, int64_t hi) {
    return list_slice(level, CRD, parents, lo, hi);
}

static void measure(LevelArrays *level, int64_t parents, int64_t distinct) {
    (void)distinct;
    level->position_count = level->lengths[CRD] = parents;
}

static int64_t position(const LevelArrays *level, int64_t parent, int64_t coordinate, int64_t ordinal) {
    (void)level, (void)coordinate, (void)ordinal;
    return parent;
}

// The levels above have as many positions as there are entries, one for each.
static void pack(LevelArrays *level, const LevelEntries *entries, LevelState *at) {
    (void)at;
    for (int e = 0; e < entries->count; e++)
        if (entries->differs[e] <= entries->depth)
            level_set_coordinate(level, CRD, entries->positions[e], entries->coordinates[e]);
}

static void above(const LevelArrays *level, int64_t count, int64_t *positions) {
    (void)level, (void)count, (void)positions; // the same
}

static void coordinates(const LevelArrays *level, int64_t count, const int64_t *positions, int64_t *to) {
    list_coordinates(level, CRD, count, positions, to);
}

const LevelFormat singleton_level = {
    .name = "singleton",
    .ordered = true,
    .branchless = true,
    .compact = true,
    .arrays = {{"crd", LEVEL_ARRAY_COORDINATES}},
    .image = image,
    .measure = measure,
    .position = position,
    .pack = pack,
    .coordinates = coordinates,
    .above = above,
    .bind = list_bind,
    .range = range,
    .search_above = search_above,
    .coordinate = list_coordinate,
    .search = list_search,
    .found = list_found,
    .run_end = list_run_end,
};
