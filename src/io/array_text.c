// SPDX-License-Identifier: BSD-3-Clause
#include "io/array_text.h"

#include "base/integer.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_DIGITS = 8,     // after the point
    LINE_WIDTH = 75,     // columns
    MOST_SHOWN = 10000,  // elements of an array that is shown in part
    LARGEST_EDGE = 3,    // coordinates that are shown at each end of a mode
    WHOLE_LENGTH = 24,   // of what stands before a point, with its sign
    MOST_COMPONENTS = 2, // of a complex number
};

static int64_t volume(int order, const int64_t *extents) {
    int64_t elements = 1;
    for (int d = 0; d < order; d++)
        elements = saturated_mul(elements, extents[d]);
    return elements;
}

static void set_edge(ShownArray *array, int64_t edge) {
    array->edge = edge;
    for (int d = 0; d < array->order; d++)
        array->shown[d] = edge > 0 ? min_i64(array->extents[d], 2 * edge) : array->extents[d];
}

ShownArray shown_array(ElementType type, int order, const int64_t *extents) {
    ShownArray array = {.type = type, .order = order};
    memcpy(array.extents, extents, sizeof(int64_t) * (size_t)order);
    bool is_empty = false;
    for (int d = 0; d < order; d++)
        is_empty = is_empty || extents[d] == 0;
    set_edge(&array, 0);
    if (is_empty || volume(order, extents) <= SHOWN_WHOLE)
        return array;
    set_edge(&array, LARGEST_EDGE);
    while (array.edge > 1 && volume(order, array.shown) > MOST_SHOWN)
        set_edge(&array, array.edge - 1);
    return array;
}

static bool is_shortened(const ShownArray *array, int mode) {
    return array->shown[mode] < array->extents[mode];
}

int shown_intervals(const ShownArray *array, int mode) {
    return is_shortened(array, mode) ? 2 : 1;
}

void shown_interval(const ShownArray *array, int mode, int index, int64_t *lo, int64_t *hi, int64_t *first) {
    const int64_t extent = array->extents[mode], edge = array->edge;
    *lo = index == 0 ? 0 : extent - edge;
    *hi = is_shortened(array, mode) && index == 0 ? edge : extent;
    *first = index * edge;
}

// A number in digits: those before the point, with the sign, and those behind it.
typedef struct {
    char whole[WHOLE_LENGTH], fraction[MOST_DIGITS + 1];
    int exponent;
} Digits;

static bool is_same(const char *text, double value, bool single) {
    return single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

// With `count` digits behind the point.
static Digits digits_of(double value, bool scientific, int count) {
    char text[64];
    snprintf(text, sizeof text, scientific ? "%.*e" : "%.*f", count, value);
    Digits digits = {.exponent = 0};
    size_t length = 0, fraction = 0;
    const char *at = text;
    for (; *at == '-' || isdigit((unsigned char)*at); at++)
        if (length + 1 < sizeof digits.whole)
            digits.whole[length++] = *at;
    for (; *at && *at != 'e'; at++) // whatever the locale has for a point
        if (isdigit((unsigned char)*at) && fraction < MOST_DIGITS)
            digits.fraction[fraction++] = *at;
    if (*at == 'e')
        digits.exponent = atoi(at + 1);
    return digits;
}

// With the fewest digits that are read back as the same number, at most MOST_DIGITS, without a final 0.
static Digits shortest_digits(double value, bool single, bool scientific) {
    char text[64];
    int count = 0;
    do {
        snprintf(text, sizeof text, scientific ? "%.*e" : "%.*f", count, value);
    } while (!is_same(text, value, single) && ++count < MOST_DIGITS);
    Digits digits = digits_of(value, scientific, count);
    for (size_t last = strlen(digits.fraction); last > 0 && digits.fraction[last - 1] == '0'; last--)
        digits.fraction[last - 1] = '\0';
    return digits;
}

// How all numbers of a component are written, so that their points are below each other.
typedef struct {
    bool single, scientific;
    bool plus;       // the sign of a positive number is written
    int left, right; // columns before and behind the point
    int precision;   // digits behind the point, at most
    int exponent;    // digits
} RealFormat;

// The component of element `e`.
static double component(const ShownArray *array, const void *values, int64_t e, int which) {
    const bool single = type_component(array->type) == TYPE_F32;
    const int64_t at = type_info(array->type)->is_complex ? 2 * e + which : e;
    return single ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

// Large or small numbers, or both, are written with an exponent.
static bool needs_exponent(const ShownArray *array, const void *values, int64_t count, int which) {
    double most = 0, least = INFINITY;
    for (int64_t e = 0; e < count; e++) {
        const double size = fabs(component(array, values, e, which));
        if (!isfinite(size) || size == 0)
            continue;
        most = fmax(most, size);
        least = fmin(least, size);
    }
    return most > 0 && (most >= 1e8 || least < 1e-4 || most / least > 1000);
}

static int max_int(int a, int b) {
    return a > b ? a : b;
}

static RealFormat find_format(const ShownArray *array, const void *values, int64_t count, int which) {
    RealFormat format = {.single = type_component(array->type) == TYPE_F32,
                         .scientific = needs_exponent(array, values, count, which),
                         .plus = which > 0,
                         .left = 1,
                         .exponent = 2};
    int fraction = 0, special = 0;
    for (int64_t e = 0; e < count; e++) {
        const double value = component(array, values, e, which);
        if (isnan(value)) {
            special = max_int(special, 3);
        } else if (isinf(value)) {
            special = max_int(special, format.plus || value < 0 ? 4 : 3);
        } else {
            const Digits digits = shortest_digits(value, format.single, format.scientific);
            format.left = max_int(format.left, (int)strlen(digits.whole) + (format.plus && !signbit(value)));
            fraction = max_int(fraction, (int)strlen(digits.fraction));
            if (abs(digits.exponent) > 99)
                format.exponent = 3;
        }
    }
    format.precision = fraction;
    format.right = format.scientific ? fraction + 2 + format.exponent : fraction;
    format.left = max_int(format.left, special - format.right - 1);
    return format;
}

// With spaces before it and, where fewer digits are behind the point than others have, behind it.
static void append_real(const RealFormat *format, double value, Text *to) {
    const char *sign = format->plus && !signbit(value) ? "+" : "";
    const int width = format->left + format->right + 1;
    if (isnan(value)) {
        text_printf(to, "%*s", width, format->plus ? "+nan" : "nan");
        return;
    }
    if (isinf(value)) {
        text_printf(to, "%*s", width, value < 0 ? "-inf" : format->plus ? "+inf" : "inf");
        return;
    }
    const Digits digits = format->scientific ? digits_of(value, true, format->precision)
                                             : shortest_digits(value, format->single, false);
    text_printf(to, "%*s%s%s.%s", format->left - (int)(strlen(sign) + strlen(digits.whole)), "", sign,
                digits.whole, digits.fraction);
    if (format->scientific)
        text_printf(to, "e%c%0*d", digits.exponent < 0 ? '-' : '+', format->exponent, abs(digits.exponent));
    else
        text_printf(to, "%*s", format->precision - (int)strlen(digits.fraction), "");
}

static int64_t integer_at(const ShownArray *array, const void *values, int64_t e) {
    return array->type == TYPE_I32 ? ((const int32_t *)values)[e] : ((const int64_t *)values)[e];
}

typedef struct {
    const ShownArray *array;
    const void *values;
    RealFormat formats[MOST_COMPONENTS];
    int width; // of integers
    size_t indent;
    Text *to;
    Text word; // one element
} Printer;

static void find_formats(Printer *printer, int64_t count) {
    const ShownArray *array = printer->array;
    const TypeInfo *type = type_info(array->type);
    char text[32];
    for (int64_t e = 0; e < count && type->is_integer; e++) {
        snprintf(text, sizeof text, "%" PRId64, integer_at(array, printer->values, e));
        printer->width = max_int(printer->width, (int)strlen(text));
    }
    for (int which = 0; !type->is_integer && which <= type->is_complex; which++)
        printer->formats[which] = find_format(array, printer->values, count, which);
}

static void append_element(const Printer *printer, int64_t e, Text *to) {
    const ShownArray *array = printer->array;
    if (type_info(array->type)->is_integer) {
        text_printf(to, "%*" PRId64, printer->width, integer_at(array, printer->values, e));
        return;
    }
    append_real(&printer->formats[0], component(array, printer->values, e, 0), to);
    if (!type_info(array->type)->is_complex)
        return;
    Text imaginary = text_create(to->arena);
    append_real(&printer->formats[1], component(array, printer->values, e, 1), &imaginary);
    const char *text = text_string(&imaginary);
    size_t length = imaginary.length;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    text_append_n(to, text, length);
    text_append(to, "i");
    text_append(to, text + length);
}

// Begins another line where `word` does not fit into this one, of which `column` columns are filled.
static void append_word(const Printer *printer, const char *word, size_t indent, size_t width,
                        size_t *column) {
    Text *to = printer->to;
    if (*column > indent) {
        if (*column + 1 + strlen(word) > width) {
            while (to->length > 0 && to->data[to->length - 1] == ' ')
                to->length--;
            text_printf(to, "\n%*s", (int)indent, "");
            *column = indent;
        } else {
            text_append(to, " ");
            ++*column;
        }
    }
    text_append(to, word);
    *column += strlen(word);
}

// The last mode, from element `first` on.
static void append_row(Printer *printer, int64_t first) {
    const ShownArray *array = printer->array;
    const int mode = array->order - 1;
    const size_t indent = printer->indent + (size_t)array->order;
    size_t column = indent;
    for (int64_t i = 0; i < array->shown[mode]; i++) {
        const size_t width = (size_t)(LINE_WIDTH - array->order);
        if (is_shortened(array, mode) && i == array->edge)
            append_word(printer, "...", indent, width, &column);
        printer->word.length = 0;
        append_element(printer, first + i, &printer->word);
        append_word(printer, text_string(&printer->word), indent, width, &column);
    }
}

static void begin_line(const Printer *printer, int mode) {
    for (int line = 1; line < printer->array->order - mode; line++)
        text_append(printer->to, "\n");
    text_printf(printer->to, "%*s", (int)printer->indent + mode + 1, "");
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the array has modes
static void append_mode(Printer *printer, int mode, int64_t first) {
    const ShownArray *array = printer->array;
    text_append(printer->to, "[");
    if (mode == array->order - 1) {
        append_row(printer, first);
    } else {
        const int64_t step = volume(array->order - mode - 1, array->shown + mode + 1);
        for (int64_t i = 0; i < array->shown[mode]; i++) {
            if (i > 0)
                begin_line(printer, mode);
            if (is_shortened(array, mode) && i == array->edge) {
                text_append(printer->to, "...");
                begin_line(printer, mode);
            }
            append_mode(printer, mode + 1, first + i * step);
        }
    }
    text_append(printer->to, "]");
}

void array_text(const ShownArray *array, const void *values, size_t indent, Text *to) {
    const int64_t count = volume(array->order, array->shown);
    if (count == 0) {
        text_append(to, "[]");
        return;
    }
    Printer printer = {
        .array = array, .values = values, .indent = indent, .to = to, .word = text_create(to->arena)};
    find_formats(&printer, count);
    append_mode(&printer, 0, 0);
}

void value_text(const void *value, ElementType type, Text *to) {
    const float *f32 = value;
    const double *f64 = value;
    switch (type) {
    case TYPE_I32:
        text_printf(to, "%" PRId32, *(const int32_t *)value);
        return;
    case TYPE_I64:
        text_printf(to, "%" PRId64, *(const int64_t *)value);
        return;
    case TYPE_F32:
        text_append_real(to, (double)f32[0], true);
        return;
    case TYPE_F64:
        text_append_real(to, f64[0], false);
        return;
    case TYPE_C64:
    case TYPE_C128:
        break;
    }
    const bool single = type == TYPE_C64;
    const double re = single ? (double)f32[0] : f64[0], im = single ? (double)f32[1] : f64[1];
    text_append_real(to, re, single);
    text_append(to, isnan(im) || !signbit(im) ? "+" : "");
    text_append_real(to, im, single);
    text_append(to, "i");
}
