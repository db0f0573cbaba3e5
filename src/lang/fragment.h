// SPDX-License-Identifier: BSD-3-Clause
// Single constructs of the language as text, each read once into a program that is being built: what a call
// of the library is given where the language has a notation for it.
#ifndef DISTAL_LANG_FRAGMENT_H
#define DISTAL_LANG_FRAGMENT_H

#include "lang/build.h"

// A text, and where it stands in the source of the builder's diagnostics.
typedef struct {
    const char *text;
    int32_t line, column; // from 1
} Fragment;

// Reads a whole program into a builder that has params only, those of `inherits` if any. NULL after a
// diagnostic. Lives in the arena of the builder.
const Program *program_read(ProgramBuilder *builder, Source source);

// All of the text has to be the construct. Each returns false after a diagnostic.

// "A(n, m): f64, order(1, 0)"
bool fragment_tensor(ProgramBuilder *builder, Fragment fragment);
// "A(x, y) -> M(x, y)", of the tensor that the builder has.
bool fragment_placement(ProgramBuilder *builder, Fragment fragment);
// "grid(2, 2)", "node grid(2, 2), core grid(4)"
bool fragment_machine(ProgramBuilder *builder, const char *name, Fragment fragment);
// "A(i, j) = B(i, k) * C(k, j)": one statement more. *is_one is false where the text has none, or more.
bool fragment_statement(ProgramBuilder *builder, Fragment fragment, bool *is_one);

typedef Array(Command) CommandArray;
// "split(i, io, ii, 4); unroll(ii, 4)": appended. *is_all is false where something else follows them.
bool fragment_commands(ProgramBuilder *builder, Fragment fragment, CommandArray *commands, bool *is_all);
// An argument of a command. Lists are without braces.
bool fragment_argument(ProgramBuilder *builder, Fragment fragment, ArgumentKind kind, Arg *arg);

#endif
