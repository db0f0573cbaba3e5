// SPDX-License-Identifier: BSD-3-Clause
// Text from outside (programs, file names, headers of files) made safe to print: escape sequences in it must
// not reach a terminal, and JSON has to be valid UTF-8.
#ifndef DISTAL_BASE_UTF8_H
#define DISTAL_BASE_UTF8_H

#include "base/text.h"

#include <stdint.h>

typedef struct {
    uint32_t code;  // of the character; of a byte that is not UTF-8, the byte
    int32_t length; // in bytes
    bool is_valid;  // UTF-8
} Character;

// The first character of a text of `size` > 0 bytes.
Character utf8_character(const char *text, size_t size);

// Appends a character: a printable one as it is; bytes that are not UTF-8 and characters that control the
// terminal or the direction of writing as escapes ("\t", "\x1b", "\u202e"). Returns its number of columns.
int32_t text_append_visible_character(Text *to, const char *text, Character character);
void text_append_visible(Text *to, const char *text, size_t size);
// The same text, as a string of `arena`.
const char *visible(const char *text, Arena *arena);

// Appends a JSON string with its quotes. A byte that is not UTF-8 becomes U+FFFD.
void text_append_json(Text *to, const char *text);

#endif
