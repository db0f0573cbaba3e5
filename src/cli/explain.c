// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.h"
#include "cli/report.h"
#include "loop/passes.h"

#include <inttypes.h>

// What kind of workspace a command has added, and why.
static void print_workspace(const Cin *before, const Cin *cin, Text *to) {
    int p = 0;
    while (p < before->part_count && cin->parts[p]->lhs->tensor == before->parts[p]->lhs->tensor)
        p++;
    const Tensor *workspace = cin->parts[p]->lhs->tensor;
    text_printf(to, "    # %s ", workspace->name);
    if (!workspace->around)
        text_append(to, "is a whole tensor: variables that do not index it are summed ahead\n");
    for (int v = 0, listed = 0; v < cin->var_count; v++)
        if (workspace->around >> v & 1)
            text_printf(to, "%s%s", listed++ ? ", " : "lives in an iteration of ", cin->vars[v].name);
    if (workspace->around)
        text_append(to, ": what is left of the statement has them, or sums over them\n");
}

static void print_command(const Program *program, const char *title, const Command *command,
                          const Cin *before, const Cin *after, Text *to) {
    text_printf(to, "\n# %s ", title);
    command_print(program, command, to);
    text_append(to, "\n");
    cin_print(after, program->param_names, to);
    if (after->part_count > before->part_count)
        print_workspace(before, after, to);
}

// Where repetitions begin before a statement, and end after one.
static void print_repetitions(const Program *program, int statement, bool begin, Text *to) {
    for (int i = 0; i < program->repetition_count; i++) {
        const Repetition *repetition = &program->repetitions[begin ? i : program->repetition_count - 1 - i];
        if ((begin ? repetition->first : repetition->last - 1) != statement)
            continue;
        text_append(to, begin && statement == 0 && i == 0 ? "# " : "\n# ");
        if (begin)
            repetition_print_begin(program, repetition, to);
        else
            repetition_print_end(repetition, to);
        text_append(to, "\n");
    }
}

static void print_statement(const Pipeline *pipeline, int index, Text *to) {
    const StatementPasses *passes = &pipeline->statements[index];
    const Program *program = pipeline->program;
    print_repetitions(program, index, true, to);
    text_append(to, index > 0 || program_innermost(program, index) >= 0 ? "\n# " : "# ");
    assignment_print(passes->statement->assignment, to);
    text_append(to, "\n\n");
    cin_print(passes->cin, program->param_names, to);
    const Tensor *old = assignment_old(passes->cin->assignment);
    if (old)
        text_printf(to, "    # %s is '%s' as it is before this statement gives it other entries\n", old->name,
                    old->old_of->name);
    const Cin *last = passes->cin;
    for (int i = 0; i < passes->statement->command_count; i++) {
        print_command(program, "after", &passes->statement->commands[i], last, passes->stages.items[i], to);
        last = passes->stages.items[i];
    }
    for (int64_t i = 0; i < passes->defaults.count; i++) {
        const DefaultStep *step = &passes->defaults.items[i];
        print_command(program, "fewer steps with", &step->command, last, step->cin, to);
        last = step->cin;
    }
    if (passes->scheduled != last) {
        text_append(to, "\n# with the defaults");
        if (passes->place.best && passes->statement->command_count == 0)
            text_printf(to, ", where %s lies: %" PRId64 " bytes move; where %s lies, %" PRId64 " would",
                        passes->place.best->tensor->name, passes->place.best_bytes,
                        passes->place.first->tensor->name, passes->place.first_bytes);
        text_append(to, "\n");
        cin_print(passes->scheduled, program->param_names, to);
    }
    text_append(to, "\n# one process\n");
    spmd_print(passes->spmd, program->param_names, to);
    print_repetitions(program, index, false, to);
}

static void print_loops(const StatementPasses *passes, int count, Text *to) {
    const char *pass, *why;
    loop_print(loop_run_passes(passes->lowered, count, &pass, &why), to);
    if (!passes->lowered_structure)
        return;
    text_append(to, "\n# The entries of the result.\n");
    loop_print(loop_run_passes(passes->lowered_structure, count, &pass, &why), to);
}

// One representation of a statement.
static void print_passes(const StatementPasses *passes, const Options *options, const char *const *params,
                         Text *to) {
    if (options->stop_after == PASS_CIN)
        cin_print(passes->cin, params, to);
    else if (options->stop_after == PASS_SCHEDULE)
        cin_print(passes->scheduled, params, to);
    else if (options->stop_after == PASS_SPMD)
        spmd_print(passes->spmd, params, to);
    else
        print_loops(passes, options->loop_passes, to);
}

// One representation of the program: as a whole, or statement by statement.
static void print_pass(const Pipeline *pipeline, const Options *options, Text *to) {
    if (options->stop_after == PASS_PROGRAM)
        program_print(pipeline->program, NULL, to);
    else if (options->stop_after == PASS_C)
        text_append(to, pipeline->c_source);
    else if (options->stop_after == PASS_PLAN)
        report_table(pipeline, NULL, NULL, to);
    else
        for (int i = 0; i < pipeline->program->statement_count; i++) {
            text_append(to, i > 0 ? "\n" : "");
            print_passes(&pipeline->statements[i], options, pipeline->program->param_names, to);
        }
}

static ExitStatus explain(Session *session) {
    const Options *options = session->options;
    if (!session_compile(session, options->has_stop_after ? options->stop_after : PASS_SPMD))
        return session_failure(session);
    Text text = text_create(session->arena);
    if (options->has_stop_after)
        print_pass(session->pipeline, options, &text);
    else
        for (int i = 0; i < session->pipeline->program->statement_count; i++)
            print_statement(session->pipeline, i, &text);
    return session_print(session, &text);
}

const Subcommand subcommand_explain = {
    .name = "explain",
    .arguments = "FILE",
    .summary = "print the representations of a program, from index notation to SPMD",
    .text =
        "Prints concrete index notation as written and after each schedule command, then the SPMD program of "
        "one process as pseudo-code. With --stop-after it prints one representation instead.",
    .options = PROGRAM_OPTIONS | 1u << OPTION_STOP_AFTER | 1u << OPTION_PIPELINE,
    .run = explain,
};
