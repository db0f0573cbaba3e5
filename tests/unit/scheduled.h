// SPDX-License-Identifier: BSD-3-Clause
// For unit tests: a program as text, its first statement as CIN, with its schedule applied and verified after
// every command.
#ifndef DISTAL_TESTS_UNIT_SCHEDULED_H
#define DISTAL_TESTS_UNIT_SCHEDULED_H

#include "lang/program.h"
#include "schedule/reductions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
    const Program *program;
    const Cin *cin; // NULL after a diagnostic
} Scheduled;

static inline void assert_verified(const Cin *cin) {
    const char *why = NULL;
    if (!cin_verify(cin, &why))
        fail_msg("%s", why);
}

// The caller frees the arena.
static inline Scheduled scheduled(const char *text, bool defaults) {
    Scheduled result = {.arena = arena_create()};
    Source source = {"test", text};
    result.diagnostics = diagnostics_create(result.arena, source);
    result.program = program_parse(result.arena, source, NULL, 0, 0, result.diagnostics);
    if (!result.program)
        return result;
    const Statement *statement = &result.program->statements[0];
    Scheduler scheduler = {
        .arena = result.arena, .diagnostics = result.diagnostics, .symbols = program_symbols(result.program)};
    result.cin = schedule_reductions(&scheduler, statement->assignment);
    for (int c = 0; result.cin && c < statement->command_count; c++) {
        assert_verified(result.cin);
        const Cin *before = result.cin;
        Text old = text_create(result.arena), again = text_create(result.arena);
        cin_print(before, result.program->param_names, &old);
        result.cin = schedule_apply(&scheduler, &statement->commands[c], before);
        cin_print(before, result.program->param_names, &again);
        assert_string_equal(text_string(&old), text_string(&again)); // a Cin is a value
    }
    if (result.cin && defaults)
        result.cin = schedule_defaults(result.cin);
    if (result.cin)
        assert_verified(result.cin);
    return result;
}

// The Cin as printed, or the diagnostics, each "LINE:COLUMN: message" and a line end.
static inline const char *scheduled_text(const Scheduled *result) {
    Text text = text_create(result->arena);
    for (int64_t d = 0; d < result->diagnostics->list.count; d++) {
        const Diagnostic *diagnostic = &result->diagnostics->list.items[d];
        text_printf(&text, "%d:%d: %s\n", diagnostic->span.line, diagnostic->span.column,
                    diagnostic->message);
    }
    if (result->cin)
        cin_print(result->cin, result->program->param_names, &text);
    return text_string(&text);
}

static inline void assert_scheduled(const char *text, bool defaults, const char *expected) {
    Scheduled result = scheduled(text, defaults);
    const char *got = scheduled_text(&result);
    if (strcmp(got, expected) != 0)
        fprintf(stderr, "program:\n%s\nexpected:\n%s\ngot:\n%s\n", text, expected, got);
    assert_true(strcmp(got, expected) == 0);
    arena_free(result.arena);
}

#endif
