// SPDX-License-Identifier: BSD-3-Clause
// divide: a given number of blocks. Its number is the extent of child[0].
#include "relation/blocks.h"
#include "relation/relations.h"

static void extents(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children) {
    children[0] = numbers[0];
    children[1] = int_op(arena, INT_CEIL_DIV, parents[0], numbers[0]);
}

const RelationKind relation_divide = {
    .name = "divide",
    .done = "divided",
    .parents = 1,
    .children = 2,
    .numbers = 1,
    .printed_numbers = 1,
    .partitions = true,
    .contiguous = true,
    .divides = true,
    .clamps = {true, true},
    .extents = extents,
    .recover = blocks_recover,
    .upper = blocks_upper,
    .boxes = blocks_boxes,
    .bound = blocks_bound,
    .part = blocks_part,
};
