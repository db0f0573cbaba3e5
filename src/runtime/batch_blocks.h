// SPDX-License-Identifier: BSD-3-Clause
// Batches of products in which a tensor is contiguous along a loop of the batch, so that the matrices of one
// product have no unit stride. The matrices of a block of the batch are packed into a workspace, whole cache
// lines at a time, and the result is unpacked. Small products are interleaved instead: a block is computed as
// one product of which an element is a vector, the same element of all matrices of the block, and what is not
// contiguous along the batch is packed.
#ifndef DISTAL_RUNTIME_BATCH_BLOCKS_H
#define DISTAL_RUNTIME_BATCH_BLOCKS_H

#include "runtime/panels.h"

// The most matrix products of a block that are computed one after the other, and of one that is interleaved.
enum { SINGLE_PRODUCTS = 64, INTERLEAVED_BLOCK = 1024 };

typedef struct {
    bool interleaved;
    Tiling batch, m, n, k;
    bool copied[OPERANDS];
    int64_t offsets[OPERANDS]; // elements of the space before the copies of an operand
    int64_t bytes;             // for all copies of a block
    int64_t count;             // of blocks, of which no two have the same elements of the result
} BatchBlocks;

// Blocks whose copies take at most `bytes` bytes each. As many as there are threads, where that is worth it.
BatchBlocks batch_blocks_create(const Product *product, const Dimension *batch, int64_t bytes, int threads,
                                size_t size);

// Whether an operand or the result is copied.
bool batch_blocks_copy(const BatchBlocks *blocks);

// A block of the batch, rows and columns, and a range of the summed dimension.
typedef struct {
    Tile batch, m, n, k;
} BatchBlock;

// A block with its first range; there are `blocks->k.count` ranges.
BatchBlock batch_block_at(const BatchBlocks *blocks, int64_t index);

// The offset in a tensor of the first element that the block has of it.
int64_t batch_block_begin(const BatchBlock *block, Operand operand);

// The loops of a copy of an operand to space.
CopyLoops batch_block_copy(const BatchBlocks *blocks, const BatchBlock *block, Operand operand);

// The loops of one product, those of m, n and k, and for each operand how far its matrices are from the first
// one.
typedef struct {
    int counts[3];
    Loop loops[3 * DISTAL_MAX_ORDER];
    int64_t offsets[OPERANDS][SINGLE_PRODUCTS]; // not where products are interleaved
} BatchProducts;
BatchProducts batch_block_products(const BatchBlocks *blocks, const BatchBlock *block);

#endif
