// SPDX-License-Identifier: BSD-3-Clause
// The dense level: every coordinate of the mode is stored. In a dense tensor consecutive coordinates are one
// stride of the view apart; in a sparse tensor coordinate x below position p is at position
// p * extent + x - first, where `first` is not 0 only in levels of which a rank stores a part.
#include "format/formats.h"

#include "base/integer.h"

static const IntExpr *bind_number(LoopKernel *kernel, LoopNode *view, const char *member, int mode) {
    const int var = loop_add_var(kernel, (LoopVar){.name = arena_printf(kernel->arena, "%s%d", member, mode),
                                                   .type = VALUE_TYPE_INDEX,
                                                   .stem_array = view->array,
                                                   .stem_var = -1});
    LoopField *fields = arena_array(kernel->arena, LoopField, view->field_count + 1);
    for (int f = 0; f < view->field_count; f++)
        fields[f] = view->fields[f];
    fields[view->field_count++] = (LoopField){var, member, mode};
    view->fields = fields;
    return int_var(kernel->arena, var);
}

static void bind(LoopKernel *kernel, LoopNode *view, Level *level) {
    if (level->extent && !level->part)
        return;
    level->first = bind_number(kernel, view, "lo", level->mode);
    if (level->extent) {
        level->extent = bind_number(kernel, view, "extent", level->mode);
        return;
    }
    level->stride =
        level->last ? int_const(kernel->arena, 1) : bind_number(kernel, view, "stride", level->mode);
}

static const IntExpr *locate(Arena *arena, const Level *level, const IntExpr *parent,
                             const IntExpr *coordinate) {
    if (level->extent) {
        const IntExpr *own = level->first ? int_op(arena, INT_SUB, coordinate, level->first) : coordinate;
        return parent ? int_op(arena, INT_ADD, int_op(arena, INT_MUL, parent, level->extent), own) : own;
    }
    // Of coordinate 0: parent - first * stride.
    if (coordinate->op == INT_CONST && coordinate->value == 0)
        return int_op(arena, INT_SUB, parent ? parent : coordinate,
                      int_op(arena, INT_MUL, level->first, level->stride));
    if (!level->last) {
        const IntExpr *own =
            int_op(arena, INT_MUL, int_op(arena, INT_SUB, coordinate, level->first), level->stride);
        return parent ? int_op(arena, INT_ADD, parent, own) : own;
    }
    return int_op(arena, INT_SUB, parent ? int_op(arena, INT_ADD, parent, coordinate) : coordinate,
                  level->first);
}

static const Value *search_above(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end,
                                 const IntExpr *position) {
    (void)begin, (void)end;
    return value_index(arena, int_op(arena, INT_FLOOR_DIV, position, int_at_least_one(arena, level->extent)));
}

static LoopNode *iterate(Arena *arena, const Level *level, const IntExpr *parent, int var,
                         const IntExpr *lower, const IntExpr *upper) {
    (void)level, (void)parent; // the same coordinates everywhere
    LoopNode *loop = loop_node(arena, LOOP_FOR);
    loop->var = var;
    loop->lower = lower;
    loop->upper = upper;
    return loop;
}

static int64_t elements(int64_t count, int64_t below) {
    return count * below;
}

static Slice image(const LevelArrays *level, Slice parents, int64_t lo, int64_t hi) {
    const int64_t begin = min_i64(max_i64(lo - level->first, 0), level->extent),
                  end = max_i64(begin, min_i64(hi - level->first, level->extent));
    return (Slice){parents.first * level->extent + begin, (parents.count - 1) * level->extent + end - begin};
}

static void measure(LevelArrays *level, int64_t parents, int64_t distinct) {
    (void)distinct;
    level->position_count = saturated_mul(parents, level->extent);
}

static int64_t position(const LevelArrays *level, int64_t parent, int64_t coordinate, int64_t ordinal) {
    (void)ordinal;
    return parent * level->extent + coordinate - level->first;
}

static void pack(LevelArrays *level, const LevelEntries *entries, LevelState *at) {
    (void)at;
    for (int e = 0; e < entries->count; e++)
        entries->positions[e] =
            entries->positions[e] * level->extent + entries->coordinates[e] - level->first;
}

static void coordinates(const LevelArrays *level, int64_t count, const int64_t *positions, int64_t *to) {
    const int64_t first = level->first;
    int64_t begin = 0; // of the coordinates below the same position above
    if (count > 0 && positions[count - 1] < level->extent) {
#pragma omp simd
        for (int64_t i = 0; i < count; i++)
            to[i] = positions[i] + first;
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        if (positions[i] - begin >= level->extent)
            begin = positions[i] / level->extent * level->extent;
        to[i] = positions[i] - begin + first;
    }
}

static void above(const LevelArrays *level, int64_t count, int64_t *positions) {
    int64_t parent = 0;
    for (int64_t i = 0; i < count; i++) {
        if (positions[i] - parent * level->extent >= level->extent)
            parent = positions[i] / level->extent;
        positions[i] = parent;
    }
}

const LevelFormat dense_level = {
    .name = "dense",
    .full = true,
    .ordered = true,
    .unique = true,
    .compact = true,
    .contiguous = true,
    .bind = bind,
    .locate = locate,
    .search_above = search_above,
    .insert = locate,
    .iterate = iterate,
    .elements = elements,
    .image = image,
    .measure = measure,
    .position = position,
    .pack = pack,
    .coordinates = coordinates,
    .above = above,
};
