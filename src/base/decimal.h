// SPDX-License-Identifier: BSD-3-Clause
// Decimal numbers in text, read and written fast: in the C locale, whatever the caller's, and correctly
// rounded. What integers of 128 bits cannot do exactly is left to the C library.
#ifndef DISTAL_BASE_DECIMAL_H
#define DISTAL_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { DECIMAL_NONE, DECIMAL_FINE, DECIMAL_TOO_LARGE } DecimalStatus;

// Both read the number at the beginning of a text, which has no white space before it, and set *end to what
// follows. The text ends with a character that is in no number, such as a newline. DECIMAL_NONE: there is
// none, and *end is `text`.

// Digits with an optional sign. DECIMAL_TOO_LARGE: not in 64 bits.
DecimalStatus decimal_integer(const char *text, const char **end, int64_t *value);
// The nearest double, or, with `single`, the nearest float; "inf", "infinity" and "nan" in letters of any
// case. DECIMAL_TOO_LARGE: its absolute value rounds to more than the largest one.
DecimalStatus decimal_real(const char *text, const char **end, bool single, double *value);

enum { DECIMAL_LENGTH = 32 }; // of what is written

// Write a number without a final 0, so that it reads back as the same bits (but those of a nan), in 17 (9)
// digits at most and mostly as few as there can be. Return the length.
int decimal_write_integer(char *to, int64_t value);
int decimal_write_real(char *to, double value, bool single);

#endif
