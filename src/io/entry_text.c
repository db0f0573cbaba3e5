// SPDX-License-Identifier: BSD-3-Clause
#include "io/entry_text.h"

#include "base/decimal.h"
#include "base/integer.h"
#include "io/file_array.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2 * MOST_LINE, WHY_LENGTH = 256, SHARES = 256 };

static const char too_long[] = "it is longer than 1048576 bytes";

// Text is ASCII and lines end with \n or \r\n.
static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *at) {
    while (is_blank(*at))
        at++;
    return at;
}

static const char *skip_word(const char *at) {
    while (!is_blank(*at) && *at != '\n')
        at++;
    return at;
}

const char *entry_text_ends_with_cr(const char *line) {
    const char *at = skip_blanks(line);
    for (const char *next; *at != '\n'; at = next) {
        next = skip_blanks(skip_word(at));
        if (*next != '\n' && memchr(at, '\r', (size_t)(next - at)))
            return "its lines end with CR; they have to end with LF or CR LF";
    }
    return NULL;
}

const char *entry_text_refuse(const InputFile *file, int64_t offset, const char *why, Arena *arena) {
    char bytes[4096];
    int64_t line = 1;
    for (int64_t at = 0; at < offset; at += (int64_t)sizeof bytes) {
        const size_t size = (size_t)min_i64((int64_t)sizeof bytes, offset - at);
        if (file_bytes_read(file->fd, bytes, size, at))
            return why; // the number of the line is not known any more
        for (size_t i = 0; i < size; i++)
            line += bytes[i] == '\n';
    }
    return arena_printf(arena, "line %lld: %s", (long long)line, why);
}

size_t entry_text_room(const InputFile *file) {
    return (size_t)min_i64(file->size, MOST_LINE) + 2;
}

const char *entry_text_line(const InputFile *file, int64_t offset, char *line, int64_t *next, Arena *arena) {
    int64_t length = 0, step = 1024;
    for (const char *end = NULL; !end; step = MOST_LINE) {
        const int64_t more = min_i64(min_i64(step, file->size - offset - length), MOST_LINE - length);
        if (more == 0 && length == MOST_LINE)
            return entry_text_refuse(file, offset, too_long, arena);
        if (more == 0)
            line[length] = '\n';
        const char *why = file_bytes_read(file->fd, line + length, (size_t)more, offset + length);
        if (why)
            return why;
        end = memchr(line + length, '\n', (size_t)max_i64(more, 1));
        length = end ? end - line : length + more;
    }
    line[length + 1] = '\0';
    *next = min_i64(offset + length + 1, file->size);
    return NULL;
}

// A part of the lines, for one thread at a time.
typedef struct {
    int64_t begin, end;   // bytes
    int64_t first, count; // entries before it, and in it
    int64_t wrong;        // where the line begins that is wrong; -1: none is
    char why[WHY_LENGTH]; // what is wrong with it, or with the file; "": nothing
} Share;

typedef struct {
    const InputFile *file;
    const EntryText *text;
    Entries *entries; // NULL: lines are counted only
    int share_count;
    Share *shares;
} Reading;

static void fail(Share *share, int64_t offset, const char *why) {
    share->wrong = offset;
    snprintf(share->why, WHY_LENGTH, "%s", why);
}

// A word for a message, cut where it is long.
static int word_length(const char *word) {
    return (int)min_i64(skip_word(word) - word, 40);
}

// `format` has places for the word and for `rest`.
static bool fail_at(Share *share, const char *format, const char *word, const char *rest) {
    char shown[4 * 40 + 1], *to = shown;
    for (const char *end = word + word_length(word); word < end; word++)
        to += *word ? snprintf(to, 2, "%c", *word) : snprintf(to, 5, "\\x00");
    *to = '\0';
    snprintf(share->why, WHY_LENGTH, format, shown, rest);
    return false;
}

static bool fail_count(const Reading *reading, Share *share, const char *line) {
    int words = 0;
    const char *why = entry_text_ends_with_cr(line);
    if (why) {
        snprintf(share->why, WHY_LENGTH, "%s", why);
        return false;
    }
    for (const char *at = skip_blanks(line); *at != '\n'; at = skip_blanks(skip_word(at)))
        words++;
    const EntryText *text = reading->text;
    if (text->columns == 0) {
        snprintf(share->why, WHY_LENGTH, "expected %s, found %d number%s",
                 text->components == 1 ? "one value" : "the two numbers of one complex value", words,
                 words == 1 ? "" : "s");
        return false;
    }
    snprintf(share->why, WHY_LENGTH, "expected %d coordinate%s%s, found %d number%s", text->columns,
             text->columns == 1 ? "" : "s",
             text->components == 0   ? ""
             : text->components == 1 ? " and a value"
                                     : " and the two numbers of a complex value",
             words, words == 1 ? "" : "s");
    return false;
}

// Where an integer is written as a real number, as in "3.0", it may be taken for one.
static bool parse_integer(const Reading *reading, Share *share, const char **at, int64_t *value) {
    const char *word = *at;
    DecimalStatus status = decimal_integer(word, at, value);
    if (status != DECIMAL_TOO_LARGE && skip_word(word) != *at && !reading->text->is_integer) {
        double real;
        status = decimal_real(word, at, false, &real);
        if (status == DECIMAL_FINE && real == trunc(real) && fabs(real) < 0x1p63)
            *value = (int64_t)real;
        else if (status == DECIMAL_FINE)
            status = DECIMAL_NONE;
    }
    const ElementType type = reading->entries->type;
    if (status == DECIMAL_NONE || skip_word(word) != *at)
        return fail_at(share, "'%s' is not %s", word, "an integer");
    if (status == DECIMAL_TOO_LARGE || (type == TYPE_I32 && *value != (int32_t)*value))
        return fail_at(share, "'%s' does not fit into %s", word, type_info(type)->name);
    return true;
}

static bool parse_real(const Reading *reading, Share *share, const char **at, double *value) {
    const char *word = *at;
    const ElementType component = type_component(reading->entries->type);
    const DecimalStatus status = decimal_real(word, at, component == TYPE_F32, value);
    if (status == DECIMAL_NONE || skip_word(word) != *at)
        return fail_at(share, "'%s' is not %s", word, "a number");
    if (status == DECIMAL_TOO_LARGE)
        return fail_at(share, "'%s' does not fit into %s", word, type_info(component)->name);
    const char *end;
    int64_t integer;
    if (reading->text->is_integer && (decimal_integer(word, &end, &integer) == DECIMAL_NONE || end != *at))
        return fail_at(share, "'%s' is not %s", word, "an integer");
    return true;
}

static void store(const Entries *entries, int64_t e, const double reals[2], int64_t integer) {
    switch (entries->type) {
    case TYPE_I32:
        ((int32_t *)entries->values)[e] = (int32_t)integer;
        return;
    case TYPE_I64:
        ((int64_t *)entries->values)[e] = integer;
        return;
    case TYPE_F32:
        ((float *)entries->values)[e] = (float)reals[0];
        return;
    case TYPE_F64:
        ((double *)entries->values)[e] = reals[0];
        return;
    case TYPE_C64:
        ((float *)entries->values)[2 * e] = (float)reals[0];
        ((float *)entries->values)[2 * e + 1] = (float)reals[1];
        return;
    case TYPE_C128:
        ((double *)entries->values)[2 * e] = reals[0];
        ((double *)entries->values)[2 * e + 1] = reals[1];
        return;
    }
}

static bool parse_coordinate(const Reading *reading, Share *share, const char **at, int mode, int64_t e) {
    const Entries *entries = reading->entries;
    const int64_t extent = mode < entries->order ? entries->extents[mode] : 1;
    const char *word = *at;
    int64_t value;
    const DecimalStatus status = decimal_integer(word, at, &value);
    if (status == DECIMAL_NONE || skip_word(word) != *at)
        return fail_at(share, "'%s' is not %s", word, "a coordinate");
    if (status == DECIMAL_TOO_LARGE || value < 1 || value > extent) {
        snprintf(share->why, WHY_LENGTH, "coordinate %.*s of mode %d is not from 1 to %lld, its extent",
                 word_length(word), word, mode, (long long)extent);
        return false;
    }
    if (mode < entries->order)
        entries->coordinates[mode][e] = value - 1;
    return true;
}

static bool parse_entry(const Reading *reading, Share *share, const char *line, int64_t e) {
    const EntryText *text = reading->text;
    const bool is_integer = type_info(reading->entries->type)->is_integer;
    const char *at = line;
    double reals[2] = {1, 0};
    int64_t integer = 1;
    for (int column = 0; column < text->columns + text->components; column++) {
        at = skip_blanks(at);
        if (*at == '\n')
            return fail_count(reading, share, line);
        const int component = column - text->columns;
        const bool ok = component < 0 ? parse_coordinate(reading, share, &at, column, e)
                        : is_integer  ? parse_integer(reading, share, &at, &integer)
                                      : parse_real(reading, share, &at, &reals[component]);
        if (!ok)
            return false;
    }
    if (*skip_blanks(at) != '\n')
        return fail_count(reading, share, line);
    const Entries *entries = reading->entries;
    if (text->is_skew && entries->order > 1 && entries->coordinates[0][e] == entries->coordinates[1][e]) {
        snprintf(share->why, WHY_LENGTH, "a skew-symmetric matrix has no entries on its diagonal");
        return false;
    }
    store(reading->entries, e, reals, integer);
    return true;
}

// The lines from `at` to before `end`, which begin at `offset` of the file; *done: entries so far.
static bool visit_lines(const Reading *reading, Share *share, const char *at, const char *end, int64_t offset,
                        int64_t *done) {
    const char *const begin = at;
    for (const char *next; at < end; at = next) {
        next = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
        const char first = *skip_blanks(at);
        if (first == '\n' || first == reading->text->comment)
            continue;
        share->wrong = offset + (at - begin);
        if (reading->entries && *done == share->count) {
            fail(share, -1, "it was written to while it was read");
            return false;
        }
        if (reading->entries && !parse_entry(reading, share, at, share->first + *done))
            return false;
        ++*done;
    }
    return true;
}

// Block by block; what is left of a line at the end of a block is read again with the next one.
static void visit_share(const Reading *reading, Share *share, char *block) {
    int64_t done = 0;
    for (int64_t at = share->begin; at < share->end;) {
        int64_t length = min_i64(BLOCK, share->end - at);
        const char *why = file_bytes_read(reading->file->fd, block, (size_t)length, at);
        if (why) {
            fail(share, -1, why);
            return;
        }
        if (at + length == reading->file->size && block[length - 1] != '\n')
            block[length++] = '\n';
        const char *last = memrchr(block, '\n', (size_t)length);
        if (!last) {
            fail(share, at, too_long);
            return;
        }
        length = last + 1 - block;
        if (!visit_lines(reading, share, block, block + length, at, &done))
            return;
        at += length;
    }
    if (!reading->entries)
        share->count = done;
    else if (done < share->count)
        fail(share, -1, "it was written to while it was read");
}

// The reason of the first share that has one.
static const char *visit_shares(const Reading *reading, Arena *arena) {
    bool memory = true;
    int64_t most = 0;
    for (int s = 0; s < reading->share_count; s++)
        most = max_i64(most, reading->shares[s].end - reading->shares[s].begin);
    most = min_i64(most, BLOCK);
#pragma omp parallel num_threads((int)min_i64(reading->share_count, omp_get_max_threads()))
    {
        char *block = malloc((size_t)most + 1);
        if (!block) {
#pragma omp atomic write
            memory = false;
        }
#pragma omp for schedule(dynamic, 1)
        for (int s = 0; s < reading->share_count; s++)
            if (block)
                visit_share(reading, &reading->shares[s], block);
        free(block);
    }
    if (!memory)
        return "not enough memory to read it";
    for (int s = 0; s < reading->share_count; s++) {
        const Share *share = &reading->shares[s];
        if (share->why[0])
            return share->wrong >= 0 ? entry_text_refuse(reading->file, share->wrong, share->why, arena)
                                     : arena_printf(arena, "%s", share->why);
    }
    return NULL;
}

// Where the lines of one of several processes begin, and those of the one before end.
static const char *cut_at(const Reading *reading, char *line, int shares, int share, int64_t *at,
                          Arena *arena) {
    const int64_t offset = reading->text->offset,
                  begin = offset + part_begin(reading->file->size - offset, shares, share);
    *at = begin;
    return begin > offset && begin < reading->file->size
               ? entry_text_line(reading->file, begin - 1, line, at, arena)
               : NULL;
}

// Cuts the bytes into shares of whole lines.
static const char *cut(Reading *reading, char *line, Arena *arena) {
    const InputFile *file = reading->file;
    int64_t begin = reading->text->offset, all_end = file->size;
    if (file->shares > 1) {
        const char *why = cut_at(reading, line, file->shares, file->share, &begin, arena);
        if (!why)
            why = cut_at(reading, line, file->shares, file->share + 1, &all_end, arena);
        if (why)
            return why;
    }
    const int64_t first = begin, bytes = all_end - begin;
    reading->share_count = (int)max_i64(1, min_i64(SHARES, bytes / MOST_LINE));
    for (int s = 0; s < reading->share_count; s++) {
        Share *share = &reading->shares[s];
        const int64_t end = first + part_begin(bytes, reading->share_count, s + 1);
        *share = (Share){.begin = begin, .end = all_end};
        if (s + 1 < reading->share_count && end <= begin)
            share->end = begin;
        else if (s + 1 < reading->share_count) {
            // The line in which the byte before `end` is belongs to this share.
            const char *why = entry_text_line(file, end - 1, line, &share->end, arena);
            if (why)
                return why;
        }
        begin = share->end;
    }
    return NULL;
}

static const char *count_entries(Reading *reading, int64_t *count, Arena *arena) {
    const char *why = visit_shares(reading, arena);
    if (why)
        return why;
    *count = 0;
    for (int s = 0; s < reading->share_count; s++) {
        reading->shares[s].first = *count;
        *count += reading->shares[s].count;
    }
    const int64_t declared = reading->text->declared;
    if (reading->file->listed)
        *reading->file->listed = *count;
    if (declared >= 0 && *count != declared && reading->file->shares <= 1)
        return arena_printf(arena, "its header says %lld %s, and it has %lld", (long long)declared,
                            declared == 1 ? "entry" : "entries", (long long)*count);
    return NULL;
}

static const char *read_shares(Reading *reading, int64_t limit, Entries *entries, Arena *arena) {
    const char *why = entries_allocate_within(entries, limit, arena);
    if (why)
        return why;
    reading->entries = entries;
    return visit_shares(reading, arena);
}

// Counts the entries, and reads them where `entries` is not NULL.
static const char *visit(const InputFile *file, const EntryText *text, int64_t *count, int64_t limit,
                         Entries *entries, Arena *arena) {
    Reading reading = {.file = file, .text = text, .shares = calloc(SHARES, sizeof(Share))};
    char *line = malloc(entry_text_room(file));
    const char *why = reading.shares && line ? cut(&reading, line, arena) : "not enough memory to read it";
    if (!why)
        why = count_entries(&reading, count, arena);
    if (!why && entries)
        why = read_shares(&reading, limit, entries, arena);
    free(reading.shares);
    free(line);
    return why;
}

const char *entry_text_read(const InputFile *file, const EntryText *text, int64_t limit, Entries *entries,
                            Arena *arena) {
    return visit(file, text, &entries->count, limit, entries, arena);
}

const char *entry_text_count(const InputFile *file, const EntryText *text, int64_t *count, Arena *arena) {
    return visit(file, text, count, 0, NULL, arena);
}
