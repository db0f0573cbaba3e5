// SPDX-License-Identifier: BSD-3-Clause
#include "base/diagnostic.h"

#include "base/integer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Span span_join(Span first, Span last) {
    if (first.line != last.line || last.column < first.column)
        return first;
    first.length = last.column + last.length - first.column;
    return first;
}

Diagnostics *diagnostics_create(Arena *arena, Source source) {
    Diagnostics *diagnostics = arena_new(arena, Diagnostics);
    diagnostics->arena = arena;
    diagnostics->source = source;
    return diagnostics;
}

static int32_t min_i32(int32_t a, int32_t b) {
    return a < b ? a : b;
}

static bool add(Diagnostics *diagnostics, Severity severity, Span span, const char *format,
                va_list arguments) {
    char message[DIAGNOSTIC_LENGTH];
    vsnprintf(message, sizeof message, format, arguments);
    for (int64_t i = 0; i < diagnostics->list.count; i++) {
        const Diagnostic *old = &diagnostics->list.items[i];
        if (old->severity == severity && old->span.line == span.line && old->span.column == span.column &&
            severity != SEVERITY_NOTE && strcmp(old->message, message) == 0)
            return false;
    }
    Diagnostic diagnostic = {severity, span, arena_string(diagnostics->arena, message, strlen(message))};
    array_push(diagnostics->arena, diagnostics->list, diagnostic);
    return true;
}

bool diagnostics_error(Diagnostics *diagnostics, Span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (add(diagnostics, SEVERITY_ERROR, span, format, arguments))
        diagnostics->errors++;
    va_end(arguments);
    return false;
}

void diagnostics_note(Diagnostics *diagnostics, Span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(diagnostics, SEVERITY_NOTE, span, format, arguments);
    va_end(arguments);
}

// The line with a caret below; of a very long line only what is near the caret.
static void print_source_line(const char *source, Span span, Text *to) {
    enum { SHOWN = 160, BEFORE = 60 };
    const char *line = source;
    for (int32_t n = 1; n < span.line; n++) {
        line = strchr(line, '\n');
        if (!line)
            return;
        line++;
    }
    int32_t length = (int32_t)strcspn(line, "\r\n"), column = span.column;
    if (length > SHOWN) {
        int32_t first = column > BEFORE ? min_i32(column - BEFORE, length - SHOWN + 1) : 1;
        line += first - 1;
        column -= first - 1;
        length = min_i32(length - (first - 1), SHOWN);
    }
    text_printf(to, "%4d | %.*s\n     | ", span.line, (int)length, line);
    for (int32_t i = 1; i < column; i++)
        text_append(to, i <= length && line[i - 1] == '\t' ? "\t" : " ");
    text_append(to, "^");
    for (int32_t i = 1; i < span.length && column + i <= length; i++)
        text_append(to, "~");
    text_append(to, "\n");
}

static void print_one(const Diagnostics *diagnostics, const Diagnostic *diagnostic, Text *to) {
    static const char *const severity[] = {"error", "note"};
    text_append(to, diagnostics->source.name);
    if (diagnostic->span.line > 0)
        text_printf(to, ":%d:%d", diagnostic->span.line, diagnostic->span.column);
    text_printf(to, ": %s: %s\n", severity[diagnostic->severity], diagnostic->message);
    if (diagnostic->span.line > 0 && diagnostics->source.text)
        print_source_line(diagnostics->source.text, diagnostic->span, to);
}

void diagnostics_sort(Diagnostics *diagnostics) {
    // Insertion sort of the groups (a diagnostic and its notes) by place: few items, and stable.
    Array(int64_t) order = {0};
    const Diagnostic *list = diagnostics->list.items;
    const int64_t count = diagnostics->list.count;
    if (count < 2)
        return;
    for (int64_t i = 0; i < count; i++) {
        if (list[i].severity == SEVERITY_NOTE && i > 0)
            continue;
        array_push(diagnostics->arena, order, i);
        for (int64_t k = order.count - 1; k > 0; k--) {
            Span a = list[order.items[k - 1]].span, b = list[order.items[k]].span;
            if (a.line < b.line || (a.line == b.line && a.column <= b.column))
                break;
            int64_t swap = order.items[k];
            order.items[k] = order.items[k - 1];
            order.items[k - 1] = swap;
        }
    }
    Diagnostic *sorted = arena_array(diagnostics->arena, Diagnostic, count);
    int64_t n = 0;
    for (int64_t k = 0; k < order.count; k++) {
        int64_t i = order.items[k];
        do
            sorted[n++] = list[i++];
        while (i < count && list[i].severity == SEVERITY_NOTE);
    }
    diagnostics->list.items = sorted;
    diagnostics->list.capacity = count;
}

void diagnostics_print(Diagnostics *diagnostics, Text *to) {
    diagnostics_sort(diagnostics);
    for (int64_t i = 0; i < diagnostics->list.count; i++)
        print_one(diagnostics, &diagnostics->list.items[i], to);
}

static int64_t edit_distance(const char *a, const char *b) {
    enum { LONGEST = 63 };
    int64_t row[LONGEST + 1], n = (int64_t)strlen(b);
    if (n > LONGEST || strlen(a) > LONGEST)
        return INT64_MAX;
    for (int64_t j = 0; j <= n; j++)
        row[j] = j;
    for (int64_t i = 1; *a; a++, i++) {
        int64_t diagonal = row[0];
        row[0] = i;
        for (int64_t j = 1; j <= n; j++) {
            int64_t replaced = diagonal + (*a != b[j - 1]);
            diagonal = row[j];
            row[j] = min_i64(replaced, 1 + min_i64(row[j], row[j - 1]));
        }
    }
    return row[n];
}

const char *closest_name(const char *name, const char *const *candidates, int64_t count) {
    const char *best = NULL;
    int64_t best_distance = max_i64(1, ((int64_t)strlen(name) + 1) / 3);
    for (int64_t i = 0; i < count; i++) {
        int64_t distance = edit_distance(name, candidates[i]);
        if (distance <= best_distance && distance < (int64_t)strlen(name)) {
            if (!best || distance < best_distance)
                best = candidates[i];
            best_distance = distance;
        }
    }
    return best;
}

const char *did_you_mean(Arena *arena, const char *name, const char *const *candidates, int64_t count) {
    const char *closest = closest_name(name, candidates, count);
    return closest ? arena_printf(arena, "; did you mean '%s'?", closest) : "";
}
