// SPDX-License-Identifier: BSD-3-Clause
// distal COMMAND FILE [options]: see commands.h.
#include "cli/commands.h"
#include "cli/launch.h"
#include "runtime/blas_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
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

// Threads of OpenBLAS start when it is loaded, before main, or have their memory from then on. If there may
// be too little memory for them, the command starts again without them; a run sets their number later. Where
// the one thread has its memory then as well, and there is too little for it, OpenBLAS would look for it
// without end. This is called before libraries are initialized.
static void before_libraries(int argument_count, char **arguments, char **environment) {
    static char *const one_thread[] = {"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"};
    enum { VARIABLES = sizeof one_thread / sizeof *one_thread };
    static const char refused[] =
        "distal: error: the BLAS needs more memory when it is loaded than the process may "
        "have; raise its limits (ulimit -v, ulimit -d)\n";
    (void)argument_count;
    if (!blas_memory_is_limited())
        return;
    int count = 0, kept = 0;
    unsigned set = 0; // which of these variables have these values
    while (environment[count])
        count++;
    char *changed[count + VARIABLES + 1];
    for (int i = 0; i < count; i++) {
        bool replaced = false;
        for (int v = 0; v < VARIABLES; v++) {
            const size_t name = (size_t)(strchr(one_thread[v], '=') + 1 - one_thread[v]);
            replaced = replaced || strncmp(environment[i], one_thread[v], name) == 0;
            if (strcmp(environment[i], one_thread[v]) == 0)
                set |= 1u << v;
        }
        if (!replaced)
            changed[kept++] = environment[i];
    }
    const bool all_set = set == (1u << VARIABLES) - 1;
    if (all_set && !blas_can_load()) {
        (void)!write(STDERR_FILENO, refused, sizeof refused - 1);
        _exit(EXIT_FAILED);
    }
    if (all_set)
        return;
    for (int v = 0; v < VARIABLES; v++)
        changed[kept++] = one_thread[v];
    changed[kept] = NULL;
    execve(launch_executable(*arguments), arguments, changed);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **,
                                                                            char **) = before_libraries;

int main(int argument_count, char **arguments) {
    hold_standard_streams();
    signal(SIGXFSZ, SIG_IGN); // writing beyond the size limit fails like writing to a full disk
    CommandLine line = {arena_create(), argument_count, arguments, EXIT_FAILED};
    if (!line.arena || !arena_attempt(line.arena, run_command, &line))
        fputs("distal: error: out of memory\n", stderr);
    arena_free(line.arena);
    return launch_exit_status(line.status);
}
