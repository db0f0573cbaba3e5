// SPDX-License-Identifier: BSD-3-Clause
// Contractions: loops that move alike through both of their tensors become one. Where a matrix product is
// left, or many of a good size on operands in a layout of the BLAS, it works in place; else blocks
// are copied so that they are contiguous, multiplied, and the result is written where it belongs.
#include "runtime/contraction.h"

#include "base/integer.h"
#include "distal_kernel.h"

#include <omp.h>
#include <stdbool.h>
#include <string.h>

// A block of the result has ROWS x COLS elements at most, and those of the operands DEPTH in the dimension
// that is summed. Where FEW products are summed, writing the result takes most of the time: blocks are
// smaller then, and stay in the cache of a thread. Where a dimension is short, the other of a block may be as
// long as LONGEST.
enum { ROWS = 768, COLS = 768, DEPTH = 384, FEW = 64, FEW_ROWS = 96, FEW_COLS = 384, LONGEST = 1536 };
// Elements of a block in the direction in which an operand, or the result, is contiguous: a few lines.
enum { RUN = 16 };
// What all threads have for their blocks.
enum { SPACE = 18 << 20 };
// What things take, in multiplications of the BLAS on one thread: to copy an element of an operand, here, and
// in the BLAS, which does so in each call; to add to an element of the result, in a call, and with a block of
// partial sums that is set to zero and added up first; to call it; and to read or write an element in memory.
enum { COST_COPY = 12, COST_PACK = 12, COST_ADD = 8, COST_SUM = 32, COST_CALL = 3000, COST_MEMORY = 16 };
// A result of more bytes does not fit in the last-level cache, so it is written with nontemporal stores where
// runs of this many bytes are contiguous.
enum { STREAM_BYTES = 1 << 25, STREAM_RUN = 128 };
// Elements below which work is not worth a team of threads.
enum { PARALLEL_WORK = 1 << 14 };

typedef distal_contraction_loop Loop;

// A dimension of the product: loops, outermost first.
typedef struct {
    int count;
    int64_t extent; // of all loops together
    Loop loops[DISTAL_MAX_ORDER];
} Dimension;

typedef struct {
    Dimension m, n, k;
} Product;

typedef enum { OF_A, OF_B, OF_C } Operand;

static int64_t stride(const Loop *loop, Operand operand) {
    return operand == OF_A ? loop->a : operand == OF_B ? loop->b : loop->c;
}

static bool continues(const Loop *outer, const Loop *inner) {
    return outer->a == inner->a * inner->extent && outer->b == inner->b * inner->extent &&
           outer->c == inner->c * inner->extent;
}

// The loops in the order of their strides in `operand`, merged where that makes no difference.
static Dimension dimension_create(const Loop *loops, int count, Operand operand) {
    Dimension sorted = {.extent = 1}, merged = {.extent = 1};
    for (int i = 0; i < count; i++) {
        sorted.extent = loops[i].extent > 0 ? sorted.extent * loops[i].extent : 0;
        if (loops[i].extent == 1)
            continue;
        int at = sorted.count++;
        for (; at > 0 && stride(&sorted.loops[at - 1], operand) < stride(&loops[i], operand); at--)
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

static bool has_unit(const Dimension *dimension, Operand operand) {
    for (int i = 0; i < dimension->count; i++)
        if (stride(&dimension->loops[i], operand) == 1)
            return true;
    return false;
}

// The transposed product.
static Product transpose(const Product *product) {
    Product transposed = {product->n, product->m, product->k};
    Dimension *const dimensions[] = {&transposed.m, &transposed.n, &transposed.k};
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < dimensions[d]->count; i++) {
            Loop *loop = &dimensions[d]->loops[i];
            *loop = (Loop){loop->extent, loop->b, loop->a, loop->c};
        }
    return transposed;
}

// The greatest extents of a block in each dimension.
typedef struct {
    int64_t rows, cols, depth;
} BlockSize;

static int64_t block_elements(const BlockSize *size) {
    return size->rows * size->cols + (size->rows + size->cols) * size->depth;
}

static int64_t block_count(const Product *product, const BlockSize *size) {
    return ceil_div(product->m.extent, size->rows) * ceil_div(product->n.extent, size->cols);
}

// Whether threads have about as many blocks each.
static bool is_balanced(int64_t blocks, int64_t threads) {
    return blocks >= 2 * threads && (blocks % threads == 0 || blocks >= 16 * threads);
}

// For as many threads, of which each has its share of the space.
static BlockSize choose_block_size(const Product *product, int64_t element_bytes, int64_t threads) {
    const int64_t m = product->m.extent, n = product->n.extent, k = product->k.extent;
    BlockSize size = {.depth = min_i64(k, DEPTH)};
    const int64_t rows = k > FEW ? ROWS : FEW_ROWS, cols = k > FEW ? COLS : FEW_COLS;
    const int64_t longest = min_i64(LONGEST, ROWS * DEPTH / size.depth);
    size.rows = min_i64(m, max_i64(rows, min_i64(longest, rows * cols / n)));
    size.cols = min_i64(n, max_i64(cols, min_i64(longest, rows * cols / size.rows)));
    while (!is_balanced(block_count(product, &size), threads) && threads > 1 &&
           size.rows * size.cols > 4 * RUN * RUN)
        *(size.rows >= size.cols ? &size.rows : &size.cols) /= 2;
    while (block_elements(&size) > SPACE / element_bytes / threads) {
        int64_t *longer = size.rows >= size.cols ? &size.rows : &size.cols;
        *(size.depth > *longer ? &size.depth : longer) /= 2;
    }
    return size;
}

// Which loops a product in place takes: an index for each dimension, -1 for one of extent 1.
typedef struct {
    int m, n, k;
} Choice;

static int64_t extent_at(const Dimension *dimension, int loop) {
    return loop < 0 ? 1 : dimension->loops[loop].extent;
}

static int64_t stride_at(const Dimension *dimension, int loop, Operand operand) {
    return loop < 0 ? 0 : stride(&dimension->loops[loop], operand);
}

static bool is_unit(const Product *product, const Choice *choice) {
    const int64_t a_m = stride_at(&product->m, choice->m, OF_A),
                  a_k = stride_at(&product->k, choice->k, OF_A),
                  b_k = stride_at(&product->k, choice->k, OF_B),
                  b_n = stride_at(&product->n, choice->n, OF_B),
                  c_m = stride_at(&product->m, choice->m, OF_C),
                  c_n = stride_at(&product->n, choice->n, OF_C);
    return (a_m == 1 || a_k == 1) && (b_k == 1 || b_n == 1) && (c_m == 1 || c_n == 1);
}

// Whether the result does not fit in the last-level cache.
static bool is_large(const Product *product, size_t element_bytes) {
    return product->m.extent > STREAM_BYTES / (int64_t)element_bytes / product->n.extent;
}

// Of products in place.
static double cost_in_place(const Product *product, const Choice *choice) {
    const double m = (double)extent_at(&product->m, choice->m), n = (double)extent_at(&product->n, choice->n),
                 k = (double)extent_at(&product->k, choice->k);
    const double calls =
        (double)product->m.extent / m * ((double)product->n.extent / n) * ((double)product->k.extent / k);
    return calls * (m * n * k + COST_PACK * (m * k + k * n) + COST_ADD * m * n + COST_CALL);
}

// Of products of copies, of which those of A are made for each block, and those of B once where its block is
// the same for the next rows.
static double cost_of_blocks(const Product *product, const BlockSize *size) {
    const double m = (double)product->m.extent, n = (double)product->n.extent, k = (double)product->k.extent;
    const double times_a = (double)ceil_div(product->n.extent, size->cols),
                 times_b = (double)ceil_div(product->m.extent, size->rows);
    return m * n * k + (COST_COPY + COST_PACK) * m * k * times_a +
           (COST_PACK * times_b + COST_COPY * (product->k.extent > size->depth ? times_b : 1)) * k * n +
           COST_SUM * m * n;
}

// The best products on operands in a layout of the BLAS, where they take less time than blocks that are
// copied.
static bool choose_in_place(const Product *product, const BlockSize *size, bool is_set_to_zero,
                            Choice *best) {
    *best = (Choice){product->m.count - 1, product->n.count - 1, product->k.count - 1};
    if (best->m <= 0 && best->n <= 0 && best->k <= 0 && is_unit(product, best))
        return true;
    // Else the result is set to zero, and then read to be added to.
    const double zeros =
        is_set_to_zero ? 2.0 * COST_MEMORY * (double)product->m.extent * (double)product->n.extent : 0;
    double least = cost_of_blocks(product, size) - zeros;
    bool found = false;
    for (int m = -(product->m.count == 0); m < product->m.count; m++)
        for (int n = -(product->n.count == 0); n < product->n.count; n++)
            for (int k = -(product->k.count == 0); k < product->k.count; k++) {
                const Choice choice = {m, n, k};
                const double cost = cost_in_place(product, &choice);
                if (cost < least && is_unit(product, &choice)) {
                    least = cost;
                    *best = choice;
                    found = true;
                }
            }
    return found;
}

// The loops that a product in place leaves around it: those whose iterations write distinct elements, then
// those that sum. *distinct: the number of the first ones; *iterations: of all of these together.
static int loops_around(const Product *product, const Choice *choice, Loop *around, int *distinct,
                        int64_t *iterations) {
    const Dimension *const dimensions[] = {&product->m, &product->n, &product->k};
    const int chosen[] = {choice->m, choice->n, choice->k};
    int count = 0;
    *distinct = 0;
    *iterations = 1;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < dimensions[d]->count; i++)
            if (i != chosen[d]) {
                around[count++] = dimensions[d]->loops[i];
                *distinct += d < 2;
                *iterations *= d < 2 ? dimensions[d]->loops[i].extent : 1;
            }
    return count;
}

size_t contraction_space(void) {
    return SPACE;
}

// The loops over the result, without the others.
static Dimension result_loops(const Product *product) {
    Loop loops[2 * DISTAL_MAX_ORDER];
    int count = 0;
    for (int i = 0; i < product->m.count; i++)
        loops[count++] = (Loop){product->m.loops[i].extent, 0, 0, product->m.loops[i].c};
    for (int i = 0; i < product->n.count; i++)
        loops[count++] = (Loop){product->n.loops[i].extent, 0, 0, product->n.loops[i].c};
    return dimension_create(loops, count, OF_C);
}

// Blocks of nearly the same size, none of which is larger than `most`.
static int64_t block_size(int64_t extent, int64_t most) {
    return ceil_div(extent, ceil_div(extent, most));
}

// A dimension that is divided into tiles: boxes of its loops.
typedef struct {
    Dimension of;
    int64_t sizes[DISTAL_MAX_ORDER]; // the extents of a tile, less at the end of a loop
    int64_t count;                   // of tiles
} Tiling;

// Tiles of at most `most` elements. They have RUN or more elements of the loop along which an operand is
// contiguous, of both operands that the dimension indexes, so that their lines are used whole. Elements of a
// tile are in the order of `first`.
static Tiling tiling_create(const Dimension *dimension, int64_t most, Operand first, Operand second) {
    Tiling tiling = {.of = dimension_create(dimension->loops, dimension->count, first), .count = 1};
    int64_t elements = 1;
    for (int i = 0; i < tiling.of.count; i++) {
        const Loop *loop = &tiling.of.loops[i];
        const bool is_run = stride(loop, first) == 1 || stride(loop, second) == 1;
        tiling.sizes[i] = is_run ? max_i64(1, min_i64(min_i64(loop->extent, RUN), most / elements)) : 1;
        elements *= tiling.sizes[i];
    }
    for (int i = tiling.of.count - 1; i >= 0; i--) {
        const int64_t others = elements / tiling.sizes[i], extent = tiling.of.loops[i].extent;
        const int64_t limit = max_i64(1, min_i64(extent, most / others));
        tiling.sizes[i] = min_i64(limit, ceil_div(block_size(extent, limit), RUN) * RUN); // whole lines
        elements = others * tiling.sizes[i];
        tiling.count *= ceil_div(extent, tiling.sizes[i]);
    }
    return tiling;
}

// Where a tile begins in each tensor, and its elements.
typedef struct {
    int64_t extents[DISTAL_MAX_ORDER], elements, a, b, c;
} Tile;

static Tile tile_at(const Tiling *tiling, int64_t index) {
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

// A loop of a copy: its extent, and its strides in a tensor and in a block.
typedef struct {
    int64_t extent, tensor, block;
} CopyLoop;

typedef struct {
    int count;
    CopyLoop loops[2 * DISTAL_MAX_ORDER];
} CopyLoops;

// Adds the loops of a tile, whose elements have the distance `step` in the block, outermost first. Those that
// move alike through both become one.
static void add_loops(CopyLoops *copy, const Tiling *tiling, const Tile *tile, Operand operand,
                      int64_t step) {
    int64_t block = step * tile->elements;
    for (int i = 0; i < tiling->of.count; i++) {
        const int64_t extent = tile->extents[i], tensor = stride(&tiling->of.loops[i], operand);
        CopyLoop *last = copy->count > 0 ? &copy->loops[copy->count - 1] : NULL;
        block /= extent;
        if (last && last->tensor == tensor * extent && last->block == block * extent)
            *last = (CopyLoop){last->extent * extent, tensor, block};
        else if (extent > 1)
            copy->loops[copy->count++] = (CopyLoop){extent, tensor, block};
    }
}

// The loops over a block that has the elements of `rows` x `cols` of a tensor, row-major. There are two at
// least; where the tensor is contiguous along another loop than the last one, that is the last but one.
static CopyLoops block_loops(const Tiling *rows, const Tile *row, const Tiling *cols, const Tile *col,
                             Operand operand) {
    static const CopyLoop one = {1, 0, 0};
    CopyLoops copy = {.count = 2, .loops = {one, one}};
    add_loops(&copy, rows, row, operand, col->elements);
    add_loops(&copy, cols, col, operand, 1);
    for (int i = 2; i < copy.count - 2; i++)
        if (copy.loops[i].tensor == 1) {
            const CopyLoop run = copy.loops[i];
            copy.loops[i] = copy.loops[copy.count - 2];
            copy.loops[copy.count - 2] = run;
        }
    return copy;
}

// What happens to the elements of the result.
typedef enum { WRITE_ADDS, WRITE_STORES, WRITE_STREAMS } Writing;

// distal_transpose_* for elements of any size.
static void transpose_elements(size_t size, int64_t rows, int64_t cols, void *to, int64_t to_row,
                               const void *from, int64_t from_row) {
    if (size == 4)
        distal_transpose_4(rows, cols, to, to_row, from, from_row, 0);
    else if (size == 8)
        distal_transpose_8(rows, cols, to, to_row, from, from_row, 0);
    else
        distal_transpose_16(rows, cols, to, to_row, from, from_row, 0);
}

// What the template calls, by the current type.
#define ZERO NAME(zero)
#define GEMM NAME(gemm)
#define COPY NAME(copy)
#define WRITE NAME(write)
#define MULTIPLY_SUM NAME(multiply_sum)
#define MULTIPLY_IN_PLACE NAME(multiply_in_place)
#define MULTIPLY_BLOCKS NAME(multiply_blocks)
#define CONTRACT NAME(contract)

#define TYPE float
#define WORK float
#define NAME(kernel) distal_##kernel##_f32
#include "runtime/contraction_template.h"
#undef TYPE
#undef WORK
#undef NAME

#define TYPE double
#define WORK double
#define NAME(kernel) distal_##kernel##_f64
#include "runtime/contraction_template.h"
#undef TYPE
#undef WORK
#undef NAME

#define TYPE float _Complex
#define WORK float _Complex
#define NAME(kernel) distal_##kernel##_c64
#include "runtime/contraction_template.h"
#undef TYPE
#undef WORK
#undef NAME

#define TYPE double _Complex
#define WORK double _Complex
#define NAME(kernel) distal_##kernel##_c128
#include "runtime/contraction_template.h"
#undef TYPE
#undef WORK
#undef NAME

#define TYPE int32_t
#define WORK uint32_t
#define NAME(kernel) distal_##kernel##_i32
#include "runtime/contraction_template.h"
#undef TYPE
#undef WORK
#undef NAME

#define TYPE int64_t
#define WORK uint64_t
#define NAME(kernel) distal_##kernel##_i64
#include "runtime/contraction_template.h"
#undef TYPE
#undef WORK
#undef NAME
