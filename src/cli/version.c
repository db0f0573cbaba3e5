// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.h"

static ExitStatus version(Session *session) {
    Text text = text_create(session->arena);
    text_append(&text, "distal " DISTAL_VERSION "\n");
    return session_print(session, &text);
}

const Subcommand subcommand_version = {
    .name = "--version",
    .arguments = "",
    .summary = "print the version",
    .run = version,
};
