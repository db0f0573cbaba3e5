// SPDX-License-Identifier: BSD-3-Clause
// For unit tests: the plan of a program that is given as text.
#ifndef DISTAL_TESTS_UNIT_PLANNED_H
#define DISTAL_TESTS_UNIT_PLANNED_H

#include "lang/program.h"
#include "lower/lower.h"
#include "plan/plan.h"
#include "plan/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// A planned program of one statement; freed with the arena.
static inline StatementPlan *planned(Arena *arena, const char *text, PlanOptions options) {
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"test", text});
    const Program *program = program_parse(arena, diagnostics->source, NULL, 0, options.ranks, diagnostics);
    const Spmd *spmd = NULL;
    if (program) {
        Scheduler scheduler = {
            .arena = arena, .diagnostics = diagnostics, .symbols = program_symbols(program)};
        const Cin *cin = cin_create(arena, program->statements[0].assignment);
        for (int i = 0; cin && i < program->statements[0].command_count; i++)
            cin = schedule_apply(&scheduler, &program->statements[0].commands[i], cin);
        cin = cin ? schedule_defaults(cin) : NULL;
        spmd = cin ? lower(cin, NULL, diagnostics) : NULL;
    }
    Plan *plan = NULL;
    if (spmd) {
        const int64_t *params = program_param_values(program, arena);
        if (options.ranks == 0)
            options.ranks = plan_natural_ranks(program->machine_count, program->machines, 1, &spmd, params);
        plan = plan_create(arena, program->tensor_count, program->tensors, 1, &spmd, params, options,
                           diagnostics);
    }
    if (!plan) {
        Text message = text_create(arena);
        diagnostics_print(diagnostics, &message);
        fail_msg("%s%s", text, text_string(&message));
        return NULL;
    }
    const char *why = NULL;
    if (!plan_verify(plan->statements[0], &why))
        fail_msg("%s%s", text, why);
    return plan->statements[0];
}

#endif
