// SPDX-License-Identifier: BSD-3-Clause
// Mutations of programs token by token and line by line, for libFuzzer: what comes out is mostly well
// written, so that the passes behind the parser are reached.
#include "base/text.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
                                 uint8_t *out, size_t max_out_size, unsigned int seed);

typedef enum { PART_NAME, PART_NUMBER, PART_SYMBOL, PART_BLANK, PART_NEWLINE } PartKind;

typedef struct {
    const char *text;
    size_t length;
    PartKind kind;
} Part;

typedef struct {
    Arena *arena;
    uint64_t state;
    Array(Part) parts;
    int64_t fresh; // names made so far
} Mutation;

static const char *const numbers[] = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "4",
                                      "5",
                                      "7",
                                      "8",
                                      "13",
                                      "16",
                                      "64",
                                      "1000",
                                      "1048577",
                                      "2147483647",
                                      "2147483648",
                                      "4294967296",
                                      "4611686018427387904",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "0.5",
                                      "1e308",
                                      "1e-320",
                                      "1e999",
                                      "ranks",
                                      "n",
                                      "-1",
                                      "(ranks + 1)",
                                      "n / 2",
                                      "n * n"};

static const char *const words[] = {"param",
                                    "machine",
                                    "tensor",
                                    "place",
                                    "schedule",
                                    "grid",
                                    "node",
                                    "socket",
                                    "core",
                                    "gpu",
                                    "f32",
                                    "f64",
                                    "c64",
                                    "c128",
                                    "i32",
                                    "i64",
                                    "dense",
                                    "compressed",
                                    "compressed(nonunique)",
                                    "singleton",
                                    "singleton(nonunique)",
                                    "csr",
                                    "csc",
                                    "dcsr",
                                    "coo",
                                    "csf",
                                    "(i, j) -> (i : dense, j : compressed)",
                                    "order",
                                    "cyclic",
                                    "fuse",
                                    "in",
                                    "host",
                                    "disk",
                                    "ranks",
                                    "sqrt",
                                    "abs",
                                    "exp",
                                    "log",
                                    "pow",
                                    "min",
                                    "max",
                                    "gemm",
                                    "gemv",
                                    "ger",
                                    "dot",
                                    "axpy",
                                    "blas",
                                    "loops",
                                    "cpu_thread",
                                    "cpu_vector",
                                    "gpu_thread",
                                    "none",
                                    "atomic",
                                    "reduction",
                                    "temporary",
                                    "split",
                                    "divide",
                                    "collapse",
                                    "fuse",
                                    "reorder",
                                    "distribute",
                                    "communicate",
                                    "rotate",
                                    "substitute",
                                    "parallelize",
                                    "precompute",
                                    "unroll",
                                    "pos",
                                    "(",
                                    ")",
                                    "{",
                                    "}",
                                    ",",
                                    ";",
                                    ":",
                                    ".",
                                    "=",
                                    "+=",
                                    "->",
                                    "+",
                                    "-",
                                    "*",
                                    "/",
                                    "~",
                                    "#",
                                    "#!",
                                    "\"",
                                    "\\",
                                    "\t",
                                    "\r",
                                    "\x01",
                                    "\x7f",
                                    "\xc3\xa9",
                                    "\xff"};

// In these, $n is a name of the program, $t one with a capital, $i a number, and $f a fresh name.
static const char *const commands[] = {"split($n, $f, $f, $i)",
                                       "divide($n, $f, $f, $i)",
                                       "collapse($n, $n, $f)",
                                       "reorder({$n, $n})",
                                       "reorder({$n, $n, $n})",
                                       "distribute($n)",
                                       "distribute({$n, $n})",
                                       "distribute({$n}, {$f}, {$f}, $t)",
                                       "distribute({$n, $n}, {$f, $f}, {$f, $f}, $t)",
                                       "communicate($t, $n)",
                                       "communicate({$t, $t}, $n)",
                                       "rotate($n, {$n}, $f)",
                                       "rotate($n, {$n, $n}, $f)",
                                       "substitute({$n, $n, $n}, blas)",
                                       "substitute({$n, $n}, gemv)",
                                       "substitute({$n}, loops)",
                                       "parallelize($n, cpu_thread)",
                                       "parallelize($n, cpu_thread, reduction)",
                                       "parallelize($n, cpu_vector)",
                                       "unroll($n, $i)",
                                       "precompute($t($n), {$n}, {$n}, $f)",
                                       "precompute($t($n, $n) * $t($n), {$n}, {$f}, $f)",
                                       "precompute($t($n), {$n, $n}, {$f, $f}, $f)",
                                       "precompute($t * $i, {}, {}, $f)"};
static const char *const statements[] = {"param $f = $i",
                                         "machine M$f = grid($i, $i)",
                                         "machine M$f = node grid($i), gpu grid($i, $i)",
                                         "tensor T$f($i): f64",
                                         "tensor T$f($i, $n): c64",
                                         "tensor T$f: i32",
                                         "tensor T$f($n, $i, $n): f32, order(2, 0, 1)",
                                         "place $t(x) -> $t(x)",
                                         "place $t(x, y) -> $t(y, *)",
                                         "place $t(x, y) -> $t(x, 0)",
                                         "place $t(x) -> $t.node(x), $t(x) -> $t.gpu(x)",
                                         "place $t(x) -> $t(cyclic(x, $i))",
                                         "$t($n) = $t($n)",
                                         "$t($n, $n) += $t($n, $n) * $t($n, $n)",
                                         "$t($n) = $t($n, $n) * $t($n) + $t($n) - $i",
                                         "$t = min($t($n), sqrt(abs($t($n)))) / $i",
                                         "schedule $t {",
                                         "}"};
static const char *const options[] = {"#! -n $i",
                                      "#! -p $n=$i",
                                      "#! -n $i -p $n=$i -p $n=$i",
                                      "#! --in $t=random:$i:0.5",
                                      "#! --in $t=const:$i --repeat $i --memory-limit 1M",
                                      "#! --out $t=a.npy --check --threads 2"};

#define PICK(mutation, table) ((table)[below((mutation), sizeof(table) / sizeof *(table))])

// Numbers from 0 to count - 1.
static size_t below(Mutation *mutation, size_t count) {
    uint64_t z = mutation->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (size_t)((z ^ (z >> 31)) % (count > 0 ? count : 1));
}

static PartKind kind_of(char first) {
    if (first == '\n')
        return PART_NEWLINE;
    if (isalpha((unsigned char)first) || first == '_')
        return PART_NAME;
    if (isdigit((unsigned char)first))
        return PART_NUMBER;
    return first == ' ' ? PART_BLANK : PART_SYMBOL;
}

static Part first_part(const char *text, size_t size) {
    Part part = {text, 1, kind_of(*text)};
    if (size > 1 && (memcmp(text, "->", 2) == 0 || memcmp(text, "+=", 2) == 0)) {
        part.length = 2;
        return part;
    }
    if (part.kind == PART_SYMBOL || part.kind == PART_NEWLINE)
        return part;
    while (part.length < size) {
        const char next = text[part.length];
        const PartKind kind = kind_of(next);
        if (part.kind == PART_BLANK
                ? kind != PART_BLANK
                : kind != PART_NAME && kind != PART_NUMBER && !(part.kind == PART_NUMBER && next == '.'))
            break;
        part.length++;
    }
    return part;
}

static void read_parts(Mutation *mutation, const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    for (size_t at = 0; at < size;) {
        const Part part = first_part(text + at, size - at);
        array_push(mutation->arena, mutation->parts, part);
        at += part.length;
    }
}

static Part word(const char *text) {
    return (Part){text, strlen(text), kind_of(*text)};
}

// Replaces `removed` parts from `at` on by others.
static void splice(Mutation *mutation, int64_t at, int64_t removed, const Part *added, int64_t count) {
    Mutation result = *mutation;
    memset(&result.parts, 0, sizeof result.parts);
    for (int64_t i = 0; i < at; i++)
        array_push(mutation->arena, result.parts, mutation->parts.items[i]);
    for (int64_t i = 0; i < count; i++)
        array_push(mutation->arena, result.parts, added[i]);
    for (int64_t i = at + removed; i < mutation->parts.count; i++)
        array_push(mutation->arena, result.parts, mutation->parts.items[i]);
    *mutation = result;
}

// One that is not blank, if there is any; of `kind`, where `only`.
static int64_t any_part(Mutation *mutation, bool only, PartKind kind) {
    for (int attempt = 0; attempt < 64; attempt++) {
        const int64_t at = (int64_t)below(mutation, (size_t)mutation->parts.count);
        const PartKind found = mutation->parts.items[at].kind;
        if (only ? found == kind : found != PART_BLANK)
            return at;
    }
    return (int64_t)below(mutation, (size_t)mutation->parts.count);
}

static void find_line(const Mutation *mutation, int64_t at, int64_t *begin, int64_t *end) {
    const Part *parts = mutation->parts.items;
    for (*begin = at; *begin > 0 && parts[*begin - 1].kind != PART_NEWLINE; --*begin)
        ;
    for (*end = at; *end < mutation->parts.count && parts[*end].kind != PART_NEWLINE; ++*end)
        ;
    *end += *end < mutation->parts.count;
}

// A name that the program has, such as begin with a capital where `capital`.
static Part any_name(Mutation *mutation, bool capital) {
    for (int attempt = 0; attempt < 64; attempt++) {
        const Part part = mutation->parts.items[any_part(mutation, true, PART_NAME)];
        if (part.kind == PART_NAME && (isupper((unsigned char)*part.text) != 0) == capital)
            return part;
    }
    return word(capital ? "A" : "i");
}

// Adds the parts of a line of the table, with its names put in.
static void write_line(Mutation *mutation, const char *line, Text *to) {
    for (const char *at = line; *at; at++) {
        if (*at != '$') {
            text_append_n(to, at, 1);
            continue;
        }
        at++;
        if (*at == 'f') {
            text_printf(to, "w%d", (int)(mutation->fresh++ + (int64_t)below(mutation, 8)));
        } else if (*at == 'i') {
            text_append(to, below(mutation, 3) ? numbers[below(mutation, 9)] : PICK(mutation, numbers));
        } else {
            const Part name = any_name(mutation, *at == 't');
            text_append_n(to, name.text, name.length);
        }
    }
    text_append(to, "\n");
}

static void insert_line(Mutation *mutation, const char *line, int64_t at) {
    Text text = text_create(mutation->arena);
    write_line(mutation, line, &text);
    Mutation added = {.arena = mutation->arena};
    read_parts(&added, (const uint8_t *)text_string(&text), text.length);
    splice(mutation, at, 0, added.parts.items, added.parts.count);
}

// The beginning of a line, of one that is indented if there is one where `indented`.
static int64_t any_line(Mutation *mutation, bool indented) {
    int64_t begin = 0, end;
    for (int attempt = 0; attempt < 64; attempt++) {
        find_line(mutation, any_part(mutation, false, PART_NAME), &begin, &end);
        if ((mutation->parts.items[begin].kind == PART_BLANK) == indented)
            break;
    }
    return begin;
}

static void insert_command(Mutation *mutation) {
    insert_line(mutation, PICK(mutation, commands), any_line(mutation, true));
}

static void insert_statement(Mutation *mutation) {
    insert_line(mutation, PICK(mutation, statements), any_line(mutation, false));
}

static void set_options(Mutation *mutation) {
    if (mutation->parts.items[0].text[0] == '#') {
        int64_t begin, end;
        find_line(mutation, 0, &begin, &end);
        splice(mutation, begin, end - begin, NULL, 0);
    }
    if (mutation->parts.count > 0)
        insert_line(mutation, PICK(mutation, options), 0);
}

static void delete_part(Mutation *mutation) {
    splice(mutation, any_part(mutation, false, PART_NAME), 1, NULL, 0);
}

static void delete_line(Mutation *mutation) {
    int64_t begin, end;
    find_line(mutation, any_part(mutation, false, PART_NAME), &begin, &end);
    splice(mutation, begin, end - begin, NULL, 0);
}

static void copy_line(Mutation *mutation) {
    int64_t begin, end, to, unused;
    find_line(mutation, any_part(mutation, false, PART_NAME), &begin, &end);
    find_line(mutation, any_part(mutation, false, PART_NAME), &to, &unused);
    splice(mutation, to, 0, mutation->parts.items + begin, end - begin);
}

static void swap_parts(Mutation *mutation) {
    const int64_t a = any_part(mutation, false, PART_NAME), b = any_part(mutation, false, PART_NAME);
    const Part part = mutation->parts.items[a];
    mutation->parts.items[a] = mutation->parts.items[b];
    mutation->parts.items[b] = part;
}

static void copy_parts(Mutation *mutation) {
    const int64_t from = any_part(mutation, false, PART_NAME), to = any_part(mutation, false, PART_NAME);
    int64_t count = 1 + (int64_t)below(mutation, 12);
    if (count > mutation->parts.count - from)
        count = mutation->parts.count - from;
    splice(mutation, to, 0, mutation->parts.items + from, count);
}

static void insert_word(Mutation *mutation) {
    const Part part = word(PICK(mutation, words));
    splice(mutation, any_part(mutation, false, PART_NAME), (int64_t)below(mutation, 2), &part, 1);
}

static void replace_name(Mutation *mutation) {
    const int64_t at = any_part(mutation, true, PART_NAME);
    mutation->parts.items[at] = any_name(mutation, isupper((unsigned char)*mutation->parts.items[at].text));
}

static void replace_by_any(Mutation *mutation) {
    const int64_t at = any_part(mutation, false, PART_NAME);
    mutation->parts.items[at] = mutation->parts.items[any_part(mutation, false, PART_NAME)];
}

static void replace_number(Mutation *mutation) {
    const int64_t at = any_part(mutation, true, PART_NUMBER);
    mutation->parts.items[at] =
        word(below(mutation, 2) ? numbers[below(mutation, 9)] : PICK(mutation, numbers));
}

static void (*const changes[])(Mutation *) = {
    insert_command, insert_command, insert_command, insert_statement, set_options,    delete_part,
    delete_line,    copy_line,      swap_parts,     copy_parts,       insert_word,    replace_name,
    replace_name,   replace_name,   replace_by_any, replace_number,   replace_number, replace_number};

static size_t write_parts(const Mutation *mutation, uint8_t *data, size_t max_size) {
    size_t size = 0;
    Text text = text_create(mutation->arena);
    for (int64_t i = 0; i < mutation->parts.count; i++)
        text_append_n(&text, mutation->parts.items[i].text, mutation->parts.items[i].length);
    size = text.length < max_size ? text.length : max_size;
    memcpy(data, text_string(&text), size);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
    Mutation mutation = {.state = seed};
    if (size == 0 || below(&mutation, 20) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    mutation.arena = arena_create();
    read_parts(&mutation, arena_copy(mutation.arena, data, size), size);
    for (size_t count = 1 + below(&mutation, 4) * below(&mutation, 2); count > 0 && mutation.parts.count > 0;
         count--)
        PICK(&mutation, changes)(&mutation);
    size = write_parts(&mutation, data, max_size);
    arena_free(mutation.arena);
    return size;
}

// Some neighbouring lines of the second program come into the first.
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
                                 uint8_t *out, size_t max_out_size, unsigned int seed) {
    if (size1 == 0 || size2 == 0)
        return 0;
    Mutation into = {.arena = arena_create(), .state = seed}, from = {.arena = into.arena, .state = seed + 1};
    read_parts(&into, data1, size1);
    read_parts(&from, data2, size2);
    int64_t begin, end, last, to, unused;
    find_line(&from, any_part(&from, false, PART_NAME), &begin, &end);
    for (size_t more = below(&from, 6); more > 0 && end < from.parts.count; more--)
        find_line(&from, end, &last, &end);
    find_line(&into, any_part(&into, false, PART_NAME), &to, &unused);
    splice(&into, to, 0, from.parts.items + begin, end - begin);
    const size_t size = write_parts(&into, out, max_out_size);
    arena_free(into.arena);
    return size;
}
