// SPDX-License-Identifier: BSD-3-Clause
// Fills pieces with generated elements; large ones with several threads.
#ifndef DISTAL_IO_GENERATE_H
#define DISTAL_IO_GENERATE_H

#include "io/generators.h"
#include "io/piece.h"

// Fills a piece of a tensor that has these extents.
void generate(const Generator *generator, const GeneratorValues *values, const int64_t *extents,
              const Piece *piece);

#endif
