// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Text text_create(Arena *arena) {
    return (Text){.arena = arena};
}

static void reserve(Text *text, size_t more) {
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity)
        return;
    size_t capacity = text->capacity ? text->capacity * 2 : 256;
    while (capacity < needed)
        capacity *= 2;
    char *data = arena_alloc(text->arena, capacity);
    if (text->length)
        memcpy(data, text->data, text->length);
    text->data = data;
    text->capacity = capacity;
}

void text_append_n(Text *text, const char *string, size_t length) {
    reserve(text, length);
    memcpy(text->data + text->length, string, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_append(Text *text, const char *string) {
    text_append_n(text, string, strlen(string));
}

void text_printf(Text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length > 0) {
        reserve(text, (size_t)length);
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

const char *enumeration(Arena *arena, const char *const *names, int count) {
    Text text = text_create(arena);
    for (int i = 0; i < count; i++)
        text_printf(&text, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", names[i]);
    return text_string(&text);
}

void text_append_real(Text *text, double number, bool single) {
    char digits[64];
    if (isnan(number)) { // whose sign means nothing
        text_append(text, "nan");
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (single ? strtof(digits, NULL) == (float)number : strtod(digits, NULL) == number)
            break;
    }
    // "140" instead of "1.4e+02".
    const char *exponent = strchr(digits, 'e');
    const int whole_digits = exponent ? atoi(exponent + 1) + 1 : 0;
    if (whole_digits > 0 && whole_digits <= 16)
        snprintf(digits, sizeof digits, "%.*g", whole_digits, number);
    const char *point = localeconv()->decimal_point, *at = strstr(digits, point);
    if (!at) {
        text_append(text, digits);
        return;
    }
    text_append_n(text, digits, (size_t)(at - digits));
    text_append(text, ".");
    text_append(text, at + strlen(point));
}

void text_append_real_literal(Text *text, double number) {
    const size_t before = text->length;
    text_append_real(text, number, false);
    text_append(text, strpbrk(text->data + before, ".e") ? "" : ".0");
}

double text_parse_real(const char *text, const char **end) {
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", NULL);
    char *stop;
    const double number = c_locale ? strtod_l(text, &stop, c_locale) : strtod(text, &stop);
    if (c_locale)
        freelocale(c_locale);
    *end = stop;
    return number;
}

const char *text_string(const Text *text) {
    return text->data ? text->data : "";
}

void text_append_bytes(Text *text, int64_t bytes) {
    static const char *const units[] = {"MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / (1024 * 1024);
    int unit = 0;
    if (bytes < 1024 * 1024) {
        text_printf(text, "%" PRId64 " B", bytes);
        return;
    }
    for (; value >= 1024; unit++)
        value /= 1024;
    text_printf(text, "%.1f %s", value, units[unit]);
}
