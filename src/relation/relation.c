// SPDX-License-Identifier: BSD-3-Clause
#include "relation/relation.h"

#include "relation/relations.h"

#define POINTER(name) &relation_##name,
static const RelationKind *const kinds[] = {RELATIONS(POINTER)};

const RelationKind *const *relation_kinds(int *count) {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    *count = sizeof kinds / sizeof *kinds;
    return kinds;
}

static VarSet set_of(const int *vars, int count) {
    VarSet set = 0;
    for (int i = 0; i < count; i++)
        set |= (VarSet)1 << vars[i];
    return set;
}

VarSet relation_parents(const Relation *relation) {
    return set_of(relation->parent, relation->kind->parents);
}

VarSet relation_children(const Relation *relation) {
    return set_of(relation->child, relation->kind->children);
}

VarSet relation_operands(const Relation *relation) {
    return set_of(relation->operands, relation->operand_count);
}

void relation_print(const Relation *relation, IntNames names, Text *to) {
    const RelationKind *kind = relation->kind;
    text_printf(to, "%s(", kind->name);
    for (int p = 0; p < kind->parents; p++)
        text_printf(to, "%s%s", p ? ", " : "", names.vars[relation->parent[p]]);
    for (int i = 0; i < relation->operand_count; i++)
        text_printf(to, "%s%s", i ? ", " : ", {", names.vars[relation->operands[i]]);
    text_append(to, relation->operand_count > 0 ? "}" : "");
    for (int c = 0; c < kind->children; c++)
        text_printf(to, ", %s", names.vars[relation->child[c]]);
    for (int n = 0; n < kind->printed_numbers; n++) {
        text_append(to, ", ");
        int_print(relation->numbers[n], names, to);
    }
    if (relation->balanced && *relation->balanced->division.tensor)
        text_printf(to, ", %s", relation->balanced->division.tensor);
    const int64_t starts =
        relation->balanced && relation->balanced->level == 0 ? relation->balanced->start_count : 0;
    for (int64_t i = 0; i < starts; i++) {
        text_append(to, i ? ", " : ", {");
        int_print(relation->balanced->starts[i], names, to);
    }
    text_append(to, starts ? "}" : "");
    if (relation->access) {
        text_printf(to, ", %s(", relation->access->name);
        for (int m = 0; m < relation->access->order; m++)
            text_printf(to, "%s%s", m ? ", " : "", names.vars[relation->access->vars[m]]);
        text_append(to, ")");
    }
    text_append(to, ")");
}

const IntExpr *relation_divisor(Arena *arena, const IntExpr *extent) {
    return extent->op == INT_CONST && extent->value == 0 ? int_const(arena, 1) : extent;
}
