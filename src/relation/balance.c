// SPDX-License-Identifier: BSD-3-Clause
// balance: contiguous parts that differ in length, as entries balance them, or as they are listed. child[0]
// counts the parts and child[1] the positions of one, parent[0] = begin(child[0]) + child[1]. Where parts of
// other levels are around, the parent counts the positions of one of these, and the operands are their
// numbers, outermost first: parent[0] = begin(operands, child[0]) - begin(operands) + child[1]. Where a part
// begins and how long it is, is known with the entries: to generated code as variables, for the processor
// that it runs for.
#include "relation/balance.h"

#include "base/integer.h"
#include "machine/placement.h"
#include "relation/blocks.h"
#include "relation/relations.h"

static void extents(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children) {
    (void)arena;
    children[0] = numbers[0];
    children[1] = parents[0];
}

static const IntExpr *recover(const RelationTerms *terms, int p) {
    (void)p;
    return int_op(terms->arena, INT_ADD, int_var(terms->arena, terms->relation->begin), terms->value[1]);
}

const IntExpr *balance_length(Arena *arena, const Relation *relation) {
    const IntExpr *length = int_var(arena, relation->length);
    return relation->added ? int_op(arena, INT_ADD, length, relation->added) : length;
}

static const IntExpr *upper(const RelationTerms *terms, int c, const IntExpr *parent) {
    (void)parent;
    if (c == 0 || !terms->value[0])
        return terms->child[c];
    return balance_length(terms->arena, terms->relation);
}

bool balance_division(const BalancedLevel *balanced, const int64_t *params, Arena *arena,
                      Division *division) {
    *division = balanced->division;
    for (int l = 0; l < division->depth; l++)
        if (!int_eval(balanced->parts[l], params, NULL, &division->levels[l].parts) ||
            division->levels[l].parts < 1)
            return false;
    for (int l = 0; l < division->cell_levels; l++)
        if (balanced->cycles[l] && (!int_eval(balanced->cycles[l], params, NULL, &division->cells[l].block) ||
                                    division->cells[l].block < 1))
            return false;
    DivisionLevel *first = &division->levels[0];
    if (first->balance != BALANCE_LISTED)
        return true;
    if (balanced->start_count == first->parts + 1)
        first->starts = placement_starts(balanced->start_count, balanced->starts, params, arena);
    return first->starts != NULL;
}

// Where part `number` of those of its level begins, the parts of the levels around it with it.
static int64_t begin_of(const NumericRelation *relation, int64_t number) {
    const Boundaries *boundaries = relation->boundaries;
    const BalancedLevel *balanced = relation->relation.balanced;
    for (int l = balanced->level + 1; l < boundaries->division.depth; l++)
        number *= boundaries->division.levels[l].parts;
    return balanced->positions ? boundaries->positions[number] : boundaries->starts[number];
}

PositionSet balance_parts(const NumericRelation *relation, const int64_t *around, int64_t first,
                          int64_t last) {
    int64_t before = 0;
    for (int i = 0; i < relation->relation.operand_count; i++)
        before = (before + around[i]) * relation->boundaries->division.levels[i + 1].parts;
    const int64_t origin = begin_of(relation, before);
    return (PositionSet){begin_of(relation, before + first) - origin,
                         begin_of(relation, before + last) - origin + relation->added, NULL};
}

// The same from numbers that the operands have in a box, one each.
static PositionSet parts_in(const NumericRelation *relation, const Box *box, int64_t first, int64_t last) {
    const Relation *own = &relation->relation;
    int64_t around[MAX_DEPTH] = {0};
    for (int i = 0; i < own->operand_count; i++)
        around[i] = box->values[own->operands[i]].lo;
    return balance_parts(relation, around, first, last);
}

static PositionSet values_of(PositionSet part, PositionSet values, Arena *arena) {
    return positions_shift(positions_clip(values, 0, part.hi - part.lo), part.lo, arena);
}

static PositionSet part(const NumericRelation *relation, const Box *box, PositionSet values, Arena *arena) {
    const int64_t which = box->values[relation->relation.child[0]].lo;
    return values_of(parts_in(relation, box, which, which + 1), values, arena);
}

// Boxes for the values of the operands from `next` on, one of each.
static void put_all(const NumericRelation *relation, BoxList *list, int64_t at, Box box, int next,
                    bool *any) {
    const Relation *own = &relation->relation;
    if (next < own->operand_count) {
        const PositionSet all = box.values[own->operands[next]];
        for (int64_t i = 0; i < positions_count(all) && !list->full; i++) {
            const int64_t value = positions_at(all, i);
            box.values[own->operands[next]] = interval(value, value + 1);
            put_all(relation, list, at, box, next + 1, any);
        }
        return;
    }
    const PositionSet outer = box.values[own->child[0]], inner = box.values[own->child[1]];
    if (!outer.periodic && positions_are_all(inner, relation->child[1])) {
        partition_put(relation, list, at, &box, parts_in(relation, &box, outer.lo, outer.hi), any);
        return;
    }
    for (int64_t i = 0; i < positions_count(outer) && !list->full; i++) {
        const int64_t which = positions_at(outer, i);
        const PositionSet one = parts_in(relation, &box, which, which + 1);
        partition_put(relation, list, at, &box, values_of(one, inner, list->arena), any);
    }
}

// Whether all of a part of the level around is meant, however long that is, or all parts have the same.
static bool is_whole(const NumericRelation *relation, const Box *box) {
    const Relation *own = &relation->relation;
    return relation->added > 0 ||
           (own->operand_count > 0 && positions_are_all(box->values[own->child[0]], relation->child[0]) &&
            positions_are_all(box->values[own->child[1]], relation->child[1]));
}

static bool make_boxes(const NumericRelation *relation, BoxList *list, int64_t at) {
    Box box = list->boxes->items[at];
    bool any = false;
    if (is_whole(relation, &box))
        partition_put(relation, list, at, &box, interval(0, relation->parent[0]), &any);
    else
        put_all(relation, list, at, box, 0, &any);
    return any;
}

static bool bound(const NumericRelation *relation, BoundingBox *bounds) {
    const Relation *own = &relation->relation;
    const PositionSet outer = bounds->box.values[own->child[0]], inner = bounds->box.values[own->child[1]];
    const int64_t extent = relation->parent[0];
    for (int i = 0; i < own->operand_count; i++) {
        const PositionSet number = bounds->box.values[own->operands[i]];
        if (number.hi - number.lo > 1)
            return bound_values(bounds, own->parent[0], extent, interval(0, extent));
    }
    if (is_whole(relation, &bounds->box))
        return bound_values(bounds, own->parent[0], extent, interval(0, extent));
    const PositionSet parts = parts_in(relation, &bounds->box, outer.lo, outer.hi);
    if (outer.hi - outer.lo > 1)
        return bound_values(bounds, own->parent[0], extent, parts);
    const int64_t lo = parts.lo + inner.lo, hi = min_i64(parts.lo + inner.hi, parts.hi);
    if (inner.periodic)
        return bound_periodic(bounds, own->parent[0], extent, lo, hi, inner.periodic->origin + parts.lo,
                              inner.periodic->period, inner.periodic->size);
    return bound_values(bounds, own->parent[0], extent, interval(lo, hi));
}

int64_t balance_longest(const NumericRelation *relation) {
    const Boundaries *boundaries = relation->boundaries;
    const BalancedLevel *balanced = relation->relation.balanced;
    int64_t count = 1, most = 0;
    for (int l = 0; l <= balanced->level; l++)
        count *= boundaries->division.levels[l].parts;
    for (int64_t part = 0; part < count; part++)
        most = max_i64(most, begin_of(relation, part + 1) - begin_of(relation, part));
    return most;
}

const RelationKind relation_balance = {
    .name = "balance",
    .done = "divided",
    .parents = 1,
    .children = 2,
    .numbers = 1,
    .printed_numbers = 1,
    .partitions = true,
    .contiguous = true,
    .balanced = true,
    .clamps = {false, true},
    .extents = extents,
    .recover = recover,
    .upper = upper,
    .boxes = make_boxes,
    .bound = bound,
    .part = part,
};
