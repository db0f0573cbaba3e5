// SPDX-License-Identifier: BSD-3-Clause
// The loops of a contraction as the dimensions of a matrix product, tiles of these, and copies between a
// tensor and a block that is contiguous.
#ifndef DISTAL_RUNTIME_TILES_H
#define DISTAL_RUNTIME_TILES_H

#include "distal_kernel.h"

#include <stdbool.h>

typedef distal_contraction_loop Loop;

typedef enum { OF_A, OF_B, OF_C, OPERANDS } Operand;

static inline int64_t loop_stride(const Loop *loop, Operand operand) {
    return operand == OF_A ? loop->a : operand == OF_B ? loop->b : loop->c;
}

// A dimension of the product: loops, outermost first.
typedef struct {
    int count;
    int64_t extent; // of all loops together
    Loop loops[DISTAL_MAX_ORDER];
} Dimension;

// The rows of A and C, the columns of B and C, and what is summed.
typedef struct {
    Dimension m, n, k;
} Product;

// The loops in the order of their strides in `operand`, merged where that makes no difference.
Dimension dimension_create(const Loop *loops, int count, Operand operand);

// Whether the operand is contiguous along a loop of the dimension.
bool dimension_has_unit(const Dimension *dimension, Operand operand);

// Where element `index` of a dimension is, from its first one.
typedef struct {
    int64_t a, b, c;
} Offsets;
static inline Offsets dimension_at(const Dimension *dimension, int64_t index) {
    Offsets at = {0};
    for (int i = dimension->count - 1; i >= 0; i--) {
        const Loop *loop = &dimension->loops[i];
        const int64_t outer = i > 0 ? index / loop->extent : 0, here = index - outer * loop->extent;
        at.a += here * loop->a, at.b += here * loop->b, at.c += here * loop->c;
        index = outer;
    }
    return at;
}

// Elements of a tile in the direction in which an operand, or the result, is contiguous: a few lines.
enum { TILE_RUN = 16 };
// As many are contiguous enough.
enum { LONG_RUN = 64 };

// A dimension that is divided into tiles: boxes of its loops.
typedef struct {
    Dimension of;
    int64_t sizes[DISTAL_MAX_ORDER]; // the extents of a tile, less at the end of a loop
    int64_t elements;                // of a tile, at most
    int64_t count;                   // of tiles
} Tiling;

// Tiles of at most `most` elements, which are in the order of `first`. They have TILE_RUN or more elements of
// loops along which an operand is contiguous, of both operands that the dimension indexes, so that their
// lines are used whole, and are then extended along loops that continue what is contiguous, the shorter run
// first. `run`: elements of `first` that are contiguous in a tile of another dimension, else 1.
Tiling tiling_create(const Dimension *dimension, int64_t most, Operand first, int64_t run, Operand second);

// Elements of an operand, stored last, that are contiguous in a tile.
int64_t tiling_run(const Tiling *tiling, Operand operand);

// Where a tile begins in each tensor, and its elements.
typedef struct {
    int64_t extents[DISTAL_MAX_ORDER], elements, a, b, c;
} Tile;

Tile tile_at(const Tiling *tiling, int64_t index);

// Where the elements of a tile are, from its beginning in the tensor.
void tile_offsets(const Tiling *tiling, const Tile *tile, Operand operand, int64_t *offsets);

// A loop of a copy: its extent, and its strides in a tensor and in a block.
typedef struct {
    int64_t extent, tensor, block;
} CopyLoop;

typedef struct {
    int count;
    CopyLoop loops[2 * DISTAL_MAX_ORDER + 2];
} CopyLoops;

// No loop yet; two of one iteration, as copies have two at least.
CopyLoops copy_create(void);

// Adds the loops of a tile, whose elements have the distance `step` in the block, inside of those before.
// Those that move alike through both become one.
void copy_add_tile(CopyLoops *copy, const Tiling *tiling, const Tile *tile, Operand operand, int64_t step);

void copy_add(CopyLoops *copy, CopyLoop loop);

// Where the tensor is contiguous along another loop than the last one, that becomes the last but one: lines
// are used whole then.
void copy_order(CopyLoops *copy);

// The copy in the other direction: the tensor becomes the block.
void copy_reverse(CopyLoops *copy);

#endif
