// SPDX-License-Identifier: BSD-3-Clause
#include "base/diagnostic.h"

#include "base/integer.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
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

// Adds a message without characters that need escapes. False if there is an equal one.
static bool add(Diagnostics *diagnostics, Severity severity, Span span, const char *message) {
    for (int64_t i = 0; i < diagnostics->list.count; i++) {
        const Diagnostic *old = &diagnostics->list.items[i];
        if (old->severity == severity && old->span.line == span.line && old->span.column == span.column &&
            severity != SEVERITY_NOTE && strcmp(old->message, message) == 0)
            return false;
    }
    Diagnostic diagnostic = {severity, span, arena_string(diagnostics->arena, message, strlen(message))};
    array_push(diagnostics->arena, diagnostics->list, diagnostic);
    diagnostics->errors += severity == SEVERITY_ERROR;
    diagnostics->warnings += severity == SEVERITY_WARNING;
    return true;
}

// Control characters in names are shown as escapes, and so are newlines, unless the format has them (the
// output of a compiler).
static const char *shown(const char *message, bool has_lines, Arena *arena) {
    Text text = text_create(arena);
    for (size_t size = strlen(message); size > 0;) {
        const Character character = utf8_character(message, size);
        const size_t before = text.length;
        if (has_lines && character.code == '\n')
            text_append(&text, "\n");
        else
            text_append_visible_character(&text, message, character);
        if (text.length >= DIAGNOSTIC_LENGTH) {
            text.data[before] = '\0';
            break;
        }
        message += character.length;
        size -= (size_t)character.length;
    }
    return text_string(&text);
}

static void add_formatted(Diagnostics *diagnostics, Severity severity, Span span, const char *format,
                          va_list arguments) {
    char message[DIAGNOSTIC_LENGTH];
    vsnprintf(message, sizeof message, format, arguments);
    add(diagnostics, severity, span, shown(message, strchr(format, '\n'), diagnostics->arena));
}

bool diagnostics_error(Diagnostics *diagnostics, Span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_formatted(diagnostics, SEVERITY_ERROR, span, format, arguments);
    va_end(arguments);
    return false;
}

void diagnostics_note(Diagnostics *diagnostics, Span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_formatted(diagnostics, SEVERITY_NOTE, span, format, arguments);
    va_end(arguments);
}

bool diagnostics_warning(Diagnostics *diagnostics, Warning warning, Span span, const char *format, ...) {
    const unsigned bit = 1u << warning;
    if (diagnostics->choice.off & bit)
        return false;
    char message[DIAGNOSTIC_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const bool is_error = diagnostics->choice.errors & bit;
    const char *whole = arena_printf(diagnostics->arena, "%s [%s%s]", message, is_error ? "-Werror=" : "-W",
                                     warning_table[warning].name);
    return add(diagnostics, is_error ? SEVERITY_ERROR : SEVERITY_WARNING, span,
               shown(whole, false, diagnostics->arena));
}

void diagnostics_repeat_error(Diagnostics *diagnostics, Span span, const char *message) {
    add(diagnostics, SEVERITY_ERROR, span, message);
}

// The line after the one that begins here; NULL where there is none. Lines end as in the language: with LF,
// CR LF or CR.
static const char *next_line(const char *line) {
    line += strcspn(line, "\r\n");
    if (!*line)
        return NULL;
    return line + (line[0] == '\r' && line[1] == '\n' ? 2 : 1);
}

// The line with a caret below; of a very long line only the part around the caret.
static void print_source_line(const char *source, Span span, Text *to) {
    enum { SHOWN = 160, BEFORE = 60 };
    const char *line = source;
    for (int32_t n = 1; n < span.line && line; n++)
        line = next_line(line);
    if (!line)
        return;
    int32_t first = 1, length = (int32_t)strcspn(line, "\r\n"), end = length;
    if (length > SHOWN) {
        first = span.column > BEFORE ? min_i32(span.column - BEFORE, length - SHOWN + 1) : 1;
        while (first < length && (line[first - 1] & 0xc0) == 0x80)
            first++; // within a character
        end = min_i32(first - 1 + SHOWN, length);
    }
    Text marks = text_create(to->arena);
    text_printf(to, "%4d | ", span.line);
    for (int32_t at = first - 1; at < end;) {
        const Character character = utf8_character(line + at, (size_t)(end - at));
        const bool is_tab = line[at] == '\t', is_before = at + character.length < span.column;
        if (is_tab)
            text_append(to, "\t");
        int32_t width = is_tab ? 1 : text_append_visible_character(to, line + at, character);
        const char *mark = is_before ? (is_tab ? "\t" : " ") : at < span.column + span.length - 1 ? "~" : "";
        if (!is_before && at < span.column) {
            text_append(&marks, "^");
            width--;
        }
        for (int32_t i = 0; i < width; i++)
            text_append(&marks, mark);
        at += character.length;
    }
    if (span.column > end)
        text_append(&marks, "^");
    text_printf(to, "\n     | %s\n", text_string(&marks));
}

static void print_one(const Diagnostics *diagnostics, const Diagnostic *diagnostic, Text *to) {
    static const char *const severity[] = {"error", "warning", "note"};
    text_append_visible(to, diagnostics->source.name, strlen(diagnostics->source.name));
    if (diagnostic->span.line > 0)
        text_printf(to, ":%d:%d", diagnostic->span.line, diagnostic->span.column);
    text_printf(to, ": %s: %s\n", severity[diagnostic->severity], diagnostic->message);
    if (diagnostic->span.line > 0 && diagnostics->source.text)
        print_source_line(diagnostics->source.text, diagnostic->span, to);
}

// By place in the source, each note after its error or warning.
static void sort(Diagnostics *diagnostics) {
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
    sort(diagnostics);
    for (int64_t i = 0; i < diagnostics->list.count; i++)
        print_one(diagnostics, &diagnostics->list.items[i], to);
}

// Letters that are inserted, removed, replaced, or exchanged with their neighbour.
static int64_t edit_distance(const char *a, const char *b) {
    enum { LONGEST = 63 };
    const int64_t m = (int64_t)strlen(a), n = (int64_t)strlen(b);
    if (m > LONGEST || n > LONGEST)
        return INT64_MAX;
    int64_t rows[3][LONGEST + 1]; // of the prefixes of `a` with i, i - 1 and i - 2 letters, each at i % 3
    for (int64_t i = 0; i <= m; i++) {
        int64_t *row = rows[i % 3];
        const int64_t *above = rows[(i + 2) % 3], *above_that = rows[(i + 1) % 3];
        row[0] = i;
        for (int64_t j = 1; j <= n; j++) {
            if (i == 0) {
                row[j] = j;
                continue;
            }
            row[j] = min_i64(above[j - 1] + (a[i - 1] != b[j - 1]), 1 + min_i64(above[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min_i64(row[j], above_that[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

// The candidate that `name` was probably meant to be; NULL where none is close to it.
static const char *closest_name(const char *name, const char *const *candidates, int64_t count) {
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

const char *did_you_mean(Arena *arena, const char *name, const char *label, const char *const *candidates,
                         int64_t count) {
    enum { MOST = 16 };
    const char *closest = closest_name(name, candidates, count);
    if (closest)
        return arena_printf(arena, "; did you mean '%s'?", closest);
    if (!label)
        return "";
    Text list = text_create(arena);
    text_printf(&list, " (%s:%s", label, count == 0 ? " none" : "");
    for (int64_t i = 0; i < count && i < MOST; i++)
        text_printf(&list, " %s", candidates[i]);
    text_append(&list, count > MOST ? " ...)" : ")");
    return text_string(&list);
}
