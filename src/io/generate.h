// SPDX-License-Identifier: BSD-3-Clause
// Generators of inputs (docs/command.md). They give the same tensor for any number of ranks: the value of an
// element follows from its row-major position in the whole tensor.
#ifndef DISTAL_IO_GENERATE_H
#define DISTAL_IO_GENERATE_H

#include "io/piece.h"
#include "io/source.h"

// Uniform in [0, 1): value(seed, position) of docs/command.md.
double random_value(uint64_t seed, int64_t position);

// Fills a piece of a tensor with these extents; not for SOURCE_NPY.
void generate(const SourceSpec *spec, const int64_t *extents, ElementType type, const Piece *piece);

#endif
