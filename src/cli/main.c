// SPDX-License-Identifier: BSD-3-Clause
// distal COMMAND FILE [options]: see commands.h.
#include "cli/commands.h"
#include "cli/launch.h"
#include "runtime/blas_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    Arena *arena;
    int count;
    char **arguments;
    ExitStatus status; // of the command
} CommandLine;

static void run_command(void *arguments) {
    CommandLine *line = arguments;
    Diagnostics *diagnostics = diagnostics_create(line->arena, (Source){"distal", NULL});
    Options options;
    Session session = {.arena = line->arena,
                       .options = &options,
                       .diagnostics = diagnostics,
                       .arguments = line->arguments,
                       .argument_count = line->count};
    if (!options_parse(line->arena, line->count - 1, line->arguments + 1, &options, diagnostics)) {
        session_report(&session);
        fputs("'distal help' lists commands and options\n", stderr);
        line->status = EXIT_WRONG;
        return;
    }
    session.ranks = options.ranks;
    const ExitStatus status = options.command->run(&session);
    session_report(&session);
    line->status = status; // set last, as memory may run out in the report
}

// If a standard stream is closed, the next file that is opened would get its descriptor and receive what is
// printed. So a descriptor that fails when it is read (standard input) or written takes its place.
static void hold_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// Threads of OpenBLAS start when it is loaded, before main. If there may be too little memory for them, the
// command starts again without them; a run sets their number later.
static void leave_library_threads(char **arguments) {
    static const char threads[] = "OPENBLAS_NUM_THREADS";
    const char *number = getenv(threads);
    if (!blas_memory_is_limited() || (number && strcmp(number, "1") == 0))
        return;
    setenv(threads, "1", 1);
    execv("/proc/self/exe", arguments);
}

int main(int argument_count, char **arguments) {
    hold_standard_streams();
    leave_library_threads(arguments);
    signal(SIGXFSZ, SIG_IGN); // writing beyond the size limit fails like writing to a full disk
    CommandLine line = {arena_create(), argument_count, arguments, EXIT_FAILED};
    if (!line.arena || !arena_attempt(line.arena, run_command, &line))
        fputs("distal: error: out of memory\n", stderr);
    arena_free(line.arena);
    return launch_exit_status(line.status);
}
