// SPDX-License-Identifier: BSD-3-Clause
// Help from the tables of commands, options, schedule commands and topics: as text, as a page for man(1), and
// as a script for bash.
#ifndef DISTAL_CLI_HELP_H
#define DISTAL_CLI_HELP_H

#include "cli/commands.h"

// A line of a table: what, and a summary beside it.
void help_row(const char *what, const char *summary, Text *to);
// "-n, --ranks N"
const char *help_option(const Option *option, Arena *arena);
// Whether the command is a word, not one such as --version.
bool help_is_word(const Subcommand *command);

// What `distal help NAME` prints for other programs.
typedef struct {
    const char *name, *summary;
    void (*print)(Text *to);
} HelpOutput;
extern const HelpOutput help_outputs[]; // NULL names at the end

void manual_print(Text *to);     // roff, for man(1)
void completion_print(Text *to); // a script for bash

#endif
