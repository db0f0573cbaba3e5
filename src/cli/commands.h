// SPDX-License-Identifier: BSD-3-Clause
// The commands of the program, one source file each: to add one, write that file and add a line to the list
// below, which the parser and help use.
#ifndef DISTAL_CLI_COMMANDS_H
#define DISTAL_CLI_COMMANDS_H

#include "cli/option_table.h"
#include "cli/session.h"

struct Subcommand {
    const char *name;
    const char *arguments; // "FILE", for help
    const char *summary;   // one line, for help
    const char *text;      // a further paragraph for help, or NULL
    unsigned options;      // that it takes, bits 1u << OptionName; 0: it takes neither options nor a program
    ExitStatus (*run)(Session *session);
};

// In the order of help.
#define SUBCOMMANDS(ENTRY)                                                                                   \
    ENTRY(check)                                                                                             \
    ENTRY(explain)                                                                                           \
    ENTRY(emit)                                                                                              \
    ENTRY(plan)                                                                                              \
    ENTRY(schedule)                                                                                          \
    ENTRY(run)                                                                                               \
    ENTRY(calibrate)                                                                                         \
    ENTRY(help)                                                                                              \
    ENTRY(version)

#define DECLARE_SUBCOMMAND(name) extern const Subcommand subcommand_##name;
SUBCOMMANDS(DECLARE_SUBCOMMAND)
#undef DECLARE_SUBCOMMAND

// All of them, NULL at the end.
extern const Subcommand *const subcommands[];
// By name; NULL where there is none.
const Subcommand *subcommand_named(const char *name);
// "check, explain, ...": all but those that begin with a dash.
const char *subcommand_list(Arena *arena);

#endif
