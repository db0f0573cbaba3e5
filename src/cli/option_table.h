// SPDX-License-Identifier: BSD-3-Clause
// The table of options: their spelling, what they take, what help says. The commands say which they take.
#ifndef DISTAL_CLI_OPTION_TABLE_H
#define DISTAL_CLI_OPTION_TABLE_H

#include "cli/options.h"

typedef enum {
    OPTION_TEXT,
    OPTION_PARAM,
    OPTION_RANKS,
    OPTION_THREADS,
    OPTION_IN,
    OPTION_OUT,
    OPTION_CHECK,
    OPTION_REPEAT,
    OPTION_WARMUP,
    OPTION_MEMORY_LIMIT,
    OPTION_OVERSUBSCRIBE,
    OPTION_STATS,
    OPTION_OUTPUT,
    OPTION_STOP_AFTER,
    OPTION_VERBOSE,
    OPTION_QUIET,
} OptionName;
enum { OPTION_COUNT = 16 };

// What every command about a program takes.
enum {
    PROGRAM_OPTIONS = 1u << OPTION_TEXT | 1u << OPTION_PARAM | 1u << OPTION_RANKS | 1u << OPTION_VERBOSE |
                      1u << OPTION_QUIET
};

typedef struct {
    const char *short_name, *long_name; // with their dashes; NULL where there is none
    const char *value;                  // what it takes, for help; NULL: nothing
    bool value_is_optional;             // then only by `=`
    const char *summary;
} Option;

extern const Option options_table[OPTION_COUNT];

// The long name, where there is one.
const char *option_spelling(const Option *option);

#endif
