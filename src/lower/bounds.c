// SPDX-License-Identifier: BSD-3-Clause
#include "lower/bounds.h"

#include "loop/loop.h"

#include <string.h>

const IntExpr *bounds_recover(const Cin *cin, int var, const bool *known) {
    if (known[var])
        return int_var(cin->arena, var);
    const Relation *relation = cin_replaced_by(cin, var);
    if (!relation || !relation->kind->recover)
        return NULL;
    RelationTerms terms = cin_relation_terms(cin, relation);
    for (int c = 0; c < relation->kind->children; c++)
        if (!(terms.value[c] = bounds_recover(cin, relation->child[c], known)))
            return NULL;
    for (int i = 0; i < relation->operand_count; i++)
        if (!(terms.operands[i] = bounds_recover(cin, relation->operands[i], known)))
            return NULL;
    // cppcheck-suppress returnDanglingLifetime // the result is in the arena
    return relation->kind->recover(&terms, var == relation->parent[0] ? 0 : 1);
}

// Against the order of derivation, as a variable may be recovered from another in very many ways.
bool bounds_is_recovered(const Cin *cin, int var, const bool *known) {
    VarSet recovered = 0;
    for (int v = 0; v < cin->var_count; v++)
        recovered |= (VarSet)known[v] << v;
    for (int64_t i = cin->relations.count - 1; i >= 0; i--) {
        const Relation *relation = cin->relations.items[i];
        if (!((relation_children(relation) | relation_operands(relation)) & ~recovered))
            recovered |= relation_parents(relation);
    }
    return recovered >> var & 1;
}

const IntExpr *bounds_upper(const Cin *cin, int var, const bool *known) {
    const Relation *relation = cin_made_by(cin, var);
    if (!relation || !relation->kind->upper)
        return cin->vars[var].extent;
    const int c = var == relation->child[0] ? 0 : 1;
    RelationTerms terms = cin_relation_terms(cin, relation);
    if (relation->kind->children == 2)
        terms.value[1 - c] = bounds_recover(cin, relation->child[1 - c], known);
    // cppcheck-suppress returnDanglingLifetime // the result is in the arena
    return relation->kind->upper(&terms, c, bounds_upper(cin, relation->parent[0], known));
}

bool bounds_clamps(const Cin *cin, int parent, int var, const bool *known) {
    while (var != parent) {
        const Relation *relation = cin_made_by(cin, var);
        const int c = relation && var == relation->child[0] ? 0 : 1;
        if (!relation || !relation->kind->clamps[c] || !bounds_recover(cin, relation->child[1 - c], known))
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
        if ((relation_children(relation) | relation_operands(relation)) & depends)
            depends |= relation_parents(relation);
    }
    return depends >> var & 1;
}

// Whether `loop` counts coordinates of `var` in parts that do not depend on it.
static bool counts_part(const Cin *cin, int var, int loop, bool contiguous) {
    for (int inner = loop; inner != var;) {
        const Relation *relation = cin_made_by(cin, inner);
        if (!relation || !(contiguous ? relation->kind->contiguous : relation->kind->partitions) ||
            relation->child[1] != inner || bounds_depends(cin, relation->child[0], loop))
            return false;
        inner = relation->parent[0];
    }
    return true;
}

bool bounds_has_unit_stride(const Cin *cin, int var, int loop) {
    return counts_part(cin, var, loop, true);
}

bool bounds_increases(const Cin *cin, int var, int loop) {
    return counts_part(cin, var, loop, false);
}

bool bounds_index_starts(const Cin *cin, const Relation *relation) {
    (void)cin;
    const AffineIndex *index = relation->affine;
    bool starts = index->constant->op == INT_CONST && index->constant->value >= 0;
    for (int i = 0; i < index->count; i++)
        starts = starts && index->coefficients[i]->op == INT_CONST && index->coefficients[i]->value > 0;
    return starts;
}

bool bounds_index_ends(const Cin *cin, const Relation *relation) {
    const AffineIndex *index = relation->affine;
    return index->count == 0 ||
           (index->count == 1 && index->constant->op == INT_CONST && index->constant->value <= 0 &&
            index->coefficients[0]->op == INT_CONST && index->coefficients[0]->value == 1 &&
            int_equal(cin->vars[relation->parent[0]].extent, cin->vars[index->vars[0]].extent));
}

int64_t bounds_index_factor(const Cin *cin, const AffineIndex *index, int loop) {
    int64_t factor = 0;
    for (int i = 0; i < index->count; i++) {
        if (!bounds_depends(cin, index->vars[i], loop))
            continue;
        if (factor != 0 || index->coefficients[i]->op != INT_CONST ||
            !bounds_has_unit_stride(cin, index->vars[i], loop))
            return 0;
        factor = index->coefficients[i]->value;
    }
    return factor;
}

static const IntExpr *add_number(Arena *arena, const IntExpr *expr, int64_t number) {
    if ((expr->op == INT_ADD || expr->op == INT_SUB) && expr->right->op == INT_CONST) {
        number += expr->op == INT_ADD ? expr->right->value : -expr->right->value;
        expr = expr->left;
    }
    return int_op(arena, number < 0 ? INT_SUB : INT_ADD, expr,
                  int_const(arena, number < 0 ? -number : number));
}

// a - b, with the number that b ends in added to a.
static const IntExpr *difference(Arena *arena, const IntExpr *a, const IntExpr *b) {
    if ((b->op == INT_ADD || b->op == INT_SUB) && b->right->op == INT_CONST)
        return difference(arena, add_number(arena, a, b->op == INT_ADD ? -b->right->value : b->right->value),
                          b->left);
    return int_op(arena, INT_SUB, a, b);
}

bool bounds_of_index(const Cin *cin, const Relation *relation, int loop, const bool *known,
                     const IntExpr **lower, const IntExpr **upper) {
    Arena *arena = cin->arena;
    const int64_t factor = bounds_index_factor(cin, relation->affine, loop);
    if (factor < -1 || factor == 0)
        return false;
    bool inside[MAX_VARS];
    const IntExpr *values[MAX_VARS] = {NULL};
    memcpy(inside, known, sizeof inside);
    inside[loop] = true;
    values[loop] = int_const(arena, 0);
    const IntExpr *first = loop_substitute(arena, bounds_recover(cin, relation->parent[0], inside), values,
                                           MAX_VARS),
                  *extent = cin->vars[relation->parent[0]].extent,
                  *begin = difference(arena, int_const(arena, 0), first),
                  *end = difference(arena, extent, first);
    if (factor < 0) {
        begin = add_number(arena, int_op(arena, INT_SUB, first, extent), 1);
        end = add_number(arena, first, 1);
    } else {
        begin = int_op(arena, INT_CEIL_DIV, begin, int_const(arena, factor));
        end = int_op(arena, INT_CEIL_DIV, end, int_const(arena, factor));
    }
    if (factor < 0 || !bounds_index_starts(cin, relation))
        *lower = int_op(arena, INT_MAX, *lower, begin);
    if (factor < 0 || !bounds_index_ends(cin, relation))
        *upper = int_op(arena, INT_MIN, *upper, end);
    return true;
}

typedef struct {
    const Cin *cin;
    int loop;
    int source;           // that may depend on the loop
    bool ignores_indices; // those that are more than a variable may, too
    bool others;          // depend on it as well
} UnitCheck;

static void check_indices(void *context, const Access *access) {
    UnitCheck *check = context;
    for (int m = 0; m < access->tensor->order; m++) {
        const int index = access->vars[m];
        check->others |= index != check->source && bounds_depends(check->cin, index, check->loop) &&
                         !(check->ignores_indices && cin_is_index(check->cin, index));
    }
}

static int unit_source(const Cin *cin, const Stmt *assign, int loop, bool ignores_indices) {
    int source = loop;
    while (!cin->vars[source].source) {
        const Relation *relation = cin_made_by(cin, source);
        if (!relation->kind->partitions || relation->child[1] != source ||
            bounds_depends(cin, relation->child[0], loop))
            return -1;
        if (!relation->kind->contiguous)
            break;
        source = relation->parent[0];
    }
    UnitCheck check = {cin, loop, source, ignores_indices, false};
    check_indices(&check, assign->lhs);
    expr_accesses(assign->rhs, check_indices, &check);
    return check.others ? -1 : source;
}

int bounds_unit_source(const Cin *cin, const Stmt *assign, int loop) {
    return unit_source(cin, assign, loop, false);
}

int bounds_part_source(const Cin *cin, const Stmt *assign, int loop) {
    return unit_source(cin, assign, loop, true);
}
