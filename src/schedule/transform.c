// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/transform.h"

// The loop `var` becomes the `count` loops `by`.
static void replace_loop(Nest *nests, int nest_count, int var, const int *by, int count) {
    for (int n = 0; n < nest_count; n++) {
        const Nest old = nests[n];
        if (!nest_has(&old, var))
            continue;
        nests[n].loop_count = 0;
        for (int i = 0; i < old.loop_count; i++) {
            if (old.loops[i] != var)
                nests[n].loops[nests[n].loop_count++] = old.loops[i];
            for (int k = 0; k < count && old.loops[i] == var; k++)
                nests[n].loops[nests[n].loop_count++] = by[k];
        }
    }
}

void transform_derive(Cin *cin, Relation *relation, const NewVar *children) {
    cin_derive(cin, relation, children);
    Nest *nests = cin_nests(cin);
    replace_loop(nests, cin_nest_count(cin), relation->parent[0], relation->child, relation->kind->children);
    for (int p = 1; p < relation->kind->parents; p++)
        replace_loop(nests, cin_nest_count(cin), relation->parent[p], NULL, 0);
    cin_set_nests(cin, nests); // in the places of loops that rows had around them
}

NewVar transform_fresh_var(const Cin *cin, const char *base, char letter, Span span) {
    const char *name = arena_printf(cin->arena, "%s%c", base, letter);
    for (int number = 1; cin_var(cin, name) >= 0; number++)
        name = arena_printf(cin->arena, "%s%c%d", base, letter, number);
    return (NewVar){name, span};
}

const char *transform_reorder(Cin *cin, const int *order, int count) {
    Nest *nests = cin_nests(cin);
    for (int n = 0; n < cin_nest_count(cin); n++) {
        const Nest old = nests[n];
        bool named[MAX_VARS] = {false};
        for (int k = 0; k < count; k++)
            named[order[k]] = true;
        int next = 0;
        for (int i = 0; i < old.loop_count; i++) {
            if (!named[old.loops[i]])
                continue;
            while (!nest_has(&old, order[next]))
                next++;
            nests[n].loops[i] = order[next++];
        }
    }
    return cin_set_nests(cin, nests);
}

// Whether the loop is the inner part of one whose outer part is distributed.
static bool is_local_part(const Cin *cin, int var) {
    const Relation *relation = cin_made_by(cin, var);
    return relation && relation->kind->partitions && relation->child[1] == var &&
           cin_directive(cin, DIRECTIVE_DISTRIBUTE, relation->child[0]);
}

const char *transform_hoist(Cin *cin, const int *vars, int count, Hoist hoist) {
    Nest *nests = cin_nests(cin);
    for (int n = 0; n < cin_nest_count(cin); n++) {
        const Nest old = nests[n];
        Nest nest = {.assign = old.assign};
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
        nests[n] = nest;
    }
    return cin_set_nests(cin, nests);
}
