// SPDX-License-Identifier: BSD-3-Clause
// Contractions (distal_kernel.h): products of tensors in which several loops stand for each dimension of a
// matrix product.
#ifndef DISTAL_RUNTIME_CONTRACTION_H
#define DISTAL_RUNTIME_CONTRACTION_H

#include <stddef.h>

// Bytes of space that distal_contract_* needs, whatever the type and the extents.
size_t contraction_space(void);

#endif
