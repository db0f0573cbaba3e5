// SPDX-License-Identifier: BSD-3-Clause
// Supervision of a launcher: it runs in a process group of its own, and when it ends badly or this process is
// interrupted or killed, everything that it has started on this machine ends with it.
#ifndef DISTAL_CLI_SUPERVISE_H
#define DISTAL_CLI_SUPERVISE_H

#include <stdbool.h>

typedef struct {
    int status;         // of the launcher, as waitpid gives it
    int interrupted_by; // the signal that asked this process to end; 0: none
} Supervised;

// Runs the command `words` (NULL at the end) with these file descriptors as standard input and output, and
// waits for it. After SIGINT, SIGTERM or SIGHUP the launcher is asked to end its processes; a few seconds
// later all that are left are killed, those that it was still starting included. Returns when none is left;
// the files `leftovers` (paths, NULL at the end) have then been removed, also where this process is killed.
// False with errno where the command cannot be started. Changes the handlers of these signals and of SIGALRM:
// to be called once.
bool supervise(char *const *words, int input, int output, const char *const *leftovers,
               Supervised *supervised);

#endif
