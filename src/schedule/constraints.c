// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/constraints.h"

#include "schedule/arguments.h"

// The loops of a call must be the innermost ones, in the nests that have them all.
static const char *around_call(const Cin *cin, const Nest *nest, const Relation *call) {
    bool called[MAX_VARS] = {false}, inside = false;
    for (int i = 0; i < call->var_count; i++) {
        called[call->vars[i]] = true;
        if (!nest_has(nest, call->vars[i]))
            return NULL;
    }
    for (int i = 0; i < nest->loop_count; i++) {
        int var = nest->loops[i];
        inside |= called[var];
        if (!inside || called[var])
            continue;
        Text text = text_create(cin->arena);
        relation_print(cin, call, NULL, &text);
        return arena_printf(cin->arena,
                            "the loops of %s must be innermost, but '%s' is inside of them (loops: %s)",
                            text_string(&text), cin->vars[var].name, nest_loop_list(cin, nest));
    }
    return NULL;
}

// Whether the nest has a tensor that is communicated at the loop.
static bool communicates(const Cin *cin, const Nest *nest, int var) {
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        if (relation->kind == REL_COMMUNICATE && relation->vars[0] == var &&
            assignment_has(nest->assign, relation->tensor))
            return true;
    }
    return false;
}

static const char *inside_parallel(const Cin *cin, const Nest *nest, const Relation *parallel) {
    const char *outer = cin->vars[parallel->vars[0]].name;
    int at = nest_position(nest, parallel->vars[0]);
    for (int i = at + 1; at >= 0 && i < nest->loop_count; i++) {
        int var = nest->loops[i];
        const char *inner = cin->vars[var].name;
        const Relation *other = cin_relation(cin, REL_PARALLELIZE, var);
        if (cin_relation(cin, REL_DISTRIBUTE, var))
            return arena_printf(cin->arena, "the distributed loop '%s' is inside of the parallel loop '%s'",
                                inner, outer);
        if (communicates(cin, nest, var))
            return arena_printf(cin->arena,
                                "tensors are communicated at '%s', which is inside of the parallel loop '%s'",
                                inner, outer);
        if (other && other->unit == UNIT_CPU_THREAD && parallel->unit == UNIT_CPU_THREAD)
            return arena_printf(cin->arena,
                                "'%s' and '%s', one inside of the other, both go onto threads; collapse "
                                "them to divide both among the threads",
                                outer, inner);
    }
    return NULL;
}

const char *broken_constraint(const Cin *cin) {
    const char *why = NULL;
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest nest = cin_nest(cin, n);
        for (int64_t r = 0; !why && r < cin->relations.count; r++) {
            const Relation *relation = cin->relations.items[r];
            if (relation->kind == REL_SUBSTITUTE)
                why = around_call(cin, &nest, relation);
            else if (relation->kind == REL_PARALLELIZE)
                why = inside_parallel(cin, &nest, relation);
        }
    }
    return why;
}
