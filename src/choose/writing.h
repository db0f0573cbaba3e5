// SPDX-License-Identifier: BSD-3-Clause
// Commands of a schedule as they are written: with new names for loops.
#ifndef DISTAL_CHOOSE_WRITING_H
#define DISTAL_CHOOSE_WRITING_H

#include "choose/search.h"

// Names in use: params, variables of the statement, and loops that are new; and the commands so far.
typedef struct {
    const Search *search;
    Array(const char *) names;
    Array(Command) commands;
} Writing;

void writing_use(Writing *writing, const char *name);
// A name that is not in use, and is from now on: `base` with `suffix`, and a number where that is in use.
const char *writing_loop(Writing *writing, const char *base, const char *suffix);

Arg name_arg(const char *name);
Arg list_arg(const Writing *writing, int count, const char *const *names);
// The name where there is one, else a list.
Arg names_arg(const Writing *writing, int count, const char *const *names);

void write_command(Writing *writing, const char *name, int count, const Arg *args);
// command(target, outer, inner, size)
void write_split(Writing *writing, const char *command, const char *target, const char *outer,
                 const char *inner, int64_t size);

#endif
