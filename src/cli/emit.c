// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.h"
#include "io/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    bool ok = fputs(text, file) != EOF;
    return fclose(file) == 0 && ok;
}

static bool write_file(const char *path, const char *text, Diagnostics *diagnostics) {
    const Output output = output_create(path, (long)getpid(), diagnostics->arena);
    const bool is_stream = output_is_stream(&output);
    if (!is_stream && !output_possible(&output, diagnostics))
        return false;
    bool ok = write_text(is_stream ? output.path : output.draft, text);
    if (!ok)
        output_refuse(&output, strerror(errno), diagnostics);
    return is_stream ? ok : output_finish(&output, ok, diagnostics);
}

static ExitStatus emit(Session *session) {
    if (!session_compile(session, PASS_C))
        return session_failure(session);
    const char *path = session->options->output;
    if (!path) {
        Text text = text_create(session->arena);
        text_append(&text, session->pipeline->c_source);
        return session_print(session, &text);
    }
    return write_file(path, session->pipeline->c_source, session->diagnostics) ? EXIT_FINE : EXIT_FAILED;
}

const Subcommand subcommand_emit = {
    .name = "emit",
    .arguments = "FILE",
    .summary = "print the C that is generated",
    .text = "The same text serves all sizes and rank counts.",
    .options = PROGRAM_OPTIONS | 1u << OPTION_OUTPUT,
    .run = emit,
};
