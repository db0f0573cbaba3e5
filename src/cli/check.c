// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.h"

static ExitStatus check(Session *session) {
    const bool right = session_compile(session, PASS_PLAN) && session_warn(session);
    return right ? EXIT_FINE : session_failure(session);
}

const Subcommand subcommand_check = {
    .name = "check",
    .arguments = "FILE",
    .summary = "parse, check and schedule a program; print nothing if it is correct",
    .text = "Every error is reported with its place; the exit status is then 2.",
    .options = PROGRAM_OPTIONS | 1u << OPTION_WARNING,
    .run = check,
};
