// SPDX-License-Identifier: BSD-3-Clause
#include "lower/bounds.h"

static const IntExpr *extent(const Cin *cin, int var) {
    return cin->vars[var].extent;
}

// An extent to divide by. Where it is 0 there are no iterations, and C compilers warn of a division by 0 that
// is never executed.
static const IntExpr *divisor(const Cin *cin, int var) {
    const IntExpr *own = extent(cin, var);
    return own->op == INT_CONST && own->value == 0 ? int_const(cin->arena, 1) : own;
}

// (child + sum of vars) mod extent
static const IntExpr *recover_rotated(const Cin *cin, const Relation *relation, const bool *known) {
    const IntExpr *sum = bounds_recover(cin, relation->child[0], known);
    for (int i = 0; sum && i < relation->var_count; i++) {
        const IntExpr *shift = bounds_recover(cin, relation->vars[i], known);
        sum = shift ? int_op(cin->arena, INT_ADD, sum, shift) : NULL;
    }
    return sum ? int_op(cin->arena, INT_MOD, sum, divisor(cin, relation->parent[0])) : NULL;
}

static const IntExpr *recover_cyclic(const Cin *cin, const Relation *relation, const IntExpr *which,
                                     const IntExpr *position) {
    Arena *arena = cin->arena;
    const IntExpr *block = relation->factor;
    const IntExpr *round = int_op(arena, INT_MUL, int_op(arena, INT_FLOOR_DIV, position, block),
                                  extent(cin, relation->child[0]));
    const IntExpr *start = int_op(arena, INT_MUL, int_op(arena, INT_ADD, round, which), block);
    return int_op(arena, INT_ADD, start, int_op(arena, INT_MOD, position, block));
}

// How many of the first `end` coordinates of the parent go to `which`: whole rounds, and what it has of the
// last.
static const IntExpr *cyclic_count(const Cin *cin, const Relation *relation, const IntExpr *which,
                                   const IntExpr *end) {
    Arena *arena = cin->arena;
    const IntExpr *block = relation->factor;
    const IntExpr *round = int_op(arena, INT_MUL, block, extent(cin, relation->child[0]));
    const IntExpr *whole = int_op(arena, INT_MUL, int_op(arena, INT_FLOOR_DIV, end, round), block);
    const IntExpr *rest =
        int_op(arena, INT_SUB, int_op(arena, INT_MOD, end, round), int_op(arena, INT_MUL, which, block));
    rest = int_op(arena, INT_MIN, block, int_op(arena, INT_MAX, int_const(arena, 0), rest));
    return int_op(arena, INT_ADD, whole, rest);
}

const IntExpr *bounds_recover(const Cin *cin, int var, const bool *known) {
    if (known[var])
        return int_var(cin->arena, var);
    const Relation *relation = cin_replaced_by(cin, var);
    if (!relation)
        return NULL;
    if (relation->kind == REL_ROTATE)
        return recover_rotated(cin, relation, known);
    const IntExpr *first = bounds_recover(cin, relation->child[0], known);
    if (!first)
        return NULL;
    if (relation->kind == REL_COLLAPSE)
        return int_op(cin->arena, var == relation->parent[0] ? INT_FLOOR_DIV : INT_MOD, first,
                      divisor(cin, relation->parent[1]));
    const IntExpr *second = bounds_recover(cin, relation->child[1], known);
    if (!second)
        return NULL;
    if (relation->kind == REL_CYCLIC)
        return recover_cyclic(cin, relation, first, second);
    const IntExpr *start = int_op(cin->arena, INT_MUL, first, extent(cin, relation->child[1]));
    return int_op(cin->arena, INT_ADD, start, second);
}

// Against the order of derivation, as a variable may be recovered from another in very many ways.
bool bounds_is_recovered(const Cin *cin, int var, const bool *known) {
    VarSet recovered = 0;
    for (int v = 0; v < cin->var_count; v++)
        recovered |= (VarSet)known[v] << v;
    for (int64_t i = cin->relations.count - 1; i >= 0; i--) {
        const Relation *relation = cin->relations.items[i];
        if (!((relation_child_vars(relation) | relation_shift_vars(relation)) & ~recovered))
            recovered |= relation_parent_vars(relation);
    }
    return recovered >> var & 1;
}

const IntExpr *bounds_upper(const Cin *cin, int var, const bool *known) {
    Arena *arena = cin->arena;
    const IntExpr *own = extent(cin, var);
    const Relation *relation = cin_made_by(cin, var);
    if (!relation || !relation_is_partition(relation))
        return own;
    const IntExpr *parent = bounds_upper(cin, relation->parent[0], known);
    if (relation->kind == REL_CYCLIC) {
        const IntExpr *which = bounds_recover(cin, relation->child[0], known);
        return which && var == relation->child[1] ? cyclic_count(cin, relation, which, parent) : own;
    }
    if (var == relation->child[1]) {
        const IntExpr *outer = bounds_recover(cin, relation->child[0], known);
        if (!outer)
            return own;
        const IntExpr *start = int_op(arena, INT_MUL, outer, own);
        return int_op(arena, INT_MIN, own, int_op(arena, INT_SUB, parent, start));
    }
    const IntExpr *stride = extent(cin, relation->child[1]);
    const IntExpr *inner = bounds_recover(cin, relation->child[1], known);
    if (inner) // an inner coordinate exists, so the stride is not 0; the bound implies the extent
        return int_op(arena, INT_CEIL_DIV, int_op(arena, INT_SUB, parent, inner), stride);
    // Only a hint that saves empty turns, not given where the stride may be 0 (a divide of extent 0).
    if (relation->kind == REL_DIVIDE || int_equal(parent, extent(cin, relation->parent[0])))
        return own;
    return int_op(arena, INT_MIN, own, int_op(arena, INT_CEIL_DIV, parent, stride));
}

bool bounds_clamps(const Cin *cin, int parent, int var, const bool *known) {
    while (var != parent) {
        const Relation *relation = cin_made_by(cin, var);
        if (!relation || !relation_is_partition(relation) ||
            (relation->kind == REL_CYCLIC && var == relation->child[0]))
            return false;
        int sibling = relation->child[var == relation->child[0]];
        if (!bounds_recover(cin, sibling, known))
            return false;
        var = relation->parent[0];
    }
    return true;
}

// Against the order of derivation, as above.
bool bounds_depends(const Cin *cin, int var, int loop) {
    VarSet depends = (VarSet)1 << loop;
    for (int64_t i = cin->relations.count - 1; i >= 0; i--) {
        const Relation *relation = cin->relations.items[i];
        if ((relation_child_vars(relation) | relation_shift_vars(relation)) & depends)
            depends |= relation_parent_vars(relation);
    }
    return depends >> var & 1;
}

typedef struct {
    const Cin *cin;
    int loop;
    int source;  // that may depend on the loop
    bool others; // depend on it too
} UnitCheck;

static void check_indices(void *context, const Access *access) {
    UnitCheck *check = context;
    for (int m = 0; m < access->tensor->order; m++)
        check->others |=
            access->vars[m] != check->source && bounds_depends(check->cin, access->vars[m], check->loop);
}

int bounds_unit_source(const Cin *cin, const Stmt *assign, int loop) {
    int source = loop;
    while (!cin->vars[source].source) {
        const Relation *relation = cin_made_by(cin, source);
        if (!relation_is_partition(relation) || relation->child[1] != source ||
            bounds_depends(cin, relation->child[0], loop))
            return -1;
        if (relation->kind == REL_CYCLIC)
            break;
        source = relation->parent[0];
    }
    UnitCheck check = {cin, loop, source, false};
    check_indices(&check, assign->lhs);
    expr_accesses(assign->rhs, check_indices, &check);
    return check.others ? -1 : source;
}
