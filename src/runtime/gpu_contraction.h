// SPDX-License-Identifier: BSD-3-Clause
// Contractions on a GPU (distal_gpu_contract_* of distal_kernel.h).
#ifndef DISTAL_RUNTIME_GPU_CONTRACTION_H
#define DISTAL_RUNTIME_GPU_CONTRACTION_H

#include "base/type.h"
#include "distal_kernel.h"

// What the choice of how one is computed goes by: times of a call and of copying a byte, in units of a
// multiplication by the library, and bytes of space for what is copied, at least 8192.
typedef struct {
    double call, byte;
    int64_t space;
} GpuContractionCosts;
extern const GpuContractionCosts gpu_contraction_costs; // those of a GPU

// `counts`: of loops of m, n, k and of the batch. Nothing is copied where `space` has less bytes than `costs`
// say, of which it has 16 at least or none.
void gpu_contract(ElementType type, const int counts[4], const distal_contraction_loop *loops,
                  distal_contraction_space space, const GpuContractionCosts *costs, bool stores,
                  const void *alpha, const void *a, const void *b, void *c);

#endif
