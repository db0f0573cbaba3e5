// SPDX-License-Identifier: BSD-3-Clause
// The header of .npy files: a magic string, a version, and a Python dictionary as text. It is taken for
// hostile: no byte beyond `size` is read, and no field is believed before it is checked.
#include "io/npy.h"

#include "base/integer.h"

#include <string.h>

enum { MAGIC_SIZE = 6, HEADER_LIMIT = 1 << 20 };
static const unsigned char magic[MAGIC_SIZE] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

typedef struct {
    const char *at, *end;
    Arena *arena;
    const char *error; // the first one
    NpyHeader *header;
} Parser;

static bool fail(Parser *parser, const char *message) {
    if (!parser->error)
        parser->error = message;
    return false;
}

static void skip_space(Parser *parser) {
    while (parser->at < parser->end && *parser->at && strchr(" \t\r\n", *parser->at))
        parser->at++;
}

static bool accept(Parser *parser, char symbol) {
    skip_space(parser);
    if (parser->at == parser->end || *parser->at != symbol)
        return false;
    parser->at++;
    return true;
}

static bool accept_word(Parser *parser, const char *word) {
    skip_space(parser);
    size_t length = strlen(word);
    if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length) != 0)
        return false;
    parser->at += length;
    return true;
}

// A quoted string without escapes; NULL where there is none.
static const char *parse_string(Parser *parser) {
    skip_space(parser);
    if (parser->at == parser->end || (*parser->at != '\'' && *parser->at != '"'))
        return NULL;
    const char *start = parser->at + 1;
    const char *stop = memchr(start, *parser->at, (size_t)(parser->end - start));
    if (!stop)
        return NULL;
    parser->at = stop + 1;
    return arena_string(parser->arena, start, (size_t)(stop - start));
}

static bool is_little_endian(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static bool parse_type(Parser *parser) {
    const char *descr = parse_string(parser);
    if (!descr) {
        skip_space(parser);
        if (parser->at < parser->end && *parser->at == '[')
            return fail(parser, "it holds records (a structured dtype), not numbers");
        return fail(parser, "its dtype is not a string");
    }
    const char *code = descr;
    char order = strchr("<>=|", *code) && *code ? *code++ : '=';
    for (int t = 0; t < TYPE_COUNT; t++)
        if (strcmp(code, type_info((ElementType)t)->npy_name + 1) == 0) {
            parser->header->type = (ElementType)t;
            parser->header->swapped = order == '<' ? !is_little_endian() : order == '>' && is_little_endian();
            return true;
        }
    return fail(parser,
                arena_printf(parser->arena,
                             "its dtype '%.40s' is not supported (i4, i8, f4, f8, c8 and c16 are)", descr));
}

static bool parse_order(Parser *parser) {
    if (accept_word(parser, "True"))
        parser->header->fortran_order = true;
    else if (accept_word(parser, "False"))
        parser->header->fortran_order = false;
    else
        return fail(parser, "fortran_order is neither True nor False");
    return true;
}

static bool parse_extent(Parser *parser, int64_t *extent) {
    skip_space(parser);
    const char *start = parser->at;
    *extent = 0;
    for (; parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9'; parser->at++)
        if (!checked_mul(*extent, 10, extent) || !checked_add(*extent, *parser->at - '0', extent))
            return fail(parser, "an extent does not fit into 64 bits");
    if (parser->at == start)
        return fail(parser, "its shape is not a tuple of integers");
    accept(parser, 'L'); // written by Python 2
    return true;
}

static bool parse_shape(Parser *parser) {
    NpyHeader *header = parser->header;
    if (!accept(parser, '('))
        return fail(parser, "its shape is not a tuple");
    header->order = 0;
    int64_t volume = 1;
    while (!accept(parser, ')')) {
        if (header->order == MAX_ORDER)
            return fail(parser,
                        arena_printf(parser->arena, "it has more than %d dimensions", (int)MAX_ORDER));
        int64_t *extent = &header->extents[header->order];
        if (!parse_extent(parser, extent))
            return false;
        header->order++;
        if (!checked_mul(volume, *extent > 0 ? *extent : 1, &volume))
            return fail(parser, "its number of elements does not fit into 64 bits");
        if (!accept(parser, ',')) {
            if (header->order == 1 || !accept(parser, ')'))
                return fail(parser, "its shape is not a tuple of integers");
            return true;
        }
    }
    return true;
}

static bool parse_dictionary(Parser *parser) {
    static const struct {
        const char *key;
        bool (*parse)(Parser *parser);
    } fields[] = {{"descr", parse_type}, {"fortran_order", parse_order}, {"shape", parse_shape}};
    enum { FIELDS = sizeof fields / sizeof *fields };
    bool seen[FIELDS] = {false};
    if (!accept(parser, '{'))
        return fail(parser, "its header is not a dictionary");
    while (!accept(parser, '}')) {
        const char *key = parse_string(parser);
        int f = 0;
        while (f < FIELDS && key && strcmp(key, fields[f].key) != 0)
            f++;
        if (!key || f == FIELDS || seen[f] || !accept(parser, ':'))
            return fail(parser, "its header is not a dictionary of descr, fortran_order and shape");
        seen[f] = true;
        if (!fields[f].parse(parser))
            return false;
        if (!accept(parser, ',')) {
            if (!accept(parser, '}'))
                return fail(parser, "its header is not a dictionary of descr, fortran_order and shape");
            break;
        }
    }
    for (int f = 0; f < FIELDS; f++)
        if (!seen[f])
            return fail(parser, arena_printf(parser->arena, "its header lacks %s", fields[f].key));
    skip_space(parser);
    return parser->at == parser->end || fail(parser, "there is text after the dictionary of its header");
}

const char *npy_parse(const unsigned char *bytes, size_t size, Arena *arena, NpyHeader *header,
                      size_t *needed) {
    size_t unused;
    if (!needed)
        needed = &unused;
    *needed = 0;
    *header = (NpyHeader){0};
    if (size < MAGIC_SIZE + 2 || memcmp(bytes, magic, MAGIC_SIZE) != 0)
        return "it is not an .npy file";
    int version = bytes[MAGIC_SIZE];
    if (version < 1 || version > 3)
        return arena_printf(arena, "its format version %d.%d is unknown (1.0, 2.0 and 3.0 are known)",
                            version, bytes[MAGIC_SIZE + 1]);
    size_t length_bytes = version == 1 ? 2 : 4, start = MAGIC_SIZE + 2 + length_bytes, length = 0;
    if (size < start)
        return "it ends within its header";
    for (size_t i = 0; i < length_bytes; i++)
        length |= (size_t)bytes[MAGIC_SIZE + 2 + i] << (8 * i);
    if (length > HEADER_LIMIT)
        return arena_printf(arena, "its header claims to have %zu bytes", length);
    *needed = start + length;
    if (size < start + length)
        return "it ends within its header";
    const char *text = (const char *)bytes + start;
    Parser parser = {.at = text, .end = text + length, .arena = arena, .header = header};
    header->data_offset = (int64_t)(start + length);
    return parse_dictionary(&parser) ? NULL : parser.error;
}

void npy_print_shape(int order, const int64_t *extents, Text *to) {
    text_append(to, "(");
    for (int d = 0; d < order; d++)
        text_printf(to, "%s%lld", d ? ", " : "", (long long)extents[d]);
    text_append(to, order == 1 ? ",)" : ")");
}
