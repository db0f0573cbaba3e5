// SPDX-License-Identifier: BSD-3-Clause
// Single constructs of the language as text, such as arguments of library calls, read into a program that is
// being built.
#ifndef DISTAL_LANG_FRAGMENT_H
#define DISTAL_LANG_FRAGMENT_H

#include "lang/build.h"

// A text, and its place in the source of the builder's diagnostics.
typedef struct {
    const char *text;
    int32_t line, column; // from 1
} Fragment;

// Reads a whole program into a builder that has params only, those of `inherits` if any. NULL after a
// diagnostic. Lives in the arena of the builder.
const Program *program_read(ProgramBuilder *builder, Source source);

// The construct is the whole text. Each returns false after a diagnostic.

// "A(n, m): f64, order(1, 0)"
bool fragment_tensor(ProgramBuilder *builder, Fragment fragment);
// "A(x, y) -> M(x, y)", of a tensor in the builder.
bool fragment_placement(ProgramBuilder *builder, Fragment fragment);
// "grid(2, 2)", "node grid(2, 2), core grid(4)"
bool fragment_machine(ProgramBuilder *builder, const char *name, Fragment fragment);
// "A(i, j) = B(i, k) * C(k, j)": adds a statement. *is_one is false if the text has none, or several.
bool fragment_statement(ProgramBuilder *builder, Fragment fragment, bool *is_one);

typedef Array(Command) CommandArray;
// "split(i, io, ii, 4); unroll(ii, 4)": appends the commands. *is_all is false if something else follows
// them.
bool fragment_commands(ProgramBuilder *builder, Fragment fragment, CommandArray *commands, bool *is_all);
// An argument of a command; lists without braces.
bool fragment_argument(ProgramBuilder *builder, Fragment fragment, ArgumentKind kind, Arg *arg);

#endif
