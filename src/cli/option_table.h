// SPDX-License-Identifier: BSD-3-Clause
// The table of options: spelling, value, help, and the function that sets it. Commands list the options that
// they take. To add one, add its name below, a row to the table, and a field to Options.
#ifndef DISTAL_CLI_OPTION_TABLE_H
#define DISTAL_CLI_OPTION_TABLE_H

#include "cli/options.h"

#include <stddef.h>

typedef enum {
    OPTION_TEXT,
    OPTION_PARAM,
    OPTION_RANKS,
    OPTION_THREADS,
    OPTION_IN,
    OPTION_OUT,
    OPTION_IN_PLACE,
    OPTION_PRINT,
    OPTION_CHECK,
    OPTION_REPEAT,
    OPTION_WARMUP,
    OPTION_MEMORY_LIMIT,
    OPTION_GPU_MEMORY_LIMIT,
    OPTION_SCRATCH,
    OPTION_DIRECT,
    OPTION_PIPELINE,
    OPTION_SHARED_MEMORY,
    OPTION_MACHINE,
    OPTION_AUTO,
    OPTION_OVERSUBSCRIBE,
    OPTION_STATS,
    OPTION_OUTPUT,
    OPTION_STOP_AFTER,
    OPTION_WARNING,
    OPTION_VERBOSE,
    OPTION_QUIET,
    OPTION_HELP, // of every command
    OPTION_COUNT
} OptionName;

// Options of every command that takes a program.
enum {
    PROGRAM_OPTIONS = 1u << OPTION_TEXT | 1u << OPTION_PARAM | 1u << OPTION_RANKS | 1u << OPTION_VERBOSE |
                      1u << OPTION_QUIET | 1u << OPTION_HELP
};

typedef struct Option Option;

// An option on the command line.
typedef struct {
    Arena *arena;
    const Option *option;
    Options *options; // to be set
    Diagnostics *diagnostics;
} OptionUse;

struct Option {
    const char *short_name, *long_name; // with their dashes; NULL where there is none
    const char *value;                  // name of its value in help; NULL: it takes none
    bool value_is_optional;             // it is then given with `=` only
    const char *summary;                // "{}" stands for the result of `list`, if that is not NULL
    const char *(*list)(Arena *arena);
    // Sets the fields of Options; `value` is NULL where there is none. False with a diagnostic.
    bool (*set)(const OptionUse *use, const char *value);
    size_t field;        // of Options: a bool for a flag, an int64_t for a count
    int64_t least, most; // of a count
};

extern const Option options_table[OPTION_COUNT];

// The long name, where there is one.
const char *option_spelling(const Option *option);
// The summary with "{}" replaced.
const char *option_summary(const Option *option, Arena *arena);

#endif
