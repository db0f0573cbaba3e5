// SPDX-License-Identifier: BSD-3-Clause
// distal COMMAND FILE [options]: see help.c.
#include "cli/launch.h"
#include "cli/session.h"

#include <stdio.h>

static const CommandFunction commands[COMMAND_COUNT] = {
    [COMMAND_CHECK] = command_check,     [COMMAND_EXPLAIN] = command_explain, [COMMAND_EMIT] = command_emit,
    [COMMAND_PLAN] = command_plan,       [COMMAND_RUN] = command_run,         [COMMAND_HELP] = command_help,
    [COMMAND_VERSION] = command_version,
};

static ExitStatus run_command(Arena *arena, int argument_count, char **arguments) {
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"distal", NULL});
    Options options;
    Session session = {.arena = arena,
                       .options = &options,
                       .diagnostics = diagnostics,
                       .arguments = arguments,
                       .argument_count = argument_count};
    if (!options_parse(arena, argument_count - 1, arguments + 1, &options, diagnostics)) {
        session_report(&session);
        fputs("'distal help' lists commands and options\n", stderr);
        return EXIT_WRONG;
    }
    session.ranks = options.ranks;
    ExitStatus status = commands[options.command](&session);
    session_report(&session);
    return status;
}

int main(int argument_count, char **arguments) {
    Arena *arena = arena_create();
    jmp_buf escape;
    if (!arena || setjmp(escape)) {
        fputs("distal: error: out of memory\n", stderr);
        return launch_exit_status(EXIT_FAILED);
    }
    arena_set_escape(arena, &escape);
    ExitStatus status = run_command(arena, argument_count, arguments);
    arena_free(arena);
    return launch_exit_status(status);
}
