// SPDX-License-Identifier: BSD-3-Clause
// Diagnostics: what is wrong in a program, where, and what would be right, collected as values.
// Nothing in the library prints them; diagnostics_print writes them as text in the manner of a compiler.
#ifndef DISTAL_BASE_DIAGNOSTIC_H
#define DISTAL_BASE_DIAGNOSTIC_H

#include "base/arena.h"
#include "base/text.h"
#include "base/warning.h"

#include <stdbool.h>

// A place in a source text: 1-based line and column (bytes), and length in bytes within that line.
// Line 0: no place (a mistake on the command line, or in calls).
typedef struct {
    int32_t line, column, length;
} Span;

// The smallest span that covers both, which follow each other on one line; `first` if they are on different
// lines.
Span span_join(Span first, Span last);

// A program text and its name in diagnostics (a file name, "<command line>", "<stdin>").
typedef struct {
    const char *name;
    const char *text;
} Source;

enum { DIAGNOSTIC_LENGTH = 1024 }; // of a message, with its final 0; longer ones are cut

typedef enum { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE } Severity;

typedef struct {
    Severity severity;
    Span span;
    const char *message;
} Diagnostic;

// The diagnostics of one compilation. A note belongs to the error or the warning before it.
typedef struct {
    Arena *arena;
    Source source;
    WarningChoice choice;     // which warnings there are
    int64_t errors, warnings; // numbers of items with these severities
    Array(Diagnostic) list;
} Diagnostics;

Diagnostics *diagnostics_create(Arena *arena, Source source);

// Adds a diagnostic; the message is a clause without a final full stop. Returns false, so that a failing
// check can end with `return diagnostics_error(...)`. The same message at the same place is kept once.
// Control characters and bytes that are not UTF-8, which come from names, become escapes (utf8.h).
bool diagnostics_error(Diagnostics *diagnostics, Span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diagnostics_note(Diagnostics *diagnostics, Span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The same of a warning, unless it is switched off; its name follows the message. Where warnings are errors,
// it is one. Returns whether there is one that notes may follow.
bool diagnostics_warning(Diagnostics *diagnostics, Warning warning, Span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Adds an error that other diagnostics have, such as those of another rank, with the same message.
void diagnostics_repeat_error(Diagnostics *diagnostics, Span span, const char *message);

// Sorts and prints all of them:
//   summa.distal:21:11: error: cannot reorder: 'kx' is not a loop of this statement (loops: io jo k ii ji)
//     21 |   reorder({kx, ii, ji, ki})
//        |            ^~
void diagnostics_print(Diagnostics *diagnostics, Text *to);

// For the end of a message about an unknown name: "; did you mean 'x'?" where one of the candidates has a
// small edit distance to it; else " (LABEL: x y z)", or "" where `label` is NULL.
const char *did_you_mean(Arena *arena, const char *name, const char *label, const char *const *candidates,
                         int64_t count);

#endif
