// SPDX-License-Identifier: BSD-3-Clause
// Contractions (distal_kernel.h): products of tensors in which several loops stand for each dimension of a
// matrix product.
#ifndef DISTAL_RUNTIME_CONTRACTION_H
#define DISTAL_RUNTIME_CONTRACTION_H

#include "distal_kernel.h"

// Bytes of space that distal_contract_* needs, whatever the type and the extents, where as many threads may
// call it at the same time.
int64_t contraction_space(int64_t threads);
// A thread's part of space for `threads`, where `team` of them call it. Where it is the only one, other
// threads, of which there are `threads` at most, may compute with it.
distal_contraction_space contraction_part(void *space, int threads, int thread, int team);

#endif
