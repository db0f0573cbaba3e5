// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    bool ok = fputs(text, file) != EOF;
    return fclose(file) == 0 && ok;
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
    if (write_file(path, session->pipeline->c_source))
        return EXIT_FINE;
    diagnostics_error(session->diagnostics, (Span){0}, "cannot write %s: %s", path, strerror(errno));
    return EXIT_FAILED;
}

const Subcommand subcommand_emit = {
    .name = "emit",
    .arguments = "FILE",
    .summary = "print the C that is generated",
    .text = "The same text serves all sizes and rank counts.",
    .options = PROGRAM_OPTIONS | 1u << OPTION_OUTPUT,
    .run = emit,
};
