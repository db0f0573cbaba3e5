// SPDX-License-Identifier: BSD-3-Clause
#include "io/generate.h"

#include "base/integer.h"
#include "io/runs.h"

typedef struct {
    const Generator *generator;
    const GeneratorValues *values;
    char *data;
    size_t size;
    int64_t first; // position of the first element
    bool is_integer;
    Conversion store;
} Generation;

// In blocks that fit into the first-level cache, as each is generated and then converted.
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
            to->generator->integers(to->values, position, run->b_step, count, values.integers);
        else
            to->generator->reals(to->values, position, run->b_step, count, values.reals);
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

void generate(const Generator *generator, const GeneratorValues *values, const int64_t *extents,
              const Piece *piece) {
    const Rect whole = rect_whole(piece->rect.order, extents);
    int64_t position_stride[MAX_ORDER];
    packed_strides(&whole, (LevelList){0}, position_stride);
    const TypeInfo *info = type_info(piece->type);
    Generation generation = {.generator = generator,
                             .values = values,
                             .data = piece->data,
                             .size = info->size,
                             .is_integer = info->is_integer,
                             .store = type_conversion(info->is_integer ? TYPE_I64 : TYPE_F64, piece->type)};
    const Frame memory = piece_frame(piece), positions = {&whole, position_stride};
    patches_visit(&piece->rect, &memory, &positions, generate_patch, &generation);
}
