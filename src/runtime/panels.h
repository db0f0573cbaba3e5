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

// C += alpha * A * B, or C = alpha * A * B where it stores, by at most `threads` threads, with `bytes` of
// space. The dimensions have one element or more each, and the result is contiguous along a loop of n, if at
// all.
#define PANELS_FIELD(suffix, type)                                                                           \
    void (*suffix)(const Product *product, void *space, int64_t bytes, int threads, bool stores, type alpha, \
                   const type *a, const type *b, type *c);

typedef struct {
    PANELS_FIELD(f32, float)
    PANELS_FIELD(f64, double)
    PANELS_FIELD(c64, float _Complex)
    PANELS_FIELD(c128, double _Complex)
    PANELS_FIELD(i32, int32_t)
    PANELS_FIELD(i64, int64_t)
} Panels;

extern const Panels panels_baseline;
#ifdef __x86_64__
extern const Panels panels_avx2, panels_avx512;
#endif

enum { PANELS_COUNT = 3 };
// Those that this processor can execute, the fastest one first; returns how many.
int panels_available(const Panels *available[PANELS_COUNT]);

#endif
