// SPDX-License-Identifier: BSD-3-Clause
#include "io/generate.h"

#include "base/integer.h"
#include "format/runs.h"

typedef struct {
    const Generator *generator;
    const GeneratorValues *values;
    char *data;
    size_t size;
    int64_t first; // position of the first element
    ElementType generated;
    Conversion store;
} Generation;

// In blocks that fit into the first-level cache, as each is generated and then converted.
static void generate_run(void *context, const Run *run) {
    const Generation *to = context;
    GeneratedBlock block;
    for (int64_t done = 0; done < run->count; done += GENERATED_BLOCK) {
        int64_t count = min_i64(GENERATED_BLOCK, run->count - done);
        int64_t position = to->first + run->b + done * run->b_step;
        generator_fill(to->generator, to->values, to->generated, position, run->b_step, count, &block);
        to->store(to->data + (run->a + done * run->a_step) * (int64_t)to->size, run->a_step, &block, 1,
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
    const ElementType generated = generated_type(generator, piece->type);
    Generation generation = {.generator = generator,
                             .values = values,
                             .data = piece->data,
                             .size = info->size,
                             .generated = generated,
                             .store = type_conversion(generated, piece->type)};
    const Frame memory = piece_frame(piece), positions = {&whole, position_stride};
    patches_visit(&piece->rect, &memory, &positions, generate_patch, &generation);
}
