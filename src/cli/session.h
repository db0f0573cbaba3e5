// SPDX-License-Identifier: BSD-3-Clause
// Session: what the commands share: the options, the program text, the pipeline, and how a command ends.
#ifndef DISTAL_CLI_SESSION_H
#define DISTAL_CLI_SESSION_H

#include "cli/options.h"

// What the process ends with.
typedef enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_WRONG = 2 } ExitStatus;

typedef struct {
    Arena *arena;
    const Options *options;
    Diagnostics *diagnostics; // of the command line and of what a run meets, not of the program
    Source source;            // once loaded
    int64_t ranks;            // 0: as many as the machine needs
    Pipeline *pipeline;       // once created
    bool reported;            // diagnostics are printed, here or by another process
    char **arguments;         // of the process, to launch it again
    int argument_count;
} Session;

// What the program is called in diagnostics.
const char *session_source_name(const Options *options);

// Reads the program text: of -e, of a file or of standard input. False with a diagnostic.
bool session_load(Session *session);

// Loads the program and runs the passes up to `last`; says how long each took where the user asks for more.
// False with diagnostics, which are not printed yet.
bool session_compile(Session *session, Pass last);
// Why: the program is wrong, or memory ran out.
ExitStatus session_failure(const Session *session);

// Prints the diagnostics there are on standard error, once. The program's end does it for all commands.
void session_report(Session *session);

// Prints on standard output. EXIT_FAILED with a diagnostic where that cannot be written.
ExitStatus session_print(Session *session, const Text *text);

#endif
