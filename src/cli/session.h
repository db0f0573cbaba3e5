// SPDX-License-Identifier: BSD-3-Clause
// Session: the state that commands share (options, program text, pipeline, diagnostics), and exit statuses.
#ifndef DISTAL_CLI_SESSION_H
#define DISTAL_CLI_SESSION_H

#include "cli/options.h"

// Exit statuses.
typedef enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_WRONG = 2 } ExitStatus;

typedef struct {
    Arena *arena;
    const Options *options;
    Diagnostics *diagnostics; // of the command line and of a run; those of the program are in the pipeline
    Source source;            // once loaded
    int64_t ranks;            // 0: as many as the machine needs
    Pipeline *pipeline;       // once created
    bool failed;              // by an input or for lack of memory: the program is not wrong
    bool reported;            // diagnostics have been printed, here or by another process
    bool warned;              // so have warnings of the program
    char **arguments;         // of the process, to launch it again
    int argument_count;
} Session;

// The name of the program in diagnostics.
const char *session_source_name(const Options *options);

// The text of a file, NULL with a diagnostic.
const char *session_read(const Session *session, const char *path);

// Reads the program text: of -e, of a file or of standard input. False with a diagnostic.
bool session_load(Session *session);

// Loads the program and runs the passes up to `last`; with -v, prints their times. False with diagnostics,
// which are not printed yet.
bool session_compile(Session *session, Pass last);
// Chooses whether the plan uses GPU-aware MPI (runtime/gpu_messages.h), where a GPU executes some statement:
// `between_ranks` for the ranks of a run, which all call this, else for ranks that are not started. After
// PASS_SPMD. False with a diagnostic.
bool session_choose_gpu_messages(Session *session, bool between_ranks);
// The exit status after something before the run has failed: the program is wrong, or an input is, or memory
// has run out.
ExitStatus session_failure(const Session *session);

// Prints the warnings of a planned program on standard error, once. False where one of them is an error.
bool session_warn(Session *session);
// Diagnostics of the program for warnings, as the options say; prints them on standard error, with -q only
// errors. False where one of them is an error.
Diagnostics *session_warnings(const Session *session);
bool session_print_warnings(const Session *session, Diagnostics *warnings);

// Prints diagnostics of another text than the program, on standard error.
void session_print_errors(const Session *session, Diagnostics *diagnostics);

// Prints all diagnostics on standard error, once. Called at the end of every command.
void session_report(Session *session);

// Prints on standard output. EXIT_FAILED with a diagnostic where that fails.
ExitStatus session_print(Session *session, const Text *text);

#endif
