// SPDX-License-Identifier: BSD-3-Clause
// The bitmap level: a position for each coordinate of the mode, as in a dense level, and a bit for each
// position that says whether it is stored. Kernels look up single coordinates in it and do not iterate over
// it.
#include "format/formats.h"

#include "base/integer.h"
#include "format/list.h"

enum { BITS, WORD = 64 };

static const Value *search(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end,
                           const IntExpr *coordinate) {
    (void)end;
    return value_index(arena,
                       int_op(arena, INT_ADD, int_op(arena, INT_MUL, begin, level->extent), coordinate));
}

static const Value *found(Arena *arena, const Level *level, const IntExpr *position, const IntExpr *end,
                          const IntExpr *coordinate) {
    (void)end, (void)coordinate;
    const Value *operands[] = {
        value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, level->arrays[BITS], int_const(arena, 0)),
        value_index(arena, position)};
    return value_list(arena, VALUE_CALL, VALUE_TYPE_CONDITION, "distal_has_bit", 2, operands);
}

static Slice image(const LevelArrays *level, Slice parents, int64_t lo, int64_t hi) {
    return (Slice){parents.first * level->extent + lo, (parents.count - 1) * level->extent + hi - lo};
}

static void measure(LevelArrays *level, int64_t parents, int64_t distinct) {
    (void)distinct;
    level->position_count = saturated_mul(parents, level->extent);
    level->lengths[BITS] = ceil_div(level->position_count, WORD);
}

static int64_t position(const LevelArrays *level, int64_t parent, int64_t coordinate, int64_t ordinal) {
    (void)ordinal;
    return parent * level->extent + coordinate;
}

// Updates are atomic, as several threads may set bits of the same word.
static void pack(LevelArrays *level, const LevelEntries *entries, LevelState *at) {
    (void)at;
    uint64_t *bits = level->arrays[BITS];
    for (int e = 0; e < entries->count; e++) {
        const int64_t p = entries->positions[e] * level->extent + entries->coordinates[e];
        if (entries->differs[e] <= entries->depth)
            __atomic_fetch_or(&bits[p / WORD], UINT64_C(1) << p % WORD, __ATOMIC_RELAXED);
        entries->positions[e] = p;
    }
}

static void coordinates(const LevelArrays *level, int64_t count, const int64_t *positions, int64_t *to) {
    const uint64_t *bits = level->arrays[BITS];
    for (int64_t i = 0; i < count; i++)
        to[i] = bits[positions[i] / WORD] >> positions[i] % WORD & 1 ? positions[i] % level->extent : -1;
}

static void above(const LevelArrays *level, int64_t count, int64_t *positions) {
    for (int64_t i = 0; i < count; i++)
        positions[i] /= level->extent;
}

const LevelFormat bitmap_level = {
    .name = "bitmap",
    .ordered = true,
    .unique = true,
    .contiguous = true,
    .arrays = {{"bits", LEVEL_ARRAY_BITS}},
    .bind = list_bind,
    .search = search,
    .found = found,
    .image = image,
    .measure = measure,
    .position = position,
    .pack = pack,
    .coordinates = coordinates,
    .above = above,
};
