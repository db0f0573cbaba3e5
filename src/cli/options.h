// SPDX-License-Identifier: BSD-3-Clause
// The command line, parsed from the table of commands (commands.h) and that of options (option_table.h).
#ifndef DISTAL_CLI_OPTIONS_H
#define DISTAL_CLI_OPTIONS_H

#include "pipeline/pipeline.h"

typedef struct Subcommand Subcommand; // commands.h

typedef enum { STATS_NONE, STATS_TEXT, STATS_JSON } StatsFormat;

// Which elements --check compares: the default are all, of long evaluations some that are drawn.
typedef enum { CHECK_NONE, CHECK_DEFAULT, CHECK_ALL, CHECK_SAMPLE } CheckMode;

// Whether ranks of a node read each other's homes; the default depends on the command.
typedef enum { SHARED_MEMORY_DEFAULT, SHARED_MEMORY_ON, SHARED_MEMORY_OFF } SharedMemory;

// TENSOR=VALUE of --in and --out.
typedef struct {
    const char *tensor, *value;
} Binding;

typedef struct {
    const Subcommand *command;
    const char *file;  // FILE, "-" for standard input; NULL where `text` is given
    const char *text;  // of -e
    const char *topic; // of help; NULL: everything
    Array(ParamOverride) params;
    int64_t ranks, threads; // 0: not given
    Array(Binding) inputs, outputs;
    Array(const char *) printed;  // tensors, of --print
    Array(const char *) in_place; // of --in-place
    CheckMode check;
    int64_t repeat, warmup;
    int64_t memory_limit, gpu_memory_limit; // bytes a rank; 0: not given
    const char *scratch;                    // the folder of what is in disk; NULL: not given
    bool direct;                            // whose files bypass the page cache
    Pipelining pipelined;
    SharedMemory shared_memory;
    int64_t node_ranks; // that share memory at most; 0: all of a node
    bool automatic;     // placements and schedules are chosen
    bool oversubscribe; // any number of processes a core
    StatsFormat stats;
    WarningChoice warnings;
    bool verbose, quiet, help;
    const char *output;  // of emit -o
    const char *machine; // a description of a machine; NULL: not given
    bool has_stop_after; // of explain
    Pass stop_after;
    int loop_passes; // number of passes of PASS_LOOPS to run
} Options;

// Parses the arguments after the name of the program. False with diagnostics for every mistake.
bool options_parse(Arena *arena, int count, char **arguments, Options *options, Diagnostics *diagnostics);

static inline Scratch options_scratch(const Options *options) {
    return (Scratch){options->scratch, options->direct};
}

#endif
