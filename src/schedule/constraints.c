// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/constraints.h"

#include "schedule/arguments.h"

// The loops of a call must be the innermost ones, in the nests that have them all.
static const char *around_call(const Cin *cin, const Nest *nest, const Directive *call) {
    bool called[MAX_VARS] = {false}, inside = false;
    for (int i = 0; i < call->loop_count; i++) {
        called[call->loops[i]] = true;
        if (!nest_has(nest, call->loops[i]))
            return NULL;
    }
    for (int i = 0; i < nest->loop_count; i++) {
        int var = nest->loops[i];
        inside |= called[var];
        if (!inside || called[var])
            continue;
        Text text = text_create(cin->arena);
        cin_print_directive(cin, call, NULL, &text);
        return arena_printf(cin->arena,
                            "the loops of %s must be innermost, but '%s' is inside of them (loops: %s)",
                            text_string(&text), cin->vars[var].name, nest_loop_list(cin, nest));
    }
    return NULL;
}

// Whether the nest has a tensor that is communicated at the loop.
static bool communicates(const Cin *cin, const Nest *nest, int var) {
    for (int64_t d = 0; d < cin->directives.count; d++) {
        const Directive *directive = cin->directives.items[d];
        if (directive->kind == DIRECTIVE_COMMUNICATE && directive->loops[0] == var &&
            assignment_has(nest->assign, directive->tensor))
            return true;
    }
    return false;
}

static const char *inside_parallel(const Cin *cin, const Nest *nest, const Directive *parallel) {
    const char *outer = cin->vars[parallel->loops[0]].name;
    int at = nest_position(nest, parallel->loops[0]);
    for (int i = at + 1; at >= 0 && i < nest->loop_count; i++) {
        int var = nest->loops[i];
        const char *inner = cin->vars[var].name;
        const Directive *other = cin_directive(cin, DIRECTIVE_PARALLELIZE, var);
        if (cin_directive(cin, DIRECTIVE_DISTRIBUTE, var))
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
        for (int64_t d = 0; !why && d < cin->directives.count; d++) {
            const Directive *directive = cin->directives.items[d];
            if (directive->kind == DIRECTIVE_SUBSTITUTE)
                why = around_call(cin, &nest, directive);
            else if (directive->kind == DIRECTIVE_PARALLELIZE)
                why = inside_parallel(cin, &nest, directive);
        }
    }
    return why;
}
