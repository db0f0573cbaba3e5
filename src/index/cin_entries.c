// SPDX-License-Identifier: BSD-3-Clause
#include "index/cin.h"

static void add_sparse_vars(void *context, const Access *access) {
    if (tensor_is_sparse(access->tensor))
        *(VarSet *)context |= access_vars(access);
}

// The relation where the iteration, if its sum has none, is in each part.
static const Relation *with_added(const Cin *cin, const Cin *entries, const Relation *relation) {
    const Relation *by;
    int source = relation->parent[0];
    while ((by = cin_made_by(cin, source)))
        source = by->parent[0];
    Relation *longer = arena_copy(cin->arena, relation, sizeof *relation);
    longer->added = int_op(cin->arena, INT_SUB, entries->vars[source].extent, cin->vars[source].extent);
    return longer;
}

const Cin *cin_for_entries(const Cin *cin, int first, int last) {
    VarSet used = 0, kept = 0, changed = 0;
    for (int n = first; n <= last; n++) {
        const Stmt *assign = cin_nest(cin, n).assign;
        used |= access_vars(assign->lhs) | expr_vars(assign->rhs);
        add_sparse_vars(&kept, assign->lhs);
        expr_accesses(assign->rhs, add_sparse_vars, &kept);
    }
    Cin *entries = cin_copy(cin);
    for (int v = 0; v < cin->var_count; v++) {
        const IntExpr *extent = cin->vars[v].extent;
        if (!cin->vars[v].source || !((used & ~kept) >> v & 1) || cin_is_index(cin, v))
            continue;
        entries->vars[v].extent = int_at_least_one(cin->arena, extent);
        changed |= (VarSet)(entries->vars[v].extent != extent) << v;
    }
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        if (relation->kind->children == 0 || !(relation_parents(relation) & changed))
            continue;
        if (relation->kind->balanced)
            relation = entries->relations.items[r] = with_added(cin, entries, relation);
        cin_set_extents(entries, relation);
        changed |= relation_children(relation);
    }
    return changed ? entries : cin;
}
