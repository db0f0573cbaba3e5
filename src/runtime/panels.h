// SPDX-License-Identifier: BSD-3-Clause
// Contractions by products of panels that are copied from tensors of any layout, without a matrix in between
// (Springer and Bientinesi, "Design of a high-performance GEMM-like tensor-tensor multiplication", section 4;
// Van Zee and van de Geijn, "BLIS", section 3). What differs with the vectors of the processor is compiled
// several times.
#ifndef DISTAL_RUNTIME_PANELS_H
#define DISTAL_RUNTIME_PANELS_H

#include "runtime/tiles.h"

// Bytes of space: what is worth using, and the least that a thread can do with.
enum { PANELS_SPACE = 18 << 20, PANELS_LEAST_SPACE = 512 << 10 };
// Matrices of a batch of which one element each is computed at a time.
enum { INTERLEAVED_LANES = 64 };

// C += alpha * A * B, or C = alpha * A * B where it stores, by at most `threads` threads, with `bytes` of
// space. The dimensions have one element or more each, and the result is contiguous along a loop of n, if at
// all.
#define PANELS_FIELD(suffix, type)                                                                           \
    void (*suffix)(const Product *product, void *space, int64_t bytes, int threads, bool stores, type alpha, \
                   const type *a, const type *b, type *c);

// The same for each of `lanes` matrices, along which all three tensors are contiguous.
#define INTERLEAVED_FIELD(suffix, type)                                                                      \
    void (*interleaved_##suffix)(const Product *product, int64_t lanes, bool stores, type alpha,             \
                                 const type *a, const type *b, type *c);

typedef struct {
    // Copies elements of `size` bytes (4, 8 or 16), at `tensor` and at `block`, where the loops say.
    void (*copy)(size_t size, const CopyLoops *copy, const void *tensor, void *block);
    PANELS_FIELD(f32, float)
    PANELS_FIELD(f64, double)
    PANELS_FIELD(c64, float _Complex)
    PANELS_FIELD(c128, double _Complex)
    PANELS_FIELD(i32, int32_t)
    PANELS_FIELD(i64, int64_t)
    INTERLEAVED_FIELD(f32, float)
    INTERLEAVED_FIELD(f64, double)
    INTERLEAVED_FIELD(c64, float _Complex)
    INTERLEAVED_FIELD(c128, double _Complex)
    INTERLEAVED_FIELD(i32, int32_t)
    INTERLEAVED_FIELD(i64, int64_t)
} Panels;

extern const Panels panels_baseline;
#ifdef __x86_64__
extern const Panels panels_avx2, panels_avx512;
#endif

enum { PANELS_COUNT = 3 };
// Those that this processor can execute, the fastest one first; returns how many.
int panels_available(const Panels *available[PANELS_COUNT]);

#endif
