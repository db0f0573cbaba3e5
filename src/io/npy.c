// SPDX-License-Identifier: BSD-3-Clause
// The header has a magic string, a version, and a Python dictionary as text. It is not trusted: no byte
// beyond `size` is read, and every field is checked before it is used.
#include "io/npy.h"

#include "base/integer.h"

#include <string.h>

enum { MAGIC_SIZE = 6, HEADER_LIMIT = 1 << 20, PROBE = 4096 };
// Kind and bytes of each element type.
static const char *const codes[TYPE_COUNT] = {
    [TYPE_I32] = "i4", [TYPE_I64] = "i8", [TYPE_F32] = "f4",
    [TYPE_F64] = "f8", [TYPE_C64] = "c8", [TYPE_C128] = "c16",
};
static const char own_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
static const unsigned char magic[MAGIC_SIZE] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

typedef struct {
    const char *at, *end;
    Arena *arena;
    const char *error; // the first one
    FileArray *array;
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
        if (strcmp(code, codes[t]) == 0) {
            parser->array->tensor.type = (ElementType)t;
            parser->array->swapped = order == '<' || order == '>' ? order != own_order : false;
            return true;
        }
    return fail(parser, arena_printf(parser->arena,
                                     "its dtype '%.40s' is not supported (i4, i8, f4, f8, c8 and c16 are: "
                                     "convert it with astype)",
                                     descr));
}

static bool parse_order(Parser *parser) {
    if (accept_word(parser, "True"))
        parser->array->columns_first = true;
    else if (accept_word(parser, "False"))
        parser->array->columns_first = false;
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
    FileTensor *tensor = &parser->array->tensor;
    if (!accept(parser, '('))
        return fail(parser, "its shape is not a tuple");
    tensor->order = 0;
    int64_t volume = 1;
    while (!accept(parser, ')')) {
        if (tensor->order == MAX_ORDER)
            return fail(parser,
                        arena_printf(parser->arena, "it has more than %d dimensions", (int)MAX_ORDER));
        int64_t *extent = &tensor->extents[tensor->order];
        if (!parse_extent(parser, extent))
            return false;
        tensor->order++;
        if (!checked_mul(volume, *extent > 0 ? *extent : 1, &volume))
            return fail(parser, "its number of elements does not fit into 64 bits");
        if (!accept(parser, ',')) {
            if (tensor->order == 1 || !accept(parser, ')'))
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
    return parser->at == parser->end || fail(parser, "its header has text after the dictionary");
}

const char *npy_parse(const unsigned char *bytes, size_t size, Arena *arena, FileArray *array,
                      size_t *needed) {
    size_t unused;
    if (!needed)
        needed = &unused;
    *needed = 0;
    *array = (FileArray){0};
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
        return arena_printf(arena, "its header is too long: %zu bytes", length);
    *needed = start + length;
    if (size < start + length)
        return "it ends within its header";
    const char *text = (const char *)bytes + start;
    Parser parser = {.at = text, .end = text + length, .arena = arena, .array = array};
    array->offset = (int64_t)(start + length);
    return parse_dictionary(&parser) ? NULL : parser.error;
}

static const char *npy_open(InputFile *file, Arena *arena) {
    size_t size = (size_t)min_i64(file->size, PROBE), needed;
    unsigned char *bytes = arena_alloc(arena, size + 1);
    FileArray *array = arena_new(arena, FileArray);
    const char *why = file_bytes_read(file->fd, bytes, size, 0);
    if (why)
        return why;
    why = npy_parse(bytes, size, arena, array, &needed);
    if (why && needed > size && (int64_t)needed <= file->size) {
        bytes = arena_alloc(arena, needed);
        why = file_bytes_read(file->fd, bytes, needed, 0);
        if (!why)
            why = npy_parse(bytes, needed, arena, array, NULL);
    }
    file->tensor = array->tensor;
    file->header = array;
    return why ? why : file_array_check(array, file->size, arena);
}

static const char *npy_read(const InputFile *file, const Piece *piece, Arena *arena) {
    (void)arena;
    return file_array_read(file->fd, file->header, piece);
}

static const FileArray *npy_locate(const InputFile *file) {
    return file->header;
}

// Row-major, in this machine's byte order.
static const char *header_text(const FileTensor *tensor, Arena *arena, size_t *length) {
    enum { ALIGNMENT = 64, PREAMBLE = 10 };
    static const unsigned char version_1[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    Text text = text_create(arena);
    text_printf(&text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", own_order,
                codes[tensor->type]);
    for (int d = 0; d < tensor->order; d++)
        text_printf(&text, "%s%lld", d ? ", " : "", (long long)tensor->extents[d]);
    text_append(&text, tensor->order == 1 ? ",), }" : "), }");
    while ((PREAMBLE + text.length + 1) % ALIGNMENT != 0)
        text_append(&text, " ");
    text_append(&text, "\n");
    char *all = arena_alloc(arena, PREAMBLE + text.length);
    memcpy(all, version_1, sizeof version_1);
    all[8] = (char)(text.length & 0xff);
    all[9] = (char)(text.length >> 8);
    memcpy(all + PREAMBLE, text_string(&text), text.length);
    *length = PREAMBLE + text.length;
    return all;
}

static const char *npy_create(int fd, FileTensor *tensor, Arena *arena) {
    size_t length;
    const char *header = header_text(tensor, arena, &length);
    int64_t size = file_tensor_bytes(tensor);
    if (!checked_add(size, (int64_t)length, &size))
        return "all its elements, zeros among them, take more than 2^63 bytes";
    tensor->offset = (int64_t)length;
    const char *why = file_bytes_write(fd, header, length, 0);
    return why ? why : file_bytes_claim(fd, size);
}

const FileFormat file_format_npy = {
    .ending = ".npy",
    .most_order = MAX_ORDER,
    .open = npy_open,
    .read = npy_read,
    .locate = npy_locate,
    .create = npy_create,
    .write = file_array_write,
};
