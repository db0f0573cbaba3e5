// SPDX-License-Identifier: BSD-3-Clause
#include "emit/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 110, INDENT = 4 };

// The blank at which `line` is best broken so that at most `room` bytes stay, 0 where there is none: outside
// of brackets rather than inside, after a comma rather than elsewhere, as far right as possible.
static size_t break_at(const char *line, size_t room) {
    size_t best = 0;
    int depth = 0, best_cost = 0;
    for (size_t i = 1; i <= room && line[i]; i++) {
        depth += line[i] == '(' || line[i] == '[';
        depth -= line[i] == ')' || line[i] == ']';
        int cost = 2 * depth + (line[i - 1] != ',');
        if ((i < room / 3 || best < room / 3 || cost <= best_cost) && line[i] == ' ') {
            best = i;
            best_cost = cost;
        }
    }
    return best;
}

static void write_line(Lines *lines, const char *line) {
    int indent = lines->indent * INDENT;
    bool is_pragma = line[0] == '#', is_comment = line[0] == '/';
    const char *continued = is_comment ? "// " : "";
    for (bool first = true;; first = false) {
        int left = is_pragma ? (first ? 0 : 2 * INDENT) : indent + (first || is_comment ? 0 : 2 * INDENT);
        size_t used = (size_t)left + (first ? 0 : strlen(continued)) + (is_pragma ? 2 : 0);
        size_t room = used < COLUMNS ? COLUMNS - used : 0;
        size_t length = strlen(line) <= room ? 0 : break_at(line, room);
        text_printf(lines->to, "%*s%s", left, "", first ? "" : continued);
        if (length == 0) {
            text_printf(lines->to, "%s\n", line);
            return;
        }
        text_append_n(lines->to, line, length);
        text_append(lines->to, is_pragma ? " \\\n" : "\n");
        line += length + 1;
    }
}

static const char *formatted(Lines *lines, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *line = arena_alloc(lines->arena, (size_t)(length > 0 ? length : 0) + 1);
    vsnprintf(line, (size_t)length + 1, format, arguments);
    return line;
}

void emit_line(Lines *lines, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *line = formatted(lines, format, arguments);
    va_end(arguments);
    write_line(lines, line);
}

void emit_open(Lines *lines, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *line = formatted(lines, format, arguments);
    va_end(arguments);
    write_line(lines, line);
    lines->indent++;
}

void emit_close(Lines *lines) {
    lines->indent--;
    write_line(lines, "}");
}

void emit_comment(Lines *lines, const char *text) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *line = arena_string(lines->arena, text, length);
        // A backslash at the end of a line would draw the next one into the comment.
        emit_line(lines, "//%s%s%s", length ? " " : "", line, length && line[length - 1] == '\\' ? "." : "");
        text += length + (text[length] == '\n');
    }
}
