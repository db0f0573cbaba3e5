// SPDX-License-Identifier: BSD-3-Clause
// Contractions: loops that move alike through both of their tensors become one. Where one matrix product in a
// layout of the BLAS is left, that computes it; else panels.h does. Batches of them are divided into blocks.
#include "runtime/contraction.h"

#include "base/integer.h"
#include "runtime/batch_blocks.h"
#include "spmd/spmd.h"

#include <omp.h>
#include <string.h>

// Elements that are set to zero of which more are worth a team of threads.
enum { PARALLEL_WORK = 1 << 14 };
// Bytes of space that a thread has at least for copies of a batch.
enum { BATCH_LEAST_SPACE = 256 << 10 };

// `counts`: of the loops of m, n and k, which follow each other.
static Product product_create(const int counts[3], const Loop *loops) {
    return (Product){dimension_create(loops, counts[0], OF_C),
                     dimension_create(loops + counts[0], counts[1], OF_C),
                     dimension_create(loops + counts[0] + counts[1], counts[2], OF_A)};
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

// The only loop of a dimension, or one of one iteration.
static Loop only_loop(const Dimension *dimension) {
    return dimension->count > 0 ? dimension->loops[0] : (Loop){.extent = 1};
}

// Whether it is one product of matrices that have a unit stride each, which the BLAS is good at.
static bool is_for_blas(const Product *product, bool stores) {
    const Loop m = only_loop(&product->m), n = only_loop(&product->n), k = only_loop(&product->k);
    return product->m.count <= 1 && product->n.count <= 1 && product->k.count <= 1 &&
           (m.a == 1 || k.a == 1) && (k.b == 1 || n.b == 1) && (m.c == 1 || n.c == 1) &&
           !multiplies_in_panels((double)m.extent, (double)n.extent, (double)k.extent, stores);
}

static double product_count(const Product *product) {
    return (double)product->m.extent * (double)product->n.extent * (double)product->k.extent;
}

int64_t contraction_space(int64_t threads) {
    return max_i64(PANELS_SPACE, threads * (PANELS_LEAST_SPACE + BATCH_LEAST_SPACE));
}

// Bytes of one of equal parts of a space, each of which is aligned as the space is.
static int64_t space_part(int64_t bytes, int parts) {
    enum { CACHE_LINE = 64 };
    return bytes / parts / CACHE_LINE * CACHE_LINE;
}

distal_contraction_space contraction_part(void *space, int threads, int thread, int team) {
    const int64_t bytes = space_part(contraction_space(threads), team);
    const int callers = omp_get_max_threads();
    return (distal_contraction_space){(char *)space + thread * bytes, bytes,
                                      team > 1            ? 1
                                      : callers < threads ? callers
                                                          : threads};
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
#define ZERO NAME(zero)
#define GEMM NAME(gemm)
#define CONTRACT NAME(contract)
#define PRODUCT NAME(product)
#define BLOCK NAME(block)
#define BATCH NAME(batch)
#define CONCATENATE(a, b) a##b
#define INTERLEAVED_OF(suffix) CONCATENATE(interleaved_, suffix)
#define INTERLEAVED INTERLEAVED_OF(SUFFIX)

#define TYPE float
#define NAME(kernel) distal_##kernel##_f32
#define SUFFIX f32
#include "runtime/contraction_template.h"
#undef TYPE
#undef NAME
#undef SUFFIX

#define TYPE double
#define NAME(kernel) distal_##kernel##_f64
#define SUFFIX f64
#include "runtime/contraction_template.h"
#undef TYPE
#undef NAME
#undef SUFFIX

#define TYPE float _Complex
#define NAME(kernel) distal_##kernel##_c64
#define SUFFIX c64
#include "runtime/contraction_template.h"
#undef TYPE
#undef NAME
#undef SUFFIX

#define TYPE double _Complex
#define NAME(kernel) distal_##kernel##_c128
#define SUFFIX c128
#include "runtime/contraction_template.h"
#undef TYPE
#undef NAME
#undef SUFFIX

#define TYPE int32_t
#define NAME(kernel) distal_##kernel##_i32
#define SUFFIX i32
#include "runtime/contraction_template.h"
#undef TYPE
#undef NAME
#undef SUFFIX

#define TYPE int64_t
#define NAME(kernel) distal_##kernel##_i64
#define SUFFIX i64
#include "runtime/contraction_template.h"
#undef TYPE
#undef NAME
#undef SUFFIX
