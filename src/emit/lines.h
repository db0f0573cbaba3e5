// SPDX-License-Identifier: BSD-3-Clause
// Lines of C: indented, and broken where they are too long.
#ifndef DISTAL_EMIT_LINES_H
#define DISTAL_EMIT_LINES_H

#include "base/text.h"

typedef struct {
    Arena *arena;
    Text *to;
    int indent;
} Lines;

// One line at the current indentation.
void emit_line(Lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same, and what follows is in its braces (the line ends with '{').
void emit_open(Lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
void emit_close(Lines *lines);
// Text as comment lines.
void emit_comment(Lines *lines, const char *text);

#endif
