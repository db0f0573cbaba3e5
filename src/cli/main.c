// SPDX-License-Identifier: BSD-3-Clause
// distal COMMAND FILE [options]: see commands.h.
#include "cli/commands.h"
#include "cli/launch.h"

#include <signal.h>
#include <stdio.h>

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
    ExitStatus status = options.command->run(&session);
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
    signal(SIGXFSZ, SIG_IGN); // a file that grows too large is an error like a full disk
    ExitStatus status = run_command(arena, argument_count, arguments);
    arena_free(arena);
    return launch_exit_status(status);
}
