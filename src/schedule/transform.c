// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/transform.h"

void transform_replace(Cin *cin, int var, const int *by, int count) {
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest old = cin_nest(cin, n);
        if (!nest_has(&old, var))
            continue;
        Nest nest = {.assign = old.assign};
        for (int i = 0; i < old.loop_count; i++) {
            if (old.loops[i] != var)
                nest.loops[nest.loop_count++] = old.loops[i];
            for (int k = 0; k < count && old.loops[i] == var; k++)
                nest.loops[nest.loop_count++] = by[k];
        }
        cin_set_nest(cin, n, &nest);
    }
}

NewVar transform_fresh_var(const Cin *cin, const char *base, char letter, Span span) {
    const char *name = arena_printf(cin->arena, "%s%c", base, letter);
    for (int number = 1; cin_var(cin, name) >= 0; number++)
        name = arena_printf(cin->arena, "%s%c%d", base, letter, number);
    return (NewVar){name, span};
}

void transform_blocks(Cin *cin, RelationKind kind, Span span, int parent, NewVar outer, NewVar inner,
                      const IntExpr *factor, int children[2]) {
    const IntExpr *blocks = int_op(cin->arena, INT_CEIL_DIV, cin->vars[parent].extent, factor);
    children[0] = cin_add_var(cin, outer.name, outer.span, kind == REL_SPLIT ? blocks : factor);
    children[1] = cin_add_var(cin, inner.name, inner.span, kind == REL_SPLIT ? factor : blocks);
    cin_add_relation(cin, (Relation){.kind = kind,
                                     .span = span,
                                     .parent = {parent},
                                     .child = {children[0], children[1]},
                                     .factor = factor});
    transform_replace(cin, parent, children, 2);
}

void transform_cyclic(Cin *cin, Span span, int parent, NewVar outer, NewVar inner, const IntExpr *size,
                      const IntExpr *block, int children[2]) {
    Arena *arena = cin->arena;
    const IntExpr *blocks = int_op(arena, INT_CEIL_DIV, cin->vars[parent].extent, block);
    const IntExpr *rounds = int_op(arena, INT_CEIL_DIV, blocks, size);
    children[0] = cin_add_var(cin, outer.name, outer.span, size);
    children[1] = cin_add_var(cin, inner.name, inner.span, int_op(arena, INT_MUL, rounds, block));
    cin_add_relation(cin, (Relation){.kind = REL_CYCLIC,
                                     .span = span,
                                     .parent = {parent},
                                     .child = {children[0], children[1]},
                                     .factor = block});
    transform_replace(cin, parent, children, 2);
}

void transform_reorder(Cin *cin, const int *order, int count) {
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest old = cin_nest(cin, n), nest = old;
        bool named[MAX_VARS] = {false};
        for (int k = 0; k < count; k++)
            named[order[k]] = true;
        int next = 0;
        for (int i = 0; i < old.loop_count; i++) {
            if (!named[old.loops[i]])
                continue;
            while (!nest_has(&old, order[next]))
                next++;
            nest.loops[i] = order[next++];
        }
        cin_set_nest(cin, n, &nest);
    }
}

// Whether the loop is the inner part of one whose outer part is distributed.
static bool is_local_part(const Cin *cin, int var) {
    const Relation *relation = cin_made_by(cin, var);
    return relation && relation_is_partition(relation) && relation->child[1] == var &&
           cin_relation(cin, REL_DISTRIBUTE, relation->child[0]);
}

void transform_hoist(Cin *cin, const int *vars, int count, Hoist hoist) {
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest old = cin_nest(cin, n), nest = {.assign = old.assign};
        bool hoisted[MAX_VARS] = {false};
        for (int k = 0; k < count; k++)
            hoisted[vars[k]] = true;
        int place = 0;
        while (hoist == HOIST_INSIDE_CHUNKS && place < old.loop_count && !hoisted[old.loops[place]])
            place++;
        while (place > 0 &&
               (cin->vars[old.loops[place - 1]].source || is_local_part(cin, old.loops[place - 1])))
            place--;
        for (int i = 0; i < place; i++)
            nest.loops[nest.loop_count++] = old.loops[i];
        for (int k = 0; k < count; k++)
            if (nest_has(&old, vars[k]))
                nest.loops[nest.loop_count++] = vars[k];
        for (int i = place; i < old.loop_count; i++)
            if (!hoisted[old.loops[i]])
                nest.loops[nest.loop_count++] = old.loops[i];
        cin_set_nest(cin, n, &nest);
    }
}
