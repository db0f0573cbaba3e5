// SPDX-License-Identifier: BSD-3-Clause
// .mtx files, Matrix Market: a matrix as entries or as an array, column by column; of a symmetric,
// skew-symmetric or hermitian one only a triangle is listed. A vector is a matrix of one column.
#include "io/entry_text.h"

#include "base/decimal.h"
#include "base/integer.h"
#include "io/symmetry.h"

#include <stdlib.h>
#include <string.h>

static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};

// What the values can be, with a type that has them all and converts to what they may be stored in.
typedef enum { REAL, INTEGER, COMPLEX, PATTERN } Field;
static const char *const fields[] = {"real", "integer", "complex", "pattern", NULL};
static const ElementType field_types[] = {TYPE_F32, TYPE_I32, TYPE_C64, TYPE_I32};
static const int field_components[] = {1, 1, 2, 0};

typedef enum { COORDINATE, ARRAY } Listing;
static const char *const layouts[] = {"coordinate", "array", NULL};

typedef struct {
    Symmetry symmetry;
    bool is_array;
    EntryText text;
    int64_t extents[2];
} Header;

// The next word of a line, in lower case, for messages and comparisons.
static const char *take_word(const char **at, Arena *arena) {
    const size_t before = strspn(*at, " \t\r\n"), length = strcspn(*at + before, " \t\r\n");
    char *word = arena_string(arena, *at + before, length < 40 ? length : 40);
    *at += before + length;
    for (char *c = word; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return word;
}

// The place of the next word in a list; a reason where it is not there.
static const char *take_choice(const char **at, const char *const *choices, const char *what, int *choice,
                               Arena *arena) {
    const char *word = take_word(at, arena);
    Text list = text_create(arena);
    for (*choice = 0; choices[*choice]; ++*choice) {
        if (strcmp(word, choices[*choice]) == 0)
            return NULL;
        text_printf(&list, "%s%s", *choice ? ", " : "", choices[*choice]);
    }
    return *word
               ? arena_printf(arena, "'%s' is not a %s of Matrix Market (%s)", word, what, text_string(&list))
               : arena_printf(arena, "its first line has no %s (%s)", what, text_string(&list));
}

// "%%MatrixMarket matrix coordinate real general"
static const char *parse_banner(const char *line, Header *header, FileTensor *tensor, Arena *arena) {
    static const char *const objects[] = {"matrix", NULL};
    int object, layout, field, symmetry;
    if (strcmp(take_word(&line, arena), "%%matrixmarket") != 0)
        return "a file of Matrix Market begins with %%MatrixMarket";
    const char *why = take_choice(&line, objects, "kind of object", &object, arena);
    if (!why)
        why = take_choice(&line, layouts, "layout", &layout, arena);
    if (!why)
        why = take_choice(&line, fields, "type of values", &field, arena);
    if (!why)
        why = take_choice(&line, symmetries, "symmetry", &symmetry, arena);
    if (why)
        return why;
    if (field == PATTERN && layout == ARRAY)
        return "a pattern has no values, which an array lists";
    if (field == PATTERN && (symmetry == SKEW_SYMMETRIC || symmetry == HERMITIAN))
        return arena_printf(arena, "a pattern cannot be %s", symmetries[symmetry]);
    if (symmetry == HERMITIAN && field != COMPLEX)
        return arena_printf(arena, "a hermitian matrix is complex, and this one is %s", fields[field]);
    *header = (Header){.symmetry = (Symmetry)symmetry,
                       .is_array = layout == ARRAY,
                       .text = {.comment = '%',
                                .columns = layout == ARRAY ? 0 : 2,
                                .components = field_components[field],
                                .is_integer = field == INTEGER,
                                .is_skew = symmetry == SKEW_SYMMETRIC && layout == COORDINATE}};
    *tensor = (FileTensor){
        .type = field_types[field], .values = fields[field], .is_full = layout == ARRAY, .order = 2};
    return NULL;
}

// Of an array, the values that are listed.
static bool count_values(const Header *header, int64_t *count) {
    const int64_t n = header->extents[0], skew = header->symmetry == SKEW_SYMMETRIC;
    if (header->symmetry == GENERAL)
        return checked_mul(n, header->extents[1], count);
    return n <= INT32_MAX && checked_mul(n, skew ? n - 1 : n + 1, count) && (*count /= 2, true);
}

// "ROWS COLUMNS ENTRIES", or, of an array, "ROWS COLUMNS".
static const char *parse_size(const char *line, Header *header, Arena *arena) {
    int64_t numbers[3];
    const int count = header->is_array ? 2 : 3;
    for (int i = 0; i < count; i++) {
        const char *word = take_word(&line, arena), *end;
        char *text = arena_printf(arena, "%s\n", word);
        if (!*word)
            return arena_printf(arena, "expected the numbers of rows%s, found %d number%s",
                                header->is_array ? " and columns" : ", columns and entries", i,
                                i == 1 ? "" : "s");
        if (decimal_integer(text, &end, &numbers[i]) != DECIMAL_FINE || *end != '\n' || numbers[i] < 0 ||
            numbers[i] > INT64_C(1) << 62)
            return arena_printf(arena, "'%s' is not a number of %s from 0 to 2^62", word,
                                i == 0   ? "rows"
                                : i == 1 ? "columns"
                                         : "entries");
    }
    const char *rest = take_word(&line, arena);
    if (*rest)
        return arena_printf(arena, "'%s' is unexpected behind the numbers of rows%s", rest,
                            header->is_array ? " and columns" : ", columns and entries");
    header->extents[0] = numbers[0];
    header->extents[1] = numbers[1];
    if (header->symmetry != GENERAL && numbers[0] != numbers[1])
        return arena_printf(arena, "a %s matrix is square, and this one is %lld x %lld",
                            symmetries[header->symmetry], (long long)numbers[0], (long long)numbers[1]);
    header->text.declared = numbers[2];
    if (header->is_array && !count_values(header, &header->text.declared))
        return "its number of values does not fit into 64 bits";
    return NULL;
}

static const char *read_header(InputFile *file, Header *header, char *line, Arena *arena) {
    int64_t next;
    const char *why = entry_text_line(file, 0, line, &next, arena);
    if (why)
        return why;
    why = parse_banner(line, header, &file->tensor, arena);
    if (!why)
        why = entry_text_ends_with_cr(line);
    if (why)
        return entry_text_refuse(file, 0, why, arena);
    int64_t offset;
    do {
        offset = next;
        if (offset == file->size)
            return "it is truncated: the line with the numbers of rows and columns is missing";
        why = entry_text_line(file, offset, line, &next, arena);
        if (why)
            return why;
    } while (*line == header->text.comment || strspn(line, " \t\r\n") == strlen(line));
    why = parse_size(line, header, arena);
    if (why)
        return entry_text_refuse(file, offset, why, arena);
    memcpy(file->tensor.extents, header->extents, sizeof header->extents);
    file->tensor.listed = header->text.declared;
    header->text.offset = next;
    return NULL;
}

static const char *mtx_open(InputFile *file, Arena *arena) {
    Header *header = arena_new(arena, Header);
    file->header = header;
    char *line = malloc(entry_text_room(file));
    const char *why = line ? read_header(file, header, line, arena) : "not enough memory to read it";
    free(line);
    return why;
}

// The coordinates of the values of an array, of which `before` are in the shares before.
static void set_coordinates(const Header *header, int64_t before, Entries *entries) {
    const bool triangle = header->symmetry != GENERAL;
    int64_t begin = -before, end; // of a column
    for (int64_t j = 0; entries->count > 0 && begin < entries->count; j++, begin = end) {
        const int64_t i = triangle ? j + (header->symmetry == SKEW_SYMMETRIC) : 0;
        end = begin + header->extents[0] - i;
        for (int64_t e = max_i64(begin, 0); e < min_i64(end, entries->count); e++) {
            entries->coordinates[0][e] = i + e - begin;
            if (entries->order > 1)
                entries->coordinates[1][e] = j;
        }
    }
}

static const char *mtx_count(const InputFile *file, int64_t *count, Arena *arena) {
    return entry_text_count(file, &((const Header *)file->header)->text, count, arena);
}

static const char *mtx_read(const InputFile *file, int64_t limit, Entries *entries, Arena *arena) {
    const Header *header = file->header;
    const char *why = entry_text_read(file, &header->text, limit, entries, arena);
    if (!why && header->is_array) {
        if (file->before > header->text.declared - entries->count)
            entries->count = 0; // which is refused when all shares are counted
        set_coordinates(header, file->before, entries);
    }
    // A vector is a symmetric matrix where it has one element.
    return why || header->symmetry == GENERAL || entries->order < 2
               ? why
               : symmetry_mirror(header->symmetry, limit, entries, arena);
}

static const char *mtx_header(const FileTensor *tensor, EntryLines *lines, Arena *arena) {
    const TypeInfo *type = type_info(tensor->type);
    const bool is_vector = tensor->order == 1;
    Text header = text_create(arena);
    text_printf(&header, "%%%%MatrixMarket matrix %s %s general\n%lld %lld",
                layouts[tensor->is_full ? ARRAY : COORDINATE],
                fields[type->is_integer   ? INTEGER
                       : type->is_complex ? COMPLEX
                                          : REAL],
                (long long)tensor->extents[0], is_vector ? 1LL : (long long)tensor->extents[1]);
    if (!tensor->is_full)
        text_printf(&header, " %lld", (long long)tensor->listed);
    text_append(&header, "\n");
    *lines = (EntryLines){.columns = tensor->is_full ? 0 : tensor->order,
                          .ones = !tensor->is_full && is_vector,
                          .first = 1,
                          .separator = ' '};
    return text_string(&header);
}

const FileFormat file_format_mtx = {.ending = ".mtx",
                                    .least_order = 1,
                                    .most_order = 2,
                                    .open = mtx_open,
                                    .count = mtx_count,
                                    .read_entries = mtx_read,
                                    .header = mtx_header};
