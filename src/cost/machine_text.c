// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of machines as text: one figure or one level a line, of words between blanks, and comments
// from # to the end of a line. The tables below say which words there are.
#include "cost/machine_model.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef enum { PLAIN, BYTES, SECONDS, BYTE_RATE, FLOP_RATE, DIMENSION_COUNT } Dimension;

static const char *const examples[DIMENSION_COUNT] = {[PLAIN] = "0.9",
                                                      [BYTES] = "64GiB",
                                                      [SECONDS] = "1.5us",
                                                      [BYTE_RATE] = "12GB/s",
                                                      [FLOP_RATE] = "35GFLOP/s"};

// From the smallest on; numbers are printed with the largest that leaves 1 or more.
static const struct {
    const char *name;
    Dimension dimension;
    double factor;
} units[] = {
    {"B", BYTES, 1},
    {"kB", BYTES, 1e3},
    {"KiB", BYTES, 1024},
    {"MB", BYTES, 1e6},
    {"MiB", BYTES, 1048576},
    {"GB", BYTES, 1e9},
    {"GiB", BYTES, 1073741824},
    {"TB", BYTES, 1e12},
    {"TiB", BYTES, 1099511627776.0},
    {"ns", SECONDS, 1e-9},
    {"us", SECONDS, 1e-6},
    {"ms", SECONDS, 1e-3},
    {"s", SECONDS, 1},
    {"B/s", BYTE_RATE, 1},
    {"kB/s", BYTE_RATE, 1e3},
    {"MB/s", BYTE_RATE, 1e6},
    {"GB/s", BYTE_RATE, 1e9},
    {"TB/s", BYTE_RATE, 1e12},
    {"FLOP/s", FLOP_RATE, 1},
    {"MFLOP/s", FLOP_RATE, 1e6},
    {"GFLOP/s", FLOP_RATE, 1e9},
    {"TFLOP/s", FLOP_RATE, 1e12},
};
enum { UNIT_COUNT = sizeof units / sizeof *units };

// A number, or a curve: values at sizes, SIZE:VALUE, or one value.
typedef struct {
    const char *name;
    size_t offset; // of a double or a Curve
    Dimension dimension, size;
    bool is_curve;
    bool may_be_zero;
    double most; // 0: any
} Figure;

static const Figure level_figures[] = {
    {"memory", offsetof(ModelLevel, memory), BYTES, PLAIN, false, false, 0},
    {"copy", offsetof(ModelLevel, copy), BYTE_RATE, BYTES, true, false, 0},
    {"latency", offsetof(ModelLevel, latency), SECONDS, PLAIN, false, true, 0},
    {"bandwidth", offsetof(ModelLevel, bandwidth), BYTE_RATE, BYTES, true, false, 0},
    {"link", offsetof(ModelLevel, link), BYTE_RATE, PLAIN, false, false, 0},
};

#define RATE_FIGURE(NAME, name)                                                                              \
    {name, offsetof(MachineModel, rates) + sizeof(Curve) * MODEL_##NAME, FLOP_RATE, PLAIN, true, false, 0},
static const Figure rate_figures[] = {MODEL_KERNELS(RATE_FIGURE)};
#define FACTOR_FIGURE(NAME, name)                                                                            \
    {name, offsetof(MachineModel, factors) + sizeof(Curve) * COLLECTIVE_##NAME, PLAIN, PLAIN, true, false, 0},
static const Figure factor_figures[] = {COLLECTIVES(FACTOR_FIGURE)};
static const Figure disk_figures[] = {
    {"read", offsetof(MachineModel, disk_read), BYTE_RATE, BYTES, true, false, 0},
    {"write", offsetof(MachineModel, disk_write), BYTE_RATE, BYTES, true, false, 0},
    {"space", offsetof(MachineModel, disk_space), BYTES, PLAIN, false, false, 0},
};
static const Figure single_figures[] = {
    {"single", offsetof(MachineModel, single), PLAIN, PLAIN, false, false, 0},
    {"parallel", offsetof(MachineModel, parallel), PLAIN, PLAIN, false, true, 1},
    {"oversubscribed", offsetof(MachineModel, oversubscribed), PLAIN, PLAIN, false, false, 1},
    {"overhead", offsetof(MachineModel, overhead), SECONDS, PLAIN, false, true, 0},
    {"overlap", offsetof(MachineModel, overlap), PLAIN, PLAIN, false, true, 1},
};
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

// Lines that begin with one word and go on with the name of a figure.
static const struct {
    const char *word;
    const Figure *figures;
    int count;
} groups[] = {
    {"rate", rate_figures, COUNT_OF(rate_figures)},
    {"factor", factor_figures, COUNT_OF(factor_figures)},
    {"disk", disk_figures, COUNT_OF(disk_figures)},
};

// A word of a line: its place and, of a quoted one, what is between the quotes.
typedef struct {
    const char *text;
    Span span;
} Word;

enum { MAX_WORDS = 128 };
typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
    MachineModel *model;
    const void *figures_set[64];
    int figure_count;
    Word words[MAX_WORDS];
    int word_count;

} Reader;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

// Splits a line; false with a diagnostic.
static bool split_line(Reader *reader, const char *line, size_t length, int32_t number) {
    reader->word_count = 0;
    for (size_t at = 0; at < length;) {
        if (is_blank(line[at])) {
            at++;
            continue;
        }
        if (line[at] == '#')
            return true;
        const size_t begin = at;
        const bool is_quoted = line[at] == '"';
        at += is_quoted;
        while (at < length && (is_quoted ? line[at] != '"' : !is_blank(line[at]) && line[at] != '#'))
            at++;
        const Span span = {number, (int32_t)begin + 1, (int32_t)(at - begin + is_quoted)};
        if (is_quoted && at == length)
            return diagnostics_error(reader->diagnostics, span, "the text has no closing quote");
        if (reader->word_count == MAX_WORDS)
            return diagnostics_error(reader->diagnostics, span, "more than %d words in a line", MAX_WORDS);
        const size_t first = begin + is_quoted;
        reader->words[reader->word_count++] =
            (Word){arena_string(reader->arena, line + first, at - first), span};
        at += is_quoted;
    }
    return true;
}

static const char *unit_list(Dimension dimension, Arena *arena) {
    Text list = text_create(arena);
    for (int u = 0; u < UNIT_COUNT; u++)
        if (units[u].dimension == dimension)
            text_printf(&list, "%s%s", list.length ? ", " : "", units[u].name);
    return text_string(&list);
}

// A number with or without a unit. `text` may be a part of the word.
static bool parse_number(const Reader *reader, const char *text, Span span, Dimension dimension,
                         bool may_be_zero, double most, double *value) {
    const char *unit;
    *value = text_parse_real(text, &unit);
    if (unit == text || !isfinite(*value) || *value < 0 || (*value == 0 && !may_be_zero))
        return diagnostics_error(reader->diagnostics, span, "'%s' is not a %s number%s%s, such as %s", text,
                                 may_be_zero ? "nonnegative" : "positive", dimension == PLAIN ? "" : " of ",
                                 dimension == PLAIN ? "" : unit_list(dimension, reader->arena),
                                 examples[dimension]);
    bool known = *unit == '\0';
    for (int u = 0; u < UNIT_COUNT && !known; u++)
        if (units[u].dimension == dimension && strcmp(units[u].name, unit) == 0) {
            *value *= units[u].factor;
            known = true;
        }
    if (!known && dimension == PLAIN)
        return diagnostics_error(reader->diagnostics, span, "'%s' has no unit: write a number alone", text);
    if (!known)
        return diagnostics_error(reader->diagnostics, span, "'%s' is no unit here: expected %s", unit,
                                 unit_list(dimension, reader->arena));
    return most == 0 || *value <= most ||
           diagnostics_error(reader->diagnostics, span, "'%s' is more than %g", text, most);
}

// One point of a curve: SIZE:VALUE, or VALUE alone.
static bool parse_point(const Reader *reader, const Figure *figure, Word word, Curve *curve) {
    const char *colon = strchr(word.text, ':');
    double size = 1, value;
    const char *number = colon ? colon + 1 : word.text;
    if (curve->count == MODEL_POINTS)
        return diagnostics_error(reader->diagnostics, word.span, "more than %d values", MODEL_POINTS);
    if (colon && !parse_number(reader, arena_string(reader->arena, word.text, (size_t)(colon - word.text)),
                               word.span, figure->size, false, 0, &size))
        return false;
    if (!parse_number(reader, number, word.span, figure->dimension, false, figure->most, &value))
        return false;
    if (curve->count > 0 && (!colon || size <= curve->sizes[curve->count - 1]))
        return diagnostics_error(reader->diagnostics, word.span,
                                 "sizes increase from one value to the next: expected SIZE:VALUE with a "
                                 "size above %g",
                                 curve->sizes[curve->count - 1]);
    curve->sizes[curve->count] = size;
    curve->values[curve->count++] = value;
    return true;
}

static const Figure *figure_named(const Figure *figures, int count, const char *name) {
    for (int f = 0; f < count; f++)
        if (strcmp(figures[f].name, name) == 0)
            return &figures[f];
    return NULL;
}

static bool unknown_word(const Reader *reader, Word word, const char *what, const Figure *figures,
                         int count) {
    const char *names[32];
    for (int f = 0; f < count; f++)
        names[f] = figures[f].name;
    return diagnostics_error(reader->diagnostics, word.span, "unknown %s '%s'%s", what, word.text,
                             did_you_mean(reader->arena, word.text, "expected one of", names, count));
}

static bool set_once(Reader *reader, Word word, const void *figure) {
    for (int f = 0; f < reader->figure_count; f++)
        if (reader->figures_set[f] == figure)
            return diagnostics_error(reader->diagnostics, word.span, "'%s' is given twice", word.text);
    reader->figures_set[reader->figure_count++] = figure;
    return true;
}

// Takes the values that follow the name of a figure, up to a word that is no number; *at is then at that.
static bool take_figure(Reader *reader, const Figure *figure, void *record, int *at) {
    const Word name = reader->words[(*at)++];
    if (*at == reader->word_count)
        return diagnostics_error(reader->diagnostics, name.span, "'%s' has no value: write one such as %s",
                                 name.text, examples[figure->dimension]);
    if (!figure->is_curve) {
        const Word word = reader->words[(*at)++];
        return parse_number(reader, word.text, word.span, figure->dimension, figure->may_be_zero,
                            figure->most, (double *)(void *)((char *)record + figure->offset));
    }
    Curve *curve = (Curve *)((char *)record + figure->offset);
    *curve = (Curve){0};
    do
        if (!parse_point(reader, figure, reader->words[(*at)++], curve))
            return false;
    while (*at < reader->word_count && strchr("0123456789.+-", reader->words[*at].text[0]));
    return true;
}

static bool at_end(const Reader *reader, int at) {
    return at == reader->word_count || diagnostics_error(reader->diagnostics, reader->words[at].span,
                                                         "unexpected '%s'", reader->words[at].text);
}

static bool take_count(const Reader *reader, int at, const char *what, int64_t *count) {
    double number;
    if (at >= reader->word_count)
        return diagnostics_error(reader->diagnostics, reader->words[at - 1].span, "expected %s", what);
    const Word word = reader->words[at];
    if (!parse_number(reader, word.text, word.span, PLAIN, false, 1e9, &number))
        return false;
    *count = (int64_t)number;
    return (double)*count == number ||
           diagnostics_error(reader->diagnostics, word.span, "'%s' is not an integer", word.text);
}

static bool take_text(const Reader *reader, const char *what, char *to) {
    if (reader->word_count < 2)
        return diagnostics_error(reader->diagnostics, reader->words[0].span, "expected %s", what);
    const Word word = reader->words[1];
    if (strlen(word.text) >= MODEL_NAME)
        return diagnostics_error(reader->diagnostics, word.span, "a name has up to %d bytes", MODEL_NAME - 1);
    snprintf(to, MODEL_NAME, "%s", word.text);
    return true;
}

static bool read_level(Reader *reader) {
    MachineModel *model = reader->model;
    if (model->level_count == MODEL_LEVELS)
        return diagnostics_error(reader->diagnostics, reader->words[0].span, "more than %d levels",
                                 MODEL_LEVELS);
    ModelLevel *level = &model->levels[model->level_count];
    *level = (ModelLevel){0};
    bool set[COUNT_OF(level_figures)] = {false};
    if (!take_text(reader, "the name of the level, as in: level node 16", level->name))
        return false;
    for (int l = 0; l < model->level_count; l++)
        if (strcmp(model->levels[l].name, level->name) == 0)
            return diagnostics_error(reader->diagnostics, reader->words[1].span, "level '%s' is given twice",
                                     level->name);
    if (!take_count(reader, 2, "the number of its units, as in: level node 16", &level->count))
        return false;
    for (int at = 3; at < reader->word_count;) {
        const Figure *figure = figure_named(level_figures, COUNT_OF(level_figures), reader->words[at].text);
        if (!figure)
            return unknown_word(reader, reader->words[at], "figure of a level", level_figures,
                                COUNT_OF(level_figures));
        if (set[figure - level_figures])
            return diagnostics_error(reader->diagnostics, reader->words[at].span, "'%s' is given twice",
                                     figure->name);
        set[figure - level_figures] = true;
        if (!take_figure(reader, figure, level, &at))
            return false;
    }
    if (!set[2] || !set[3])
        return diagnostics_error(reader->diagnostics, reader->words[1].span,
                                 "level '%s' has no %s of messages between its units", level->name,
                                 set[2] ? "bandwidth" : "latency");
    model->level_count++;
    return true;
}

static bool read_group(Reader *reader, const Figure *figures, int count) {
    if (reader->word_count < 2) {
        Text names = text_create(reader->arena);
        for (int f = 0; f < count; f++)
            text_printf(&names, "%s%s", f ? ", " : "", figures[f].name);
        return diagnostics_error(reader->diagnostics, reader->words[0].span, "expected one of %s",
                                 text_string(&names));
    }
    const Figure *figure = figure_named(figures, count, reader->words[1].text);
    int at = 1;
    if (!figure)
        return unknown_word(reader, reader->words[1], reader->words[0].text, figures, count);
    return set_once(reader, reader->words[1], figure) && take_figure(reader, figure, reader->model, &at) &&
           at_end(reader, at);
}

static bool read_line(Reader *reader) {
    static const char machine[] = "machine", level[] = "level", ranks[] = "ranks";
    const Word first = reader->words[0];
    if (strcmp(first.text, machine) == 0)
        return set_once(reader, first, machine) &&
               take_text(reader, "the name of the machine, in quotes", reader->model->name) &&
               at_end(reader, 2);
    if (strcmp(first.text, level) == 0)
        return read_level(reader);
    if (strcmp(first.text, ranks) == 0)
        return set_once(reader, first, ranks) &&
               take_count(reader, 1, "the most ranks of a unit of the first level", &reader->model->ranks) &&
               at_end(reader, 2);
    for (int g = 0; g < COUNT_OF(groups); g++)
        if (strcmp(first.text, groups[g].word) == 0)
            return read_group(reader, groups[g].figures, groups[g].count);
    const Figure *figure = figure_named(single_figures, COUNT_OF(single_figures), first.text);
    int at = 0;
    if (figure)
        return set_once(reader, first, figure) && take_figure(reader, figure, reader->model, &at) &&
               at_end(reader, at);
    Array(const char *) names = {0};
    array_push(reader->arena, names, machine);
    array_push(reader->arena, names, level);
    array_push(reader->arena, names, ranks);
    for (int g = 0; g < COUNT_OF(groups); g++)
        array_push(reader->arena, names, groups[g].word);
    for (int f = 0; f < COUNT_OF(single_figures); f++)
        array_push(reader->arena, names, single_figures[f].name);
    return diagnostics_error(
        reader->diagnostics, first.span, "unknown word '%s'%s", first.text,
        did_you_mean(reader->arena, first.text, "expected one of", names.items, names.count));
}

// What a description may leave out takes its place from other figures, or from the default machine.
enum { SMALL_PRODUCT = 32 };
static void fill_in(MachineModel *model) {
    const MachineModel standard = machine_model_default();
    Curve *rates = model->rates;
    for (int k = MODEL_PANELS; k <= MODEL_CONTRACTION; k++)
        if (rates[k].count == 0)
            rates[k] = rates[MODEL_GEMM];
    if (rates[MODEL_LOOPS].count == 0)
        rates[MODEL_LOOPS] = curve_constant(curve_at(&rates[MODEL_GEMM], SMALL_PRODUCT));
    for (int k = MODEL_VECTOR; k <= MODEL_SPARSE; k++)
        if (rates[k].count == 0)
            rates[k] = rates[MODEL_LOOPS];
    if (rates[MODEL_MERGE].count == 0)
        rates[MODEL_MERGE] = rates[MODEL_SPARSE];
    for (int c = COLLECTIVE_NONE + 1; c < COLLECTIVE_COUNT; c++)
        if (model->factors[c].count == 0)
            model->factors[c] = standard.factors[c];
    if (model->disk_read.count == 0 && model->disk_write.count == 0) {
        model->disk_read = standard.disk_read;
        model->disk_write = standard.disk_write;
    }
    if (model->disk_read.count == 0)
        model->disk_read = model->disk_write;
    if (model->disk_write.count == 0)
        model->disk_write = model->disk_read;
}

static bool check_whole(const Reader *reader) {
    const MachineModel *model = reader->model;
    const Span nowhere = {0};
    bool has_copy = false;
    for (int l = 0; l < model->level_count; l++)
        has_copy = has_copy || model->levels[l].copy.count > 0;
    if (model->level_count == 0)
        return diagnostics_error(reader->diagnostics, nowhere,
                                 "the machine has no level: write one such as: level node 16 latency 1.5us "
                                 "bandwidth 12GB/s copy 200GB/s");
    if (!has_copy)
        return diagnostics_error(reader->diagnostics, nowhere,
                                 "no level has a bandwidth of memory: write one such as: copy 200GB/s");
    if (model->rates[MODEL_GEMM].count == 0)
        return diagnostics_error(reader->diagnostics, nowhere,
                                 "the machine has no rate of matrix products: write one such as: rate gemm "
                                 "35GFLOP/s");
    return true;
}

bool machine_model_read(Source source, Arena *arena, MachineModel *model, Diagnostics *diagnostics) {
    const MachineModel standard = machine_model_default();
    *model = (MachineModel){.single = standard.single,
                            .parallel = standard.parallel,
                            .oversubscribed = standard.oversubscribed,
                            .overhead = standard.overhead,
                            .overlap = standard.overlap};
    snprintf(model->name, sizeof model->name, "%.*s", MODEL_NAME - 1, source.name);
    Reader *reader = arena_new(arena, Reader);
    *reader = (Reader){.arena = arena, .diagnostics = diagnostics, .model = model};
    const int64_t errors = diagnostics->errors;
    int32_t number = 1;
    for (const char *line = source.text; *line; number++) {
        const size_t length = strcspn(line, "\n");
        if (split_line(reader, line, length, number) && reader->word_count > 0)
            read_line(reader);
        line += length + (line[length] == '\n');
    }
    if (diagnostics->errors > errors || !check_whole(reader))
        return false;
    fill_in(model);
    return true;
}

// With four digits and the largest unit that leaves 1 or more.
static void print_number(double value, Dimension dimension, Text *to) {
    int best = -1;
    for (int u = 0; u < UNIT_COUNT; u++) {
        const bool binary = strchr(units[u].name, 'i');
        if (units[u].dimension == dimension && (best < 0 || value >= units[u].factor) &&
            (!binary || fmod(value, units[u].factor) == 0) &&
            (best < 0 || !strchr(units[best].name, 'i') || binary))
            best = u;
    }
    text_printf(to, dimension == PLAIN ? "%.6g%s" : "%.4g%s", best < 0 ? value : value / units[best].factor,
                best < 0 ? "" : units[best].name);
}

static void print_figure(const Figure *figure, const void *record, Text *to) {
    text_printf(to, " %s", figure->name);
    if (!figure->is_curve) {
        text_append(to, " ");
        print_number(*(const double *)(const void *)((const char *)record + figure->offset),
                     figure->dimension, to);
        return;
    }
    const Curve *curve = (const Curve *)((const char *)record + figure->offset);
    for (int p = 0; p < curve->count; p++) {
        text_append(to, " ");
        if (curve->count > 1) {
            print_number(curve->sizes[p], figure->size, to);
            text_append(to, ":");
        }
        print_number(curve->values[p], figure->dimension, to);
    }
}

static bool is_known(const Figure *figure, const void *record) {
    const void *at = (const char *)record + figure->offset;
    return figure->is_curve ? ((const Curve *)at)->count > 0
                            : *(const double *)at != 0 || figure->may_be_zero;
}

void machine_model_print(const MachineModel *model, Text *to) {
    text_printf(to, "machine \"%s\"\n", model->name);
    for (int l = 0; l < model->level_count; l++) {
        text_printf(to, "level %s %" PRId64, model->levels[l].name, model->levels[l].count);
        for (int f = 0; f < COUNT_OF(level_figures); f++)
            if (is_known(&level_figures[f], &model->levels[l]))
                print_figure(&level_figures[f], &model->levels[l], to);
        text_append(to, "\n");
    }
    if (model->ranks > 0)
        text_printf(to, "ranks %" PRId64 "\n", model->ranks);
    for (int g = 0; g < COUNT_OF(groups); g++)
        for (int f = 0; f < groups[g].count; f++)
            if (is_known(&groups[g].figures[f], model)) {
                text_append(to, groups[g].word);
                print_figure(&groups[g].figures[f], model, to);
                text_append(to, "\n");
            }
    for (int f = 0; f < COUNT_OF(single_figures); f++) {
        Text line = text_create(to->arena);
        print_figure(&single_figures[f], model, &line);
        text_printf(to, "%s\n", text_string(&line) + 1);
    }
}
