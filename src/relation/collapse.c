// SPDX-License-Identifier: BSD-3-Clause
// collapse: two loops become one, child[0] = parent[0] * extent(parent[1]) + parent[1]. Below, the values of
// parent[0] are rows, and those of parent[1] columns.
#include "base/integer.h"
#include "relation/relations.h"

static void extents(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children) {
    (void)numbers;
    children[0] = int_op(arena, INT_MUL, parents[0], parents[1]);
}

static const IntExpr *recover(const RelationTerms *terms, int p) {
    return int_op(terms->arena, p == 0 ? INT_FLOOR_DIV : INT_MOD, terms->value[0],
                  relation_divisor(terms->arena, terms->parent[1]));
}

// `at` is replaced by the first box, and the others go to the end of the list.
typedef struct {
    const NumericRelation *relation;
    Arena *arena;
    BoxArray *boxes;
    int64_t at;
    Box box; // with the values of the other variables
    bool any;
} Collapsed;

static void add(Collapsed *collapsed, PositionSet rows, PositionSet columns) {
    if (rows.lo >= rows.hi || columns.lo >= columns.hi)
        return;
    collapsed->box.values[collapsed->relation->relation.parent[0]] = rows;
    collapsed->box.values[collapsed->relation->relation.parent[1]] = columns;
    if (collapsed->any)
        array_push(collapsed->arena, *collapsed->boxes, collapsed->box);
    else
        collapsed->boxes->items[collapsed->at] = collapsed->box;
    collapsed->any = true;
}

// The columns that the set has in a row.
static PositionSet columns_of(const Collapsed *collapsed, PositionSet fused, int64_t row) {
    const int64_t width = collapsed->relation->parent[1];
    const PositionSet values = positions_clip(fused, row * width, (row + 1) * width);
    const PositionSet run = positions_run(values, values.lo);
    return positions_shift(run.hi == values.hi ? run : values, -row * width, collapsed->arena);
}

static void add_row(Collapsed *collapsed, PositionSet fused, int64_t row) {
    add(collapsed, interval(row, row + 1), columns_of(collapsed, fused, row));
}

// A partial first row, whole rows of which every `period`th has the same columns, and a partial last row.
static void add_rows(Collapsed *collapsed, PositionSet fused, int64_t period) {
    const int64_t width = collapsed->relation->parent[1];
    const int64_t lo = ceil_div(fused.lo, width), hi = fused.hi / width;
    if (lo > hi) {
        add_row(collapsed, fused, hi);
        return;
    }
    if (fused.lo < lo * width)
        add_row(collapsed, fused, lo - 1);
    for (int64_t row = lo; row < min_i64(hi, lo + period); row++)
        add(collapsed, positions_every(interval(row, hi), period, collapsed->arena),
            columns_of(collapsed, fused, row));
    if (fused.hi > hi * width)
        add_row(collapsed, fused, hi);
}

// By rows, or where a periodic set has fewer runs of values than there are different rows, run by run.
static bool make_boxes(const NumericRelation *relation, Arena *arena, BoxArray *boxes, int64_t at) {
    const PositionSet fused = boxes->items[at].values[relation->relation.child[0]];
    const int64_t width = relation->parent[1], period = fused.periodic ? fused.periodic->period : 1;
    const int64_t rows = min_i64((fused.hi - fused.lo) / width + 1, period / common_divisor(period, width));
    Collapsed collapsed = {relation, arena, boxes, at, boxes->items[at], false};
    if (!fused.periodic || rows <= (fused.hi - fused.lo) / period * fused.periodic->count) {
        add_rows(&collapsed, fused, period / common_divisor(period, width));
        return collapsed.any;
    }
    for (PositionSet run = positions_run(fused, fused.lo); run.lo < run.hi;
         run = positions_run(fused, run.hi))
        add_rows(&collapsed, run, 1);
    return collapsed.any;
}

static bool bound(const NumericRelation *relation, BoundingBox *bounds) {
    const Relation *own = &relation->relation;
    const PositionSet fused = bounds->box.values[own->child[0]];
    const int64_t width = relation->parent[1];
    return bound_values(bounds, own->parent[0], relation->parent[0],
                        interval(fused.lo / width, (fused.hi - 1) / width + 1)) &&
           bound_circular(bounds, own->parent[1], width, fused.lo % width, fused.hi - fused.lo);
}

const RelationKind relation_collapse = {
    .name = "collapse",
    .done = "collapsed",
    .parents = 2,
    .children = 1,
    .extents = extents,
    .recover = recover,
    .boxes = make_boxes,
    .bound = bound,
};
