// SPDX-License-Identifier: BSD-3-Clause
// Runs a command that must not outlive this process: it has a process group of its own, which is killed when
// its time is up and when this process ends in whatever way. Nothing of the calling program is changed: no
// signal handler, no attribute.
#ifndef DISTAL_JIT_COMMAND_H
#define DISTAL_JIT_COMMAND_H

#include <stdbool.h>

typedef struct {
    int status;     // as waitpid gives it; 0 where the calling program ignores SIGCHLD and it is not known
    bool timed_out; // the command was killed because its time was up
} CommandResult;

// Starts `words` (NULL at the end) without input, its output and errors going to the file `log`, and waits
// until it has ended, `limit` seconds at most where that is not 0. False with errno where it cannot be
// started.
bool command_run(char *const *words, const char *log, double limit, CommandResult *result);

#endif
