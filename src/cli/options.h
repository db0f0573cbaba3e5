// SPDX-License-Identifier: BSD-3-Clause
// The command line: one table of commands and one of options, from which parsing and help are generated.
#ifndef DISTAL_CLI_OPTIONS_H
#define DISTAL_CLI_OPTIONS_H

#include "pipeline/pipeline.h"

typedef enum {
    COMMAND_CHECK,
    COMMAND_EXPLAIN,
    COMMAND_EMIT,
    COMMAND_PLAN,
    COMMAND_RUN,
    COMMAND_HELP,
    COMMAND_VERSION,
} CommandName;
enum { COMMAND_COUNT = 7 };

typedef enum { STATS_NONE, STATS_TEXT, STATS_JSON } StatsFormat;

// TENSOR=VALUE of --in and --out.
typedef struct {
    const char *tensor, *value;
} Binding;

typedef struct {
    CommandName command;
    const char *file;  // FILE, "-" for standard input; NULL where `text` is given
    const char *text;  // of -e
    const char *topic; // of help; NULL: everything
    Array(ParamOverride) params;
    int64_t ranks, threads; // 0: not given
    Array(Binding) inputs, outputs;
    bool check;
    int64_t repeat, warmup;
    StatsFormat stats;
    bool verbose, quiet;
    const char *output;  // of emit -o
    bool has_stop_after; // of explain
    Pass stop_after;
} Options;

// Parses the arguments after the name of the program. False with diagnostics for every mistake.
bool options_parse(Arena *arena, int count, char **arguments, Options *options, Diagnostics *diagnostics);

extern const char *const command_names[]; // by CommandName
bool command_takes_program(CommandName command);

#endif
