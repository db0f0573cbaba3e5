// SPDX-License-Identifier: BSD-3-Clause
#include "cli/session.h"

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/launch.h"
#include "pipeline/warn.h"
#include "runtime/gpu_messages.h"
#include "runtime/gpu_sums.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool read_all(FILE *file, Text *text) {
    char buffer[1 << 14];
    size_t count;
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_append_n(text, buffer, count);
    return !ferror(file);
}

const char *session_source_name(const Options *options) {
    if (options->text)
        return "<command line>";
    return strcmp(options->file, "-") == 0 ? "<stdin>" : options->file;
}

const char *session_read(const Session *session, const char *path) {
    const bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    Text text = text_create(session->arena);
    const char *name = is_stdin ? "<stdin>" : path;
    bool ok = file && read_all(file, &text);
    const int why = errno;
    if (file && !is_stdin)
        fclose(file);
    if (!ok)
        diagnostics_error(session->diagnostics, (Span){0}, "cannot read '%s': %s", name, strerror(why));
    else if (strlen(text_string(&text)) != text.length)
        ok = diagnostics_error(session->diagnostics, (Span){0},
                               "'%s' is not a text file: it contains a byte that is 0", name);
    return ok ? text_string(&text) : NULL;
}

bool session_load(Session *session) {
    const Options *options = session->options;
    session->source.name = session_source_name(options);
    session->source.text = options->text ? options->text : session_read(session, options->file);
    return session->source.text;
}

bool session_compile(Session *session, Pass last) {
    if (!session->source.text && !session_load(session))
        return false;
    const Options *options = session->options;
    if (!session->pipeline) {
        session->pipeline = pipeline_create(session->arena, session->source, options->params.items,
                                            (int)options->params.count, session->ranks);
        session->pipeline->plan_options.threads = options->threads;
        session->pipeline->plan_options.pipelined = options->pipelined;
        session->pipeline->plan_options.sampled = options->command == &subcommand_plan;
    }
    bool ok = true;
    for (int pass = (int)session->pipeline->next; ok && pass <= (int)last; pass++) {
        const double start = clock_seconds();
        ok = pipeline_run(session->pipeline, (Pass)pass);
        if (options->verbose && !launch_is_inside())
            fprintf(stderr, "distal: %s: %.3g ms\n", pass_names[pass], 1e3 * (clock_seconds() - start));
        if (ok && pass == PASS_PROGRAM && session->pipeline->program->statement_count == 0)
            diagnostics_note(session->diagnostics, (Span){0}, "the program has no statement");
    }
    return ok;
}

bool session_choose_gpu_messages(Session *session, bool between_ranks) {
    Pipeline *pipeline = session->pipeline;
    bool *choice = &pipeline->plan_options.gpu_messages;
    if (!pipeline_uses_gpu_memory(pipeline))
        return true;
    const bool ok = between_ranks
                        ? gpu_messages_choose(MPI_COMM_WORLD, choice, session->diagnostics)
                        : gpu_messages_expect(pipeline_ranks(pipeline), choice, session->diagnostics);
    const bool fine = ok && (between_ranks || gpu_sums_expect(*choice, &pipeline->plan_options.gpu_sums,
                                                              session->diagnostics));
    session->failed = session->failed || !fine;
    return fine;
}

ExitStatus session_failure(const Session *session) {
    const Pipeline *pipeline = session->pipeline;
    const bool no_memory = pipeline && pipeline->diagnostics == pipeline->no_memory;
    return session->failed || no_memory ? EXIT_FAILED : EXIT_WRONG;
}

static void report(const Session *session, Diagnostics *diagnostics) {
    Text text = text_create(session->arena);
    diagnostics_print(diagnostics, &text);
    fputs(text_string(&text), stderr);
}

void session_print_errors(const Session *session, Diagnostics *diagnostics) {
    report(session, diagnostics);
}

Diagnostics *session_warnings(const Session *session) {
    Diagnostics *warnings = diagnostics_create(session->arena, session->source);
    warnings->choice = session->options->warnings;
    if (session->options->automatic)
        warnings->choice.off |= 1U << WARNING_ONE_COMPUTES; // it was chosen, from the time that all take
    return warnings;
}

bool session_print_warnings(const Session *session, Diagnostics *warnings) {
    if (warnings->errors > 0 || !session->options->quiet)
        report(session, warnings);
    return warnings->errors == 0;
}

bool session_warn(Session *session) {
    if (session->warned || launch_is_ours())
        return true;
    session->warned = true;
    Diagnostics *warnings = session_warnings(session);
    pipeline_warn(session->pipeline, session->pipeline->plan, warnings);
    return session_print_warnings(session, warnings);
}

void session_report(Session *session) {
    if (session->reported)
        return;
    if (session->pipeline)
        report(session, session->pipeline->diagnostics);
    report(session, session->diagnostics);
    session->reported = true;
}

ExitStatus session_print(Session *session, const Text *text) {
    if (fputs(text_string(text), stdout) != EOF && fflush(stdout) != EOF)
        return EXIT_FINE;
    diagnostics_error(session->diagnostics, (Span){0}, "cannot write to standard output: %s",
                      strerror(errno));
    return EXIT_FAILED;
}
