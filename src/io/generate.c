// SPDX-License-Identifier: BSD-3-Clause
#include "io/generate.h"

#include "base/integer.h"
#include "io/runs.h"

double random_value(uint64_t seed, int64_t position) {
    uint64_t z = seed + ((uint64_t)position + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

typedef struct {
    const SourceSpec *spec;
    char *data;
    size_t size;
    int64_t first; // position of the first element
    bool is_integer;
    Conversion store;
} Generation;

static double random_element(const SourceSpec *spec, int64_t position) {
    if (!spec->has_density)
        return random_value(spec->seed, position);
    return random_value(spec->seed, position) < spec->density ? random_value(spec->seed + 1, position) : 0;
}

static void generate_reals(const SourceSpec *spec, int64_t position, int64_t step, int64_t count,
                           double *values) {
    if (spec->kind == SOURCE_RANDOM)
        for (int64_t i = 0; i < count; i++)
            values[i] = random_element(spec, position + i * step);
    else if (spec->kind == SOURCE_IOTA)
        for (int64_t i = 0; i < count; i++)
            values[i] = (double)(position + i * step);
    else
        for (int64_t i = 0; i < count; i++)
            values[i] = spec->kind == SOURCE_CONST ? spec->real : spec->kind == SOURCE_ONES;
}

static void generate_integers(const SourceSpec *spec, int64_t position, int64_t step, int64_t count,
                              int64_t *values) {
    if (spec->kind == SOURCE_RANDOM)
        for (int64_t i = 0; i < count; i++)
            values[i] = (int64_t)(1024 * random_element(spec, position + i * step));
    else if (spec->kind == SOURCE_IOTA)
        for (int64_t i = 0; i < count; i++)
            values[i] = position + i * step;
    else
        for (int64_t i = 0; i < count; i++)
            values[i] = spec->kind == SOURCE_CONST ? spec->integer : spec->kind == SOURCE_ONES;
}

// In blocks that stay in the nearest cache between making and storing.
static void generate_run(void *context, const Run *run) {
    enum { BLOCK = 1024 };
    const Generation *to = context;
    union {
        double reals[BLOCK];
        int64_t integers[BLOCK];
    } values;
    for (int64_t done = 0; done < run->count; done += BLOCK) {
        int64_t count = min_i64(BLOCK, run->count - done);
        int64_t position = to->first + run->b + done * run->b_step;
        if (to->is_integer)
            generate_integers(to->spec, position, run->b_step, count, values.integers);
        else
            generate_reals(to->spec, position, run->b_step, count, values.reals);
        to->store(to->data + (run->a + done * run->a_step) * (int64_t)to->size, run->a_step, &values, 1,
                  count);
    }
}

static void generate_patch(void *context, const Patch *patch) {
    const Generation *whole = context;
    Generation generation = *whole;
    generation.data += patch->a * (int64_t)whole->size;
    generation.first = patch->b;
    Runs runs = runs_create(patch->levels, patch->extent, patch->a_stride, patch->b_stride);
    runs_visit(&runs, true, generate_run, &generation);
}

void generate(const SourceSpec *spec, const int64_t *extents, ElementType type, const Piece *piece) {
    const Rect whole = rect_whole(piece->rect.order, extents);
    int64_t position_stride[MAX_ORDER];
    packed_strides(&whole, NULL, position_stride);
    const TypeInfo *info = type_info(type);
    Generation generation = {.spec = spec,
                             .data = piece->data,
                             .size = info->size,
                             .is_integer = info->is_integer,
                             .store = type_conversion(info->is_integer ? TYPE_I64 : TYPE_F64, type)};
    const Frame memory = {&piece->rect, piece->stride}, positions = {&whole, position_stride};
    patches_visit(&piece->rect, &memory, &positions, generate_patch, &generation);
}
