// SPDX-License-Identifier: BSD-3-Clause
// Runs a command that must not outlive this process: it has a process group of its own, which is killed after
// a time limit, and when this process ends in any way. Does not change signal handlers or other attributes of
// the calling program.
#ifndef DISTAL_JIT_COMMAND_H
#define DISTAL_JIT_COMMAND_H

#include <stdbool.h>

typedef struct {
    int status;     // as waitpid gives it; 0 if it is not known because the calling program ignores SIGCHLD
    bool timed_out; // the command was killed after the time limit
} CommandResult;

// Starts `words` (NULL at the end) without input and with output and errors to the file `log`, and waits
// until it has ended, at most `limit` seconds unless that is 0. False with errno if it cannot be started.
bool command_run(char *const *words, const char *log, double limit, CommandResult *result);

#endif
