// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.h"

#include <string.h>

Character utf8_character(const char *text, size_t size) {
    // By number of bytes: the bits that mark a first byte, and the least code that is encoded with as many.
    static const struct {
        unsigned char mask, mark;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    const unsigned char *bytes = (const unsigned char *)text;
    const Character bad = {bytes[0], 1, false};
    size_t form = 0;
    while (form < 4 && (bytes[0] & forms[form].mask) != forms[form].mark)
        form++;
    if (form == 4 || form >= size)
        return bad;
    uint32_t code = bytes[0] & (unsigned char)~forms[form].mask;
    for (size_t i = 1; i <= form; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return bad;
        code = code << 6 | (bytes[i] & 0x3f);
    }
    const bool is_surrogate = code >= 0xd800 && code < 0xe000;
    if (code < forms[form].least || code > 0x10ffff || is_surrogate)
        return bad;
    return (Character){code, (int32_t)form + 1, true};
}

// Control characters of ASCII and Latin-1, line and paragraph separators, marks of direction.
static bool is_visible(Character character) {
    static const struct {
        uint32_t first, last;
    } hidden[] = {{0, 0x1f}, {0x7f, 0x9f}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (character.code >= hidden[i].first && character.code <= hidden[i].last)
            return false;
    return character.is_valid;
}

int32_t text_append_visible_character(Text *to, const char *text, Character character) {
    static const char letters[] = "abtnvfr"; // from 7 on
    if (is_visible(character)) {
        text_append_n(to, text, (size_t)character.length);
        return 1;
    }
    const size_t before = to->length;
    if (character.code >= 7 && character.code <= 13)
        text_printf(to, "\\%c", letters[character.code - 7]);
    else
        text_printf(to, character.length == 1 ? "\\x%02x" : "\\u%04x", (unsigned)character.code);
    return (int32_t)(to->length - before);
}

void text_append_visible(Text *to, const char *text, size_t size) {
    for (size_t at = 0; at < size;) {
        const Character character = utf8_character(text + at, size - at);
        text_append_visible_character(to, text + at, character);
        at += (size_t)character.length;
    }
}

const char *visible(const char *text, Arena *arena) {
    Text shown = text_create(arena);
    text_append_visible(&shown, text, strlen(text));
    return text_string(&shown);
}

void text_append_json(Text *to, const char *text) {
    const size_t size = strlen(text);
    text_append(to, "\"");
    for (size_t at = 0; at < size;) {
        const Character character = utf8_character(text + at, size - at);
        if (!character.is_valid)
            text_append(to, "\\ufffd");
        else if (character.code == '"' || character.code == '\\')
            text_printf(to, "\\%c", (char)character.code);
        else if (!is_visible(character))
            text_printf(to, "\\u%04x", (unsigned)character.code);
        else
            text_append_n(to, text + at, (size_t)character.length);
        at += (size_t)character.length;
    }
    text_append(to, "\"");
}
