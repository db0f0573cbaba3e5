// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/batch_blocks.h"

#include "base/integer.h"

// Multiplications in a block below which more blocks for more threads do not pay; the most multiplications of
// a matrix product that is interleaved with others; and the least extent of the loop that is interleaved.
enum { LEAST_WORK = 1 << 18, INTERLEAVED_WORK = 1 << 15, LEAST_LANES = 8 };

// The dimensions of each operand, rows first: the distance of its rows in a copy is that of a row of columns.
static const Tiling *rows_of(const BatchBlocks *blocks, Operand operand) {
    return operand == OF_B ? &blocks->k : &blocks->m;
}

static const Tiling *columns_of(const BatchBlocks *blocks, Operand operand) {
    return operand == OF_A ? &blocks->k : &blocks->n;
}

static const Tile *row_tile(const BatchBlock *block, Operand operand) {
    return operand == OF_B ? &block->k : &block->m;
}

static const Tile *column_tile(const BatchBlock *block, Operand operand) {
    return operand == OF_A ? &block->k : &block->n;
}

static int64_t elements_of(const BatchBlock *block, Operand operand) {
    return row_tile(block, operand)->elements * column_tile(block, operand)->elements;
}

// Elements that the copies for one product take.
static int64_t copied_elements(const bool *copied, int64_t m, int64_t n, int64_t k) {
    return (copied[OF_A] ? m * k : 0) + (copied[OF_B] ? k * n : 0) + (copied[OF_C] ? m * n : 0);
}

// Halves the largest of these numbers.
static void halve_largest(int64_t *const *numbers, int count) {
    int64_t *largest = numbers[0];
    for (int i = 1; i < count; i++)
        largest = *numbers[i] > *largest ? numbers[i] : largest;
    *largest = ceil_div(*largest, 2);
}

// The loop of the batch whose iterations are interleaved: of those that are long enough, one along which most
// tensors are contiguous, else the longest one.
static int interleaved_loop(const Dimension *batch) {
    int best = 0, most = -1;
    for (int i = 0; i < batch->count; i++) {
        const Loop *loop = &batch->loops[i];
        const bool is_long = loop->extent >= LEAST_LANES;
        const int along = is_long ? 1 + (loop->a == 1) + (loop->b == 1) + (loop->c == 1) : 0;
        if (along > most || (along == 0 && most == 0 && loop->extent > batch->loops[best].extent)) {
            best = i;
            most = along;
        }
    }
    return best;
}

// Tiles of at most `most` elements of one loop.
static Tiling tile_loop(const Dimension *batch, int loop, int64_t most) {
    Tiling tiling = {.of = *batch, .count = 1};
    for (int i = 0; i < batch->count; i++)
        tiling.sizes[i] = i == loop ? min_i64(most, batch->loops[i].extent) : 1;
    for (int i = 0; i < batch->count; i++)
        tiling.count *= ceil_div(batch->loops[i].extent, tiling.sizes[i]);
    tiling.elements = tiling.sizes[loop];
    return tiling;
}

static Operand first_copied(const bool *copied, Operand from) {
    while (from < OF_C && !copied[from])
        from++;
    return from;
}

// Tiles of the batch that extend along the loops in which the first two of the copied tensors are contiguous,
// so that their cache lines are used whole.
static Tiling tile_lines(const Dimension *batch, const bool *copied, int64_t most) {
    const Operand first = first_copied(copied, OF_A), second = first_copied(copied, first + (first < OF_C));
    return tiling_create(batch, most, first, 1, second);
}

BatchBlocks batch_blocks_create(const Product *product, const Dimension *batch, int64_t bytes, int threads,
                                size_t size) {
    int64_t m = product->m.extent, n = product->n.extent, k = product->k.extent;
    const int lanes = interleaved_loop(batch);
    BatchBlocks blocks = {.bytes = bytes,
                          .interleaved = m <= INTERLEAVED_WORK && n <= INTERLEAVED_WORK / m &&
                                         k <= INTERLEAVED_WORK / (m * n)};
    for (Operand o = OF_A; o <= OF_C; o++)
        blocks.copied[o] =
            blocks.interleaved ? loop_stride(&batch->loops[lanes], o) != 1 : dimension_has_unit(batch, o);
    const bool *copied = blocks.copied;
    const int64_t space = bytes / (int64_t)size;
    int64_t *const by_a[] = {&m, &k}, *const by_b[] = {&n, &k}, *const all[] = {&m, &n, &k};
    const int64_t most = blocks.interleaved ? INTERLEAVED_BLOCK : SINGLE_PRODUCTS;
    int64_t group = min_i64(batch->extent, blocks.interleaved ? INTERLEAVED_LANES : TILE_RUN);
    while (m * n * k > 1 && group * copied_elements(copied, m, n, k) > space)
        if (copied[OF_C] || (copied[OF_A] && copied[OF_B]))
            halve_largest(all, 3);
        else
            halve_largest(copied[OF_A] ? by_a : by_b, 2);
    // Small products may share a block.
    while (2 * group <= min_i64(batch->extent, most) && m * n * k < LEAST_WORK / group &&
           2 * group * copied_elements(copied, m, n, k) <= space)
        group *= 2;
    blocks.batch = blocks.interleaved ? tile_loop(batch, lanes, group) : tile_lines(batch, copied, group);
    int64_t *const of_result[] = {&m, &n};
    while (m * n > 1 && blocks.batch.elements * m * n * k > 2 * LEAST_WORK &&
           blocks.batch.count * ceil_div(product->m.extent, m) * ceil_div(product->n.extent, n) < threads)
        halve_largest(of_result, 2);
    blocks.m = tiling_create(&product->m, m, OF_A, 1, OF_C);
    blocks.n = tiling_create(&product->n, n, OF_B, 1, OF_C);
    blocks.k = tiling_create(&product->k, k, OF_A, 1, OF_B);
    blocks.count = blocks.batch.count * blocks.m.count * blocks.n.count;
    for (Operand o = OF_A; o < OF_C; o++)
        blocks.offsets[o + 1] =
            blocks.offsets[o] + (copied[o] ? blocks.batch.elements * rows_of(&blocks, o)->elements *
                                                 columns_of(&blocks, o)->elements
                                           : 0);
    return blocks;
}

bool batch_blocks_copy(const BatchBlocks *blocks) {
    return blocks->copied[OF_A] || blocks->copied[OF_B] || blocks->copied[OF_C];
}

BatchBlock batch_block_at(const BatchBlocks *blocks, int64_t index) {
    const int64_t of_m = index / blocks->n.count;
    return (BatchBlock){.batch = tile_at(&blocks->batch, of_m / blocks->m.count),
                        .m = tile_at(&blocks->m, of_m % blocks->m.count),
                        .n = tile_at(&blocks->n, index % blocks->n.count),
                        .k = tile_at(&blocks->k, 0)};
}

int64_t batch_block_begin(const BatchBlock *block, Operand operand) {
    const Tile *tiles[] = {&block->batch, row_tile(block, operand), column_tile(block, operand)};
    int64_t begin = 0;
    for (int i = 0; i < 3; i++)
        begin += operand == OF_A ? tiles[i]->a : operand == OF_B ? tiles[i]->b : tiles[i]->c;
    return begin;
}

// How far elements that follow each other in a matrix are apart in its copy.
static int64_t element_step(const BatchBlocks *blocks, const BatchBlock *block) {
    return blocks->interleaved ? block->batch.elements : 1;
}

CopyLoops batch_block_copy(const BatchBlocks *blocks, const BatchBlock *block, Operand operand) {
    const int64_t step = element_step(blocks, block), row = column_tile(block, operand)->elements * step;
    CopyLoops copy = copy_create();
    if (!blocks->interleaved)
        copy_add_tile(&copy, &blocks->batch, &block->batch, operand, elements_of(block, operand));
    copy_add_tile(&copy, rows_of(blocks, operand), row_tile(block, operand), operand, row);
    copy_add_tile(&copy, columns_of(blocks, operand), column_tile(block, operand), operand, step);
    if (blocks->interleaved)
        copy_add_tile(&copy, &blocks->batch, &block->batch, operand, 1);
    copy_order(&copy);
    return copy;
}

// The loops of a tile, where its elements have these distances in the copies of operands.
static void loops_of_tile(const BatchBlocks *blocks, const Tiling *tiling, const Tile *tile,
                          const int64_t *distances, Loop *loops) {
    int64_t inner = 1;
    for (int i = tiling->of.count - 1; i >= 0; inner *= tile->extents[i--]) {
        const Loop *of = &tiling->of.loops[i];
        loops[i] = (Loop){tile->extents[i], blocks->copied[OF_A] ? distances[OF_A] * inner : of->a,
                          blocks->copied[OF_B] ? distances[OF_B] * inner : of->b,
                          blocks->copied[OF_C] ? distances[OF_C] * inner : of->c};
    }
}

BatchProducts batch_block_products(const BatchBlocks *blocks, const BatchBlock *block) {
    const int64_t step = element_step(blocks, block), n = block->n.elements * step,
                  k = block->k.elements * step;
    const int64_t distances[3][OPERANDS] = {{k, 0, n}, {0, step, step}, {step, n, 0}};
    const Tiling *const tilings[] = {&blocks->m, &blocks->n, &blocks->k};
    const Tile *const tiles[] = {&block->m, &block->n, &block->k};
    BatchProducts products = {.counts = {0}};
    Loop *loops = products.loops;
    for (int d = 0; d < 3; d++) {
        products.counts[d] = tilings[d]->of.count;
        loops_of_tile(blocks, tilings[d], tiles[d], distances[d], loops);
        loops += products.counts[d];
    }
    for (Operand o = OF_A; o <= OF_C && !blocks->interleaved; o++) {
        if (!blocks->copied[o])
            tile_offsets(&blocks->batch, &block->batch, o, products.offsets[o]);
        for (int64_t i = 0; blocks->copied[o] && i < block->batch.elements; i++)
            products.offsets[o][i] = i * elements_of(block, o);
    }
    return products;
}
