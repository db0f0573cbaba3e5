// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tiles.h"

#include "base/integer.h"

static bool continues(const Loop *outer, const Loop *inner) {
    return outer->a == inner->a * inner->extent && outer->b == inner->b * inner->extent &&
           outer->c == inner->c * inner->extent;
}

Dimension dimension_create(const Loop *loops, int count, Operand operand) {
    Dimension sorted = {.extent = 1}, merged = {.extent = 1};
    for (int i = 0; i < count; i++) {
        sorted.extent = loops[i].extent > 0 ? sorted.extent * loops[i].extent : 0;
        if (loops[i].extent == 1)
            continue;
        int at = sorted.count++;
        for (; at > 0 && loop_stride(&sorted.loops[at - 1], operand) < loop_stride(&loops[i], operand); at--)
            sorted.loops[at] = sorted.loops[at - 1];
        sorted.loops[at] = loops[i];
    }
    merged.extent = sorted.extent;
    for (int i = 0; i < sorted.count; i++) {
        Loop *last = merged.count > 0 ? &merged.loops[merged.count - 1] : NULL;
        if (last && continues(last, &sorted.loops[i])) {
            const int64_t extent = last->extent;
            *last = sorted.loops[i];
            last->extent *= extent;
        } else {
            merged.loops[merged.count++] = sorted.loops[i];
        }
    }
    return merged;
}

bool dimension_has_unit(const Dimension *dimension, Operand operand) {
    for (int i = 0; i < dimension->count; i++)
        if (loop_stride(&dimension->loops[i], operand) == 1)
            return true;
    return false;
}

// Blocks of nearly the same size, none of which is larger than `most`.
static int64_t block_size(int64_t extent, int64_t most) {
    return ceil_div(extent, ceil_div(extent, most));
}

// The loop that a tile is extended along next: one that continues the shorter of the two runs, if there is
// one.
static int next_loop(const Dimension *dimension, unsigned left, const Operand *operands,
                     const int64_t *runs) {
    int innermost = 0, found[2] = {-1, -1};
    for (int i = 0; i < dimension->count; i++) {
        if (!(left >> i & 1))
            continue;
        innermost = i;
        for (int o = 0; o < 2; o++)
            found[o] = loop_stride(&dimension->loops[i], operands[o]) == runs[o] ? i : found[o];
    }
    if (found[0] >= 0 && (found[1] < 0 || runs[0] <= runs[1]))
        return found[0];
    return found[1] >= 0 ? found[1] : innermost;
}

Tiling tiling_create(const Dimension *dimension, int64_t most, Operand first, int64_t run, Operand second) {
    Tiling tiling = {.of = dimension_create(dimension->loops, dimension->count, first), .count = 1};
    const Operand operands[2] = {first, second};
    int64_t elements = 1, runs[2] = {run, 1};
    for (int i = 0; i < tiling.of.count; i++) {
        const Loop *loop = &tiling.of.loops[i];
        const bool is_run =
            (run < LONG_RUN && loop_stride(loop, first) == run) || loop_stride(loop, second) == 1;
        tiling.sizes[i] = is_run ? max_i64(1, min_i64(min_i64(loop->extent, TILE_RUN), most / elements)) : 1;
        elements *= tiling.sizes[i];
    }
    for (unsigned left = (1u << tiling.of.count) - 1; left;) {
        const int i = next_loop(&tiling.of, left, operands, runs);
        const Loop *loop = &tiling.of.loops[i];
        const int64_t others = elements / tiling.sizes[i];
        const int64_t limit = max_i64(1, min_i64(loop->extent, most / others));
        tiling.sizes[i] =
            min_i64(limit, ceil_div(block_size(loop->extent, limit), TILE_RUN) * TILE_RUN); // whole lines
        elements = others * tiling.sizes[i];
        tiling.count *= ceil_div(loop->extent, tiling.sizes[i]);
        left &= ~(1u << i);
        for (int o = 0; o < 2; o++)
            runs[o] *= loop_stride(loop, operands[o]) == runs[o] ? tiling.sizes[i] : 1;
    }
    tiling.elements = elements;
    return tiling;
}

int64_t tiling_run(const Tiling *tiling, Operand operand) {
    int64_t run = 1;
    for (int i = tiling->of.count - 1; i >= 0; i--)
        run *= loop_stride(&tiling->of.loops[i], operand) == run ? tiling->sizes[i] : 1;
    return run;
}

Tile tile_at(const Tiling *tiling, int64_t index) {
    Tile tile = {.elements = 1};
    for (int i = tiling->of.count - 1; i >= 0; i--) {
        const Loop *loop = &tiling->of.loops[i];
        const int64_t tiles = ceil_div(loop->extent, tiling->sizes[i]), at = index % tiles * tiling->sizes[i];
        index /= tiles;
        tile.extents[i] = min_i64(tiling->sizes[i], loop->extent - at);
        tile.elements *= tile.extents[i];
        tile.a += at * loop->a, tile.b += at * loop->b, tile.c += at * loop->c;
    }
    return tile;
}

void tile_offsets(const Tiling *tiling, const Tile *tile, Operand operand, int64_t *offsets) {
    int64_t count = 1;
    offsets[0] = 0;
    for (int i = tiling->of.count - 1; i >= 0; i--) {
        const int64_t step = loop_stride(&tiling->of.loops[i], operand), inner = count;
        for (; count < inner * tile->extents[i]; count++)
            offsets[count] = offsets[count - inner] + step;
    }
}

CopyLoops copy_create(void) {
    static const CopyLoop one = {1, 0, 0};
    return (CopyLoops){.count = 2, .loops = {one, one}};
}

void copy_add(CopyLoops *copy, CopyLoop loop) {
    copy->loops[copy->count++] = loop;
}

void copy_add_tile(CopyLoops *copy, const Tiling *tiling, const Tile *tile, Operand operand, int64_t step) {
    int64_t block = step * tile->elements;
    for (int i = 0; i < tiling->of.count; i++) {
        const int64_t extent = tile->extents[i], tensor = loop_stride(&tiling->of.loops[i], operand);
        CopyLoop *last = &copy->loops[copy->count - 1];
        block /= extent;
        if (last->tensor == tensor * extent && last->block == block * extent && last->extent > 1)
            *last = (CopyLoop){last->extent * extent, tensor, block};
        else if (extent > 1)
            copy_add(copy, (CopyLoop){extent, tensor, block});
    }
}

void copy_order(CopyLoops *copy) {
    for (int i = 2; i < copy->count - 2; i++)
        if (copy->loops[i].tensor == 1) {
            const CopyLoop run = copy->loops[i];
            copy->loops[i] = copy->loops[copy->count - 2];
            copy->loops[copy->count - 2] = run;
        }
}

void copy_reverse(CopyLoops *copy) {
    int last = copy->count - 1;
    for (int i = 0; i < copy->count; i++) {
        CopyLoop *loop = &copy->loops[i];
        *loop = (CopyLoop){loop->extent, loop->block, loop->tensor};
        if (loop->block == 1)
            last = i;
    }
    const CopyLoop run = copy->loops[last];
    copy->loops[last] = copy->loops[copy->count - 1];
    copy->loops[copy->count - 1] = run;
    copy_order(copy);
}
