// SPDX-License-Identifier: BSD-3-Clause
// The text of a program, all the way that check, explain, emit and plan take it. A first line `#! WORDS`
// gives options of the command line (such as `#! -n 4 -p n=8 --in B=random:1:0.5`).
#include "base/integer.h"
#include "check.h"
#include "cli/commands.h"
#include "cli/memory.h"
#include "cli/report.h"
#include "cli/run.h"
#include "plan/verify.h"

#include <string.h>

enum {
    MAX_WORDS = 64,
    WORK_LIMIT = 1000, // of a plan
    MAX_RANKS = 32,    // of a plan that is looked at rank by rank
};

static void check_message(const Pipeline *pipeline, const Diagnostic *diagnostic) {
    REQUIRE(strncmp(diagnostic->message, "internal error", 14) != 0, "%s", diagnostic->message);
    if (diagnostic->span.line == 0) // what is said of the command line repeats it
        return;
    for (const char *at = diagnostic->message; *at; at++)
        REQUIRE((unsigned char)*at >= ' ' && *at != 127, "a character in '%s'", diagnostic->message);
    const char *line = pipeline->source.text;
    for (int l = 1; l < diagnostic->span.line; l++) {
        line += strcspn(line, "\r\n");
        REQUIRE(*line, "the line of '%s'", diagnostic->message);
        line += line[0] == '\r' && line[1] == '\n' ? 2 : 1;
    }
    const int64_t length = (int64_t)strcspn(line, "\r\n"), first = diagnostic->span.column - 1;
    REQUIRE(first >= 0 && diagnostic->span.length >= 0, "the place of '%s'", diagnostic->message);
    REQUIRE(first <= length && first + diagnostic->span.length <= length + 1, "the place of '%s'",
            diagnostic->message);
}

static void check_diagnostics(const Pipeline *pipeline, bool ok) {
    Diagnostics *diagnostics = pipeline->diagnostics;
    REQUIRE(diagnostics != pipeline->no_memory, "memory");
    REQUIRE(ok == (diagnostics->errors == 0), "%d with %d errors", ok, (int)diagnostics->errors);
    REQUIRE(!ok || diagnostics->list.count == 0, "%s", diagnostics->list.items[0].message);
    for (int64_t i = 0; i < diagnostics->list.count; i++)
        check_message(pipeline, &diagnostics->list.items[i]);
    Text text = text_create(pipeline->arena);
    diagnostics_print(diagnostics, &text);
}

// Whether a pass has run and found nothing wrong: of those that have run, only the last may have.
static bool has_passed(const Pipeline *pipeline, Pass pass) {
    return pipeline->next > pass + (pipeline->diagnostics->errors > 0);
}

static void print_statements(const Pipeline *pipeline) {
    const char *const *params = pipeline->program->param_names;
    Text text = text_create(pipeline->arena);
    for (int i = 0; i < pipeline->program->statement_count; i++) {
        const StatementPasses *passes = &pipeline->statements[i];
        if (has_passed(pipeline, PASS_CIN))
            cin_print(passes->cin, params, &text);
        for (int c = 0; has_passed(pipeline, PASS_SCHEDULE) && c < passes->statement->command_count; c++)
            cin_print(passes->stages.items[c], params, &text);
        if (has_passed(pipeline, PASS_SCHEDULE))
            cin_print(passes->scheduled, params, &text);
        if (has_passed(pipeline, PASS_SPMD))
            spmd_print(passes->spmd, params, &text);
        if (has_passed(pipeline, PASS_LOOPS))
            loop_print(passes->loops, &text);
    }
}

static const char *program_text(const Pipeline *pipeline) {
    Text text = text_create(pipeline->arena);
    program_print(pipeline->program, NULL, &text);
    return text_string(&text);
}

static Pipeline *compile(Arena *arena, const char *text, const Options *options, bool general) {
    const Source source = {"program.distal", text};
    Pipeline *pipeline =
        pipeline_create(arena, source, options->params.items, (int)options->params.count, options->ranks);
    pipeline->plan_options = (PlanOptions){.work_limit = WORK_LIMIT, .without = general ? ~0u : 0};
    const bool ok = pipeline_run(pipeline, PASS_PLAN);
    check_diagnostics(pipeline, ok);
    return pipeline;
}

static void check_statement_plan(StatementPlan *plan) {
    const char *why;
    if (plan->ranks > MAX_RANKS)
        return;
    REQUIRE(plan_verify(plan, &why), "%s", why);
}

// Patterns say who sends, not how much arrives.
static void check_general_plan(const Pipeline *pipeline, const Pipeline *general) {
    for (int i = 0; i < pipeline->program->statement_count; i++) {
        const StatementPlan *plan = pipeline->plan->statements[i];
        StatementPlan *other = general->plan->statements[i];
        check_statement_plan(other);
        const StatementFigures *figures = plan_figures(plan), *without = plan_figures(other);
        for (int t = 0; t < figures->tensor_count; t++)
            for (int64_t rank = 0; rank < pipeline->ranks; rank++)
                REQUIRE(figures->tensors[t].bytes_received[rank] == without->tensors[t].bytes_received[rank],
                        "bytes of %s", figures->tensors[t].tensor->name);
    }
}

// What is printed is the same program; and its plan is right without patterns.
static void check_printed(const Pipeline *pipeline, const Options *options) {
    const char *printed = program_text(pipeline);
    const Pipeline *again = compile(pipeline->arena, printed, options, true);
    REQUIRE(has_passed(again, PASS_PROGRAM), "%s", printed);
    const char *twice = program_text(again);
    REQUIRE(strcmp(printed, twice) == 0, "printed as\n%s\nand then as\n%s", printed, twice);
    for (int pass = 0; pass < PASS_COUNT; pass++)
        REQUIRE(has_passed(pipeline, (Pass)pass) == has_passed(again, (Pass)pass), "'%s' of\n%s",
                pass_names[pass], printed);
    if (has_passed(pipeline, PASS_C))
        REQUIRE(strcmp(pipeline->c_source, again->c_source) == 0, "the C of\n%s", printed);
    if (has_passed(pipeline, PASS_PLAN))
        check_general_plan(pipeline, again);
}

static void check_plan(Session *session) {
    const Pipeline *pipeline = session->pipeline;
    for (int i = 0; i < pipeline->program->statement_count; i++)
        check_statement_plan(pipeline->plan->statements[i]);
    Text text = text_create(pipeline->arena);
    report_table(pipeline, NULL, NULL, &text);
    report_json(pipeline, NULL, NULL, &text);
    memory_within_limit(session, false); // what would fit takes many plans to find
    Bindings bindings;
    bindings_create(session, &bindings);
}

static void check_program(Session *session, const char *text) {
    const Options *options = session->options;
    Pipeline *pipeline = session->pipeline = compile(session->arena, text, options, false);
    if (has_passed(pipeline, PASS_PROGRAM)) {
        print_statements(pipeline);
        check_printed(pipeline, options);
    }
    if (has_passed(pipeline, PASS_PLAN))
        check_plan(session);
    Text printed = text_create(session->arena);
    diagnostics_print(session->diagnostics, &printed);
}

// The words of a first line that begins with `#!`, as arguments of `distal run`.
static int split_words(Arena *arena, const char *text, char **words) {
    int count = 0;
    words[count++] = "run";
    words[count++] = "-";
    if (strncmp(text, "#!", 2) != 0)
        return count;
    char *line = arena_string(arena, text + 2, strcspn(text + 2, "\n")), *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word && count < MAX_WORDS;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena *arena = arena_create();
    const char *text = arena_string(arena, (const char *)data, size);
    char *words[MAX_WORDS];
    const int word_count = split_words(arena, text, words);
    Options options;
    Session session = {.arena = arena,
                       .options = &options,
                       .diagnostics = diagnostics_create(arena, (Source){"distal", NULL})};
    const bool ok = options_parse(arena, word_count, words, &options, session.diagnostics);
    REQUIRE(ok == (session.diagnostics->errors == 0), "options");
    if (ok && options.command == &subcommand_run)
        check_program(&session, text);
    Text printed = text_create(arena);
    diagnostics_print(session.diagnostics, &printed);
    arena_free(arena);
    return 0;
}
