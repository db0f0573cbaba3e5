// SPDX-License-Identifier: BSD-3-Clause
#include "format/list.h"

static ElementType element_type(const Level *level, int array) {
    return level->type.format->arrays[array].kind == LEVEL_ARRAY_COORDINATES && !level->type.wide ? TYPE_I32
                                                                                                  : TYPE_I64;
}

void list_bind(LoopKernel *kernel, LoopNode *view, Level *level) {
    const char *tensor = kernel->arrays.items[view->array].name;
    LoopViewArray *arrays =
        arena_array(kernel->arena, LoopViewArray, view->view_array_count + LEVEL_ARRAY_COUNT);
    for (int a = 0; a < view->view_array_count; a++)
        arrays[a] = view->view_arrays[a];
    for (int a = 0; a < LEVEL_ARRAY_COUNT; a++) {
        const LevelArrayInfo *info = &level->type.format->arrays[a];
        if (info->kind == LEVEL_ARRAY_NONE)
            continue;
        level->arrays[a] = loop_add_array(
            kernel,
            (LoopArray){.name = arena_printf(kernel->arena, "%s_%s%d", tensor, info->name, level->number + 1),
                        .type = element_type(level, a)});
        arrays[view->view_array_count++] = (LoopViewArray){level->arrays[a], level->number, a, info->kind};
    }
    view->view_arrays = arrays;
}

const Value *list_load(Arena *arena, const Level *level, int array, const IntExpr *position) {
    return value_convert(
        arena,
        value_element(arena, VALUE_LOAD, (int)element_type(level, array), level->arrays[array], position),
        VALUE_TYPE_INDEX);
}

static int list_of(const Level *level) {
    int array = 0;
    while (level->type.format->arrays[array].kind != LEVEL_ARRAY_COORDINATES)
        array++;
    return array;
}

const Value *list_coordinate(Arena *arena, const Level *level, const IntExpr *position) {
    return list_load(arena, level, list_of(level), position);
}

// A call of a function of distal_kernel.h on the list.
static const Value *call(Arena *arena, const Level *level, const char *name, const IntExpr *begin,
                         const IntExpr *end, const IntExpr *coordinate) {
    const int array = list_of(level);
    const Value *operands[] = {
        value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, level->arrays[array], int_const(arena, 0)),
        value_index(arena, begin), value_index(arena, end),
        coordinate ? value_index(arena, coordinate) : NULL};
    return value_list(arena, VALUE_CALL, VALUE_TYPE_INDEX,
                      arena_printf(arena, "%s_%s", name, type_info(element_type(level, array))->name),
                      coordinate ? 4 : 3, operands);
}

const Value *list_search(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end,
                         const IntExpr *coordinate) {
    return call(arena, level, "distal_search", begin, end, coordinate);
}

const Value *list_found(Arena *arena, const Level *level, const IntExpr *position, const IntExpr *end,
                        const IntExpr *coordinate) {
    const Value *conditions[] = {value_less(arena, position, end),
                                 value_op(arena, VALUE_EQUAL, VALUE_TYPE_CONDITION,
                                          list_coordinate(arena, level, position),
                                          value_index(arena, coordinate))};
    return value_list(arena, VALUE_AND, VALUE_TYPE_CONDITION, NULL, 2, conditions);
}

const Value *list_run_end(Arena *arena, const Level *level, const IntExpr *position, const IntExpr *end) {
    return call(arena, level, "distal_run_end", position, end, NULL);
}

static bool is_consecutive(int64_t count, const int64_t *positions) {
    int64_t gaps = 0;
#pragma omp simd reduction(| : gaps)
    for (int64_t i = 0; i < count; i++)
        gaps |= positions[i] ^ (positions[0] + i);
    return gaps == 0;
}

// The first position from `first` to before `last` whose coordinate is not less than `coordinate`.
static int64_t find_position(const LevelArrays *level, int array, int64_t first, int64_t last,
                             int64_t coordinate) {
    while (first < last) {
        const int64_t middle = first + (last - first) / 2;
        if (level_coordinate(level, array, middle) < coordinate)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

Slice list_slice(const LevelArrays *level, int array, Slice of, int64_t lo, int64_t hi) {
    int64_t first = of.first, last = of.first + of.count;
    if (lo > 0)
        first = find_position(level, array, first, last, lo);
    if (hi < level->extent)
        last = find_position(level, array, first, last, hi);
    return (Slice){first, last - first};
}

void list_coordinates(const LevelArrays *level, int array, int64_t count, const int64_t *positions,
                      int64_t *to) {
    const int32_t *narrow = level->arrays[array];
    const int64_t *wide = level->arrays[array];
    if (level->wide) {
        for (int64_t i = 0; i < count; i++)
            to[i] = wide[positions[i]];
    } else if (count > 0 && is_consecutive(count, positions)) {
        narrow += positions[0];
#pragma omp simd
        for (int64_t i = 0; i < count; i++)
            to[i] = narrow[i];
    } else {
        for (int64_t i = 0; i < count; i++)
            to[i] = narrow[positions[i]];
    }
}
