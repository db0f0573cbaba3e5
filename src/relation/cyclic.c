// SPDX-License-Identifier: BSD-3-Clause
// cyclic: blocks of numbers[0] coordinates of the parent are distributed round-robin over the numbers[1]
// values of child[0], and child[1] counts what one of these gets: with child[1] = numbers[0] * q + r and
// r < numbers[0], parent[0] = (q * numbers[1] + child[0]) * numbers[0] + r.
#include "machine/placement.h"
#include "relation/blocks.h"
#include "relation/relations.h"

static void extents(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children) {
    const IntExpr *blocks = int_op(arena, INT_CEIL_DIV, parents[0], numbers[0]);
    const IntExpr *rounds = int_op(arena, INT_CEIL_DIV, blocks, numbers[1]);
    children[0] = numbers[1];
    children[1] = int_op(arena, INT_MUL, rounds, numbers[0]);
}

static const IntExpr *recover(const RelationTerms *terms, int p) {
    (void)p;
    Arena *arena = terms->arena;
    const IntExpr *block = terms->relation->numbers[0], *position = terms->value[1];
    const IntExpr *round =
        int_op(arena, INT_MUL, int_op(arena, INT_FLOOR_DIV, position, block), terms->child[0]);
    const IntExpr *start = int_op(arena, INT_MUL, int_op(arena, INT_ADD, round, terms->value[0]), block);
    return int_op(arena, INT_ADD, start, int_op(arena, INT_MOD, position, block));
}

static void children_of(const RelationTerms *terms, const IntExpr *parent, const IntExpr **values) {
    Arena *arena = terms->arena;
    const IntExpr *block = relation_divisor(arena, terms->relation->numbers[0]);
    const IntExpr *number = int_op(arena, INT_FLOOR_DIV, parent, block);
    const IntExpr *size = relation_divisor(arena, terms->child[0]);
    values[0] = int_op(arena, INT_MOD, number, size);
    values[1] =
        int_op(arena, INT_ADD, int_op(arena, INT_MUL, int_op(arena, INT_FLOOR_DIV, number, size), block),
               int_op(arena, INT_MOD, parent, block));
}

// The number of the first `parent` coordinates that one value of child[0] gets: those of whole rounds, and
// its part of the last round.
static const IntExpr *upper(const RelationTerms *terms, int c, const IntExpr *parent) {
    if (c == 0 || !terms->value[0])
        return terms->child[c];
    Arena *arena = terms->arena;
    const IntExpr *block = terms->relation->numbers[0];
    const IntExpr *round = int_op(arena, INT_MUL, block, terms->child[0]);
    const IntExpr *whole = int_op(arena, INT_MUL, int_op(arena, INT_FLOOR_DIV, parent, round), block);
    const IntExpr *rest = int_op(arena, INT_SUB, int_op(arena, INT_MOD, parent, round),
                                 int_op(arena, INT_MUL, terms->value[0], block));
    rest = int_op(arena, INT_MIN, block, int_op(arena, INT_MAX, int_const(arena, 0), rest));
    return int_op(arena, INT_ADD, whole, rest);
}

static const char *invalid(const NumericRelation *relation, Arena *arena) {
    const int64_t block = relation->numbers[0];
    return block < 1 || block > MAX_CYCLE ? arena_printf(arena, "blocks have 1 to %d coordinates", MAX_CYCLE)
                                          : NULL;
}

static PositionSet part(const NumericRelation *relation, const Box *box, PositionSet values, Arena *arena) {
    return positions_cyclic(values, relation->numbers[0], relation->child[0],
                            box->values[relation->relation.child[0]].lo, arena);
}

// For one value of child[0], one box, as buffers for the part of a processor are packed. For several values,
// one box for each product of rounds and positions in a block.
static bool make_boxes(const NumericRelation *relation, BoxList *list, int64_t at) {
    const Relation *own = &relation->relation;
    const int64_t block = relation->numbers[0];
    Box box = list->boxes->items[at];
    const PositionSet which = box.values[own->child[0]], local = box.values[own->child[1]];
    bool any = false;
    if (which.hi - which.lo == 1) {
        partition_put(relation, list, at, &box, part(relation, &box, local, list->arena), &any);
        return any;
    }
    RowsArray products = {0};
    positions_rows(local, block, list->arena, &products);
    for (int64_t i = 0; i < products.count; i++) {
        const PositionSet starts =
            positions_blocks(products.items[i].rows, relation->child[0], which, list->arena);
        partition_put(relation, list, at, &box,
                      positions_blocks(starts, block, products.items[i].columns, list->arena), &any);
    }
    return any;
}

static bool bound(const NumericRelation *relation, BoundingBox *bounds) {
    const Relation *own = &relation->relation;
    const int64_t block = relation->numbers[0], size = relation->child[0];
    const PositionSet which = bounds->box.values[own->child[0]], local = bounds->box.values[own->child[1]];
    const int64_t last = local.hi - 1;
    return bound_periodic(bounds, own->parent[0], relation->parent[0],
                          (local.lo / block * size + which.lo) * block + local.lo % block,
                          (last / block * size + which.hi - 1) * block + last % block + 1, which.lo * block,
                          size * block, (which.hi - which.lo) * block);
}

const RelationKind relation_cyclic = {
    .name = "cyclic",
    .done = "distributed block-cyclically",
    .parents = 1,
    .children = 2,
    .numbers = 2,
    .printed_numbers = 1,
    .partitions = true,
    .clamps = {false, true},
    .extents = extents,
    .recover = recover,
    .upper = upper,
    .invalid = invalid,
    .boxes = make_boxes,
    .bound = bound,
    .part = part,
    .children_of = children_of,
};
