// SPDX-License-Identifier: BSD-3-Clause
// split: blocks of a given length. Its number is that length, the extent of child[1].
#include "relation/blocks.h"
#include "relation/relations.h"

static void extents(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children) {
    children[0] = int_op(arena, INT_CEIL_DIV, parents[0], numbers[0]);
    children[1] = numbers[0];
}

// Where the parent is bounded below its extent, blocks beyond that are not visited.
static const IntExpr *upper(const RelationTerms *terms, int c, const IntExpr *parent) {
    const IntExpr *bound = blocks_upper(terms, c, parent);
    if (c == 1 || terms->value[1] || int_equal(parent, terms->parent[0]))
        return bound;
    return int_op(terms->arena, INT_MIN, bound, int_op(terms->arena, INT_CEIL_DIV, parent, terms->child[1]));
}

const RelationKind relation_split = {
    .name = "split",
    .done = "split",
    .parents = 1,
    .children = 2,
    .numbers = 1,
    .printed_numbers = 1,
    .partitions = true,
    .contiguous = true,
    .clamps = {true, true},
    .extents = extents,
    .recover = blocks_recover,
    .upper = upper,
    .boxes = blocks_boxes,
    .bound = blocks_bound,
    .part = blocks_part,
};
