// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.h"
#include "io/output.h"

static ExitStatus emit(Session *session) {
    if (!session_compile(session, PASS_C))
        return session_failure(session);
    const char *path = session->options->output;
    if (!path) {
        Text text = text_create(session->arena);
        text_append(&text, session->pipeline->c_source);
        return session_print(session, &text);
    }
    return output_write_text(path, session->pipeline->c_source, session->diagnostics) ? EXIT_FINE
                                                                                      : EXIT_FAILED;
}

const Subcommand subcommand_emit = {
    .name = "emit",
    .arguments = "FILE",
    .summary = "print the generated C",
    .text = "The same C serves all sizes and numbers of ranks.",
    .options = PROGRAM_OPTIONS | 1u << OPTION_OUTPUT,
    .run = emit,
};
