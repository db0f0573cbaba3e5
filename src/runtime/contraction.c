// SPDX-License-Identifier: BSD-3-Clause
// Contractions: loops that move alike through both of their tensors become one. Where a matrix product is
// left, or many of a good size on operands in a layout of the BLAS, it works in place; else blocks
// are copied so that they are contiguous, multiplied, and the result is added where it belongs.
#include "runtime/contraction.h"

#include "base/integer.h"
#include "distal_kernel.h"

#include <omp.h>
#include <stdbool.h>
#include <string.h>

// A block of the result has BLOCK x BLOCK elements, those of the operands have DEPTH in the dimension that is
// summed.
enum { BLOCK = 768, DEPTH = 384 };
// What things take, in multiplications of the BLAS on one thread: to copy an element of an operand, here, and
// in the BLAS, which does so in each call; to add to an element of the result, in a call, and with a block of
// partial sums that is set to zero and added up first; and to call it.
enum { COST_COPY = 16, COST_PACK = 12, COST_ADD = 8, COST_SUM = 48, COST_CALL = 3000 };
// Where few products are summed into a result that is larger than the last-level cache, writing it takes most
// of the time.
// It is then computed in smaller blocks, that stay in a thread's cache, and each is copied to the result.
enum { STORE_ROWS = 96, STORE_COLS = 384, STORE_DEPTH = 64, STORE_RUN = 512, STORE_BYTES = 1 << 25 };
// Elements below which a copy is not worth a team of threads.
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

// Where the elements first .. first + count - 1 of a dimension are in an operand.
static void offsets(const Dimension *dimension, Operand operand, int64_t first, int64_t count,
                    int64_t *offset) {
    int64_t at[DISTAL_MAX_ORDER], position = 0, rest = first;
    for (int i = dimension->count - 1; i >= 0; i--) {
        at[i] = rest % dimension->loops[i].extent;
        rest /= dimension->loops[i].extent;
        position += at[i] * stride(&dimension->loops[i], operand);
    }
    for (int64_t e = 0; e < count; e++) {
        offset[e] = position;
        for (int i = dimension->count - 1; i >= 0; i--) {
            position += stride(&dimension->loops[i], operand);
            if (++at[i] < dimension->loops[i].extent)
                break;
            position -= dimension->loops[i].extent * stride(&dimension->loops[i], operand);
            at[i] = 0;
        }
    }
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

// Of products in place.
static double cost_in_place(const Product *product, const Choice *choice) {
    const double m = (double)extent_at(&product->m, choice->m), n = (double)extent_at(&product->n, choice->n),
                 k = (double)extent_at(&product->k, choice->k);
    const double calls =
        (double)product->m.extent / m * ((double)product->n.extent / n) * ((double)product->k.extent / k);
    return calls * (m * n * k + COST_PACK * (m * k + k * n) + COST_ADD * m * n + COST_CALL);
}

// Of products of copies.
static double cost_of_blocks(const Product *product) {
    const double m = (double)product->m.extent, n = (double)product->n.extent, k = (double)product->k.extent;
    const double rows = (double)ceil_div(product->m.extent, BLOCK);
    return m * n * k + (COST_COPY + COST_PACK) * (m * k + k * n * rows) + COST_SUM * m * n;
}

// The best products on operands in a layout of the BLAS, where they take less time than blocks that are
// copied.
static bool choose_in_place(const Product *product, Choice *best) {
    *best = (Choice){product->m.count - 1, product->n.count - 1, product->k.count - 1};
    if (best->m <= 0 && best->n <= 0 && best->k <= 0 && is_unit(product, best))
        return true;
    double least = cost_of_blocks(product);
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

// Blocks of nearly the same size, none of which is larger than `most`.
static int64_t block_size(int64_t extent, int64_t most) {
    return ceil_div(extent, ceil_div(extent, most));
}

size_t contraction_space(void) {
    return (size_t)(BLOCK * BLOCK + 2 * BLOCK * DEPTH) * sizeof(double _Complex);
}

// Whether a product that is stored is computed in blocks of STORE_ROWS x STORE_COLS: what is contiguous in
// their rows makes up several lines.
static bool stores_blocks(const Product *product, size_t size) {
    const Loop *last = product->n.count > 0 ? &product->n.loops[product->n.count - 1] : NULL;
    return last && last->c == 1 && last->extent * (int64_t)size >= STORE_RUN &&
           product->k.extent <= STORE_DEPTH && product->n.extent >= STORE_COLS / 2 &&
           product->m.extent >= STORE_ROWS / 2 &&
           product->m.extent > STORE_BYTES / (int64_t)size / product->n.extent;
}

// How many threads can have `bytes` of the space each.
static int store_threads(int64_t bytes) {
    return omp_in_parallel() ? 1 : (int)min_i64(omp_get_max_threads(), (int64_t)contraction_space() / bytes);
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

// What the template calls, by the current type.
#define GATHER NAME(gather)
#define ZERO NAME(zero)
#define STORE_BLOCK NAME(store_block)
#define STORE_RESULT NAME(store_result)
#define GEMM NAME(gemm)
#define COPY NAME(copy)
#define ADD NAME(add)
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
