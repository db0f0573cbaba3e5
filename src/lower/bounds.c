// SPDX-License-Identifier: BSD-3-Clause
#include "lower/bounds.h"

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
        if (!relation->kind->partitions || relation->child[1] != source ||
            bounds_depends(cin, relation->child[0], loop))
            return -1;
        if (!relation->kind->contiguous)
            break;
        source = relation->parent[0];
    }
    UnitCheck check = {cin, loop, source, false};
    check_indices(&check, assign->lhs);
    expr_accesses(assign->rhs, check_indices, &check);
    return check.others ? -1 : source;
}
