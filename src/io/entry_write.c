// SPDX-License-Identifier: BSD-3-Clause
// Formats entries as text: each thread formats blocks of lines into the room that lines can take at most, and
// then the blocks are moved together.
#include "io/entry_text.h"

#include "base/decimal.h"
#include "base/integer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ENTRIES = 8192 };

static int write_value(char *to, const Entries *entries, int64_t e, bool joined) {
    const bool single = type_component(entries->type) == TYPE_F32;
    switch (entries->type) {
    case TYPE_I32:
        return decimal_write_integer(to, ((const int32_t *)entries->values)[e]);
    case TYPE_I64:
        return decimal_write_integer(to, ((const int64_t *)entries->values)[e]);
    case TYPE_F32:
        return decimal_write_real(to, (double)((const float *)entries->values)[e], true);
    case TYPE_F64:
        return decimal_write_real(to, ((const double *)entries->values)[e], false);
    case TYPE_C64:
    case TYPE_C128:
        break;
    }
    char *at = to;
    for (int64_t part = 2 * e; part < 2 * e + 2; part++) {
        const double value =
            single ? (double)((const float *)entries->values)[part] : ((const double *)entries->values)[part];
        if (part > 2 * e && !joined)
            *at++ = ' ';
        else if (part > 2 * e && (isnan(value) || !signbit(value)))
            *at++ = '+';
        at += decimal_write_real(at, value, single);
    }
    if (joined)
        *at++ = 'j';
    return (int)(at - to);
}

// Returns the length.
static int64_t format(const Entries *entries, const EntryLines *lines, int64_t first, int64_t last,
                      char *text) {
    const int inner = entries->order - 1;
    char *at = text;
    for (int64_t e = first; e < last; e++) {
        for (int d = 0; d < lines->columns; d++) {
            at += decimal_write_integer(at, entries->coordinates[d][e] + lines->first);
            *at++ = lines->separator;
        }
        for (int d = 0; d < lines->ones; d++) {
            *at++ = '1';
            *at++ = lines->separator;
        }
        at += write_value(at, entries, e, lines->joined);
        const bool is_inside =
            lines->in_rows && inner > 0 && entries->coordinates[inner][e] + 1 < entries->extents[inner];
        *at++ = is_inside ? lines->separator : '\n';
    }
    return at - text;
}

char *entry_text_format(const Entries *entries, const EntryLines *lines, int64_t *length) {
    const int64_t line = (int64_t)(lines->columns + 2) * (DECIMAL_LENGTH + 1) + 2 * (int64_t)lines->ones;
    const int64_t blocks = ceil_div(entries->count, BLOCK_ENTRIES);
    char *text = malloc((size_t)saturated_mul(entries->count, line) + 1);
    int64_t *lengths = calloc((size_t)blocks + 1, sizeof *lengths);
    *length = 0;
    if (text && lengths) {
#pragma omp parallel for num_threads(entries_team(entries->count)) schedule(dynamic)
        for (int64_t b = 0; b < blocks; b++)
            lengths[b] =
                format(entries, lines, b * BLOCK_ENTRIES, min_i64(entries->count, (b + 1) * BLOCK_ENTRIES),
                       text + b * BLOCK_ENTRIES * line);
        for (int64_t b = 0; b < blocks; *length += lengths[b++])
            memmove(text + *length, text + b * BLOCK_ENTRIES * line, (size_t)lengths[b]);
    } else {
        free(text);
        text = NULL;
    }
    free(lengths);
    return text;
}
