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

// The last position above whose entries do not begin after this one.
static const Value *search_above(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end,
                                 const IntExpr *position) {
    const Value *operands[] = {
        value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, level->arrays[POS], int_const(arena, 0)),
        value_index(arena, begin), value_index(arena, end), value_index(arena, position)};
    return value_list(arena, VALUE_CALL, VALUE_TYPE_INDEX, "distal_above", 4, operands);
}

static Slice image(const LevelArrays *level, Slice parents, int64_t lo, int64_t hi) {
    const int64_t *pos = level->arrays[POS];
    const int64_t begin = pos[parents.first];
    return list_slice(level, CRD, (Slice){begin, pos[parents.first + parents.count] - begin}, lo, hi);
}

static void measure(LevelArrays *level, int64_t parents, int64_t distinct) {
    level->position_count = distinct;
    level->lengths[POS] = saturated_add(parents, 1);
    level->lengths[CRD] = distinct;
}

static int64_t position(const LevelArrays *level, int64_t parent, int64_t coordinate, int64_t ordinal) {
    (void)level, (void)parent, (void)coordinate;
    return ordinal;
}

// The positions of the entries, and pos of the positions above that they begin.
static void pack(LevelArrays *level, const LevelEntries *entries, LevelState *at) {
    int64_t *pos = level->arrays[POS], *positions = entries->positions;
    int64_t parent = at->parent, next = at->distinct;
    for (int e = 0; e < entries->count; e++) {
        if (entries->differs[e] <= entries->depth) {
            level_set_coordinate(level, CRD, next, entries->coordinates[e]);
            while (parent < positions[e])
                pos[++parent] = next;
            next++;
        }
        positions[e] = next - 1;
    }
    *at = (LevelState){next, parent};
}

static void finish(LevelArrays *level, int64_t parents, LevelState at) {
    int64_t *pos = level->arrays[POS];
    while (at.parent < parents)
        pos[++at.parent] = at.distinct;
}

static void begin(LevelArrays *level, int64_t parent, int64_t position) {
    ((int64_t *)level->arrays[POS])[parent] = position;
}

// The last position from `parent` to before `beyond` whose pos is at most this one.
static int64_t search_pos(const int64_t *pos, int64_t parent, int64_t beyond, int64_t position) {
    while (beyond - parent > 1) {
        const int64_t middle = parent + (beyond - parent) / 2;
        if (pos[middle] <= position)
            parent = middle;
        else
            beyond = middle;
    }
    return parent;
}

// The same, near `parent`, in steps that double.
static int64_t search_near(const int64_t *pos, int64_t parent, int64_t last, int64_t position) {
    int64_t step = 1;
    if (pos[parent] > position) {
        while (parent > step && pos[parent - step] > position) {
            parent -= step;
            step *= 2;
        }
        return search_pos(pos, max_i64(parent - step, 0), parent, position);
    }
    for (; parent + step < last && pos[parent + step] <= position; step *= 2)
        parent += step;
    return search_pos(pos, parent, min_i64(parent + step, last), position);
}

// Positions often follow each other; after a gap, that above is searched from where it would be if as many
// positions were below each.
static void above(const LevelArrays *level, int64_t count, int64_t *positions) {
    const int64_t *pos = level->arrays[POS], last = level->lengths[POS] - 1;
    const double parents = count > 0 ? (double)last / (double)max_i64(pos[last], 1) : 0;
    int64_t parent = 0;
    for (int64_t i = 0; i < count;) {
        const double gap = (double)(positions[i] - pos[parent]) * parents;
        parent = search_near(pos, min_i64(parent + (int64_t)gap, last - 1), last, positions[i]);
        for (const int64_t end = pos[parent + 1]; i < count && positions[i] < end; i++)
            positions[i] = parent;
    }
}

static void coordinates(const LevelArrays *level, int64_t count, const int64_t *positions, int64_t *to) {
    list_coordinates(level, CRD, count, positions, to);
}

const LevelFormat compressed_level = {
    .name = "compressed",
    .ordered = true,
    .unique = true,
    .compact = true,
    .arrays = {{"pos", LEVEL_ARRAY_POSITIONS}, {"crd", LEVEL_ARRAY_COORDINATES}},
    .image = image,
    .measure = measure,
    .position = position,
    .pack = pack,
    .finish = finish,
    .begin = begin,
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
