// SPDX-License-Identifier: BSD-3-Clause
// Text: a string that grows, in an arena. Every printer of the compiler writes into one.
#ifndef DISTAL_BASE_TEXT_H
#define DISTAL_BASE_TEXT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    Arena *arena;
    char *data; // NUL-terminated; NULL while empty (text_string gives "" then)
    size_t length, capacity;
} Text;

Text text_create(Arena *arena);
void text_append(Text *text, const char *string);
void text_append_n(Text *text, const char *string, size_t length);
void text_printf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Appends the fewest digits that are read back as the same number, or as the same float if `single`: "140",
// "0.1", "1e-30", "inf", "nan". Does not depend on the locale.
void text_append_real(Text *text, double number, bool single);
// The same with a point or an exponent, so that it is read back as a real number: "140.0".
void text_append_real_literal(Text *text, double number);
// The number at the beginning of a text, as strtod reads it in the C locale; *end points behind it. Does not
// depend on the locale.
double text_parse_real(const char *text, const char **end);
// "x", "x and y", "x, y and z".
const char *enumeration(Arena *arena, const char *const *names, int count);
// Appends "1234 B", or from 1 MiB on "1.9 MiB", "2.0 GiB".
void text_append_bytes(Text *text, int64_t bytes);
const char *text_string(const Text *text);

#endif
