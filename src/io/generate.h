// SPDX-License-Identifier: BSD-3-Clause
// Pieces filled by a generator, by several threads where there is much to do.
#ifndef DISTAL_IO_GENERATE_H
#define DISTAL_IO_GENERATE_H

#include "io/generators.h"
#include "io/piece.h"

// Fills a piece of a tensor with these extents.
void generate(const Generator *generator, const GeneratorValues *values, const int64_t *extents,
              ElementType type, const Piece *piece);

#endif
