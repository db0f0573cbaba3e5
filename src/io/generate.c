// SPDX-License-Identifier: BSD-3-Clause
#include "io/generate.h"

#include "base/integer.h"
#include "io/runs.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const source_list = "zeros, ones, iota, const:V, random:SEED, random:SEED:DENSITY, "
                                       "PATH.npy";

// What `text` says after "NAME:"; NULL where it begins otherwise.
static const char *argument_of(const char *text, const char *name) {
    size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == ':' ? text + length + 1 : NULL;
}

static bool ends_with(const char *text, const char *ending) {
    size_t n = strlen(text), m = strlen(ending);
    return n > m && strcmp(text + n - m, ending) == 0;
}

static bool parse_constant(const char *value, const Tensor *tensor, SourceSpec *spec,
                           Diagnostics *diagnostics) {
    const TypeInfo *type = type_info(tensor->type);
    char *end;
    bool begins = isalnum((unsigned char)*value) || (*value && strchr("+-.", *value));
    errno = 0;
    if (type->is_integer) {
        spec->integer = strtoll(value, &end, 10);
        if (!begins || *end || end == value)
            return diagnostics_error(diagnostics, (Span){0}, "%s is %s, and '%s' in '%s' is not an integer",
                                     tensor->name, type->name, value, spec->text);
        if (errno == ERANGE || (tensor->type == TYPE_I32 && spec->integer != (int32_t)spec->integer))
            return diagnostics_error(diagnostics, (Span){0}, "'%s' does not fit into %s, the type of %s",
                                     value, type->name, tensor->name);
        return true;
    }
    spec->real = strtod(value, &end);
    if (!begins || *end || end == value)
        return diagnostics_error(diagnostics, (Span){0}, "'%s' in '%s', the source of %s, is not a number",
                                 value, spec->text, tensor->name);
    bool single = tensor->type == TYPE_F32 || tensor->type == TYPE_C64;
    if ((errno == ERANGE && isinf(spec->real)) ||
        (single && isfinite(spec->real) && isinf((float)spec->real)))
        return diagnostics_error(diagnostics, (Span){0}, "'%s' does not fit into %s, the type of %s", value,
                                 type->name, tensor->name);
    return true;
}

static bool parse_random(const char *arguments, const Tensor *tensor, SourceSpec *spec,
                         Diagnostics *diagnostics) {
    char *end;
    errno = 0;
    spec->seed = strtoull(arguments, &end, 10);
    if (!isdigit((unsigned char)*arguments) || (*end && *end != ':') || errno == ERANGE)
        return diagnostics_error(diagnostics, (Span){0},
                                 "the seed in '%s', the source of %s, is not an integer from 0 to "
                                 "18446744073709551615",
                                 spec->text, tensor->name);
    if (!*end)
        return true;
    const char *density = end + 1;
    spec->has_density = true;
    spec->density = strtod(density, &end);
    bool begins = isdigit((unsigned char)*density) || *density == '.';
    if (!begins || *end || end == density || !(spec->density >= 0 && spec->density <= 1))
        return diagnostics_error(diagnostics, (Span){0},
                                 "the density in '%s', the source of %s, is not a number from 0 to 1",
                                 spec->text, tensor->name);
    return true;
}

bool source_parse(const char *text, const Tensor *tensor, Arena *arena, SourceSpec *spec,
                  Diagnostics *diagnostics) {
    static const struct {
        const char *name;
        SourceKind kind;
    } plain[] = {{"zeros", SOURCE_ZEROS}, {"ones", SOURCE_ONES}, {"iota", SOURCE_IOTA}};
    *spec = (SourceSpec){.text = arena_string(arena, text, strlen(text))};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(text, plain[i].name) == 0) {
            spec->kind = plain[i].kind;
            return true;
        }
    const char *arguments = argument_of(text, "const");
    if (arguments) {
        spec->kind = SOURCE_CONST;
        return parse_constant(arguments, tensor, spec, diagnostics);
    }
    arguments = argument_of(text, "random");
    if (arguments) {
        spec->kind = SOURCE_RANDOM;
        return parse_random(arguments, tensor, spec, diagnostics);
    }
    spec->kind = SOURCE_NPY;
    if (ends_with(text, ".npy"))
        return true;
    if (ends_with(text, ".mtx") || ends_with(text, ".tns"))
        return diagnostics_error(diagnostics, (Span){0}, "cannot read %s from '%s': %s is not supported yet",
                                 tensor->name, text, text + strlen(text) - 4);
    return diagnostics_error(diagnostics, (Span){0}, "'%s' is no source for %s (a source is one of: %s)",
                             text, tensor->name, source_list);
}

SourceSpec source_default(int64_t index, Arena *arena) {
    return (SourceSpec){.kind = SOURCE_RANDOM,
                        .text = arena_printf(arena, "random:%lld", (long long)index + 1),
                        .seed = (uint64_t)index + 1};
}

double random_value(uint64_t seed, int64_t position) {
    uint64_t z = seed + ((uint64_t)position + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

typedef struct {
    const SourceSpec *spec;
    char *data;
    size_t size;
    int64_t first; // position of the first element
    bool is_integer;
    Conversion store;
} Generation;

static double random_element(const SourceSpec *spec, int64_t position) {
    if (!spec->has_density)
        return random_value(spec->seed, position);
    return random_value(spec->seed, position) < spec->density ? random_value(spec->seed + 1, position) : 0;
}

static void generate_reals(const SourceSpec *spec, int64_t position, int64_t step, int64_t count,
                           double *values) {
    if (spec->kind == SOURCE_RANDOM)
        for (int64_t i = 0; i < count; i++)
            values[i] = random_element(spec, position + i * step);
    else if (spec->kind == SOURCE_IOTA)
        for (int64_t i = 0; i < count; i++)
            values[i] = (double)(position + i * step);
    else
        for (int64_t i = 0; i < count; i++)
            values[i] = spec->kind == SOURCE_CONST ? spec->real : spec->kind == SOURCE_ONES;
}

static void generate_integers(const SourceSpec *spec, int64_t position, int64_t step, int64_t count,
                              int64_t *values) {
    if (spec->kind == SOURCE_RANDOM)
        for (int64_t i = 0; i < count; i++)
            values[i] = (int64_t)(1024 * random_element(spec, position + i * step));
    else if (spec->kind == SOURCE_IOTA)
        for (int64_t i = 0; i < count; i++)
            values[i] = position + i * step;
    else
        for (int64_t i = 0; i < count; i++)
            values[i] = spec->kind == SOURCE_CONST ? spec->integer : spec->kind == SOURCE_ONES;
}

// In blocks that stay in the nearest cache between making and storing.
static void generate_run(void *context, const Run *run) {
    enum { BLOCK = 1024 };
    const Generation *to = context;
    union {
        double reals[BLOCK];
        int64_t integers[BLOCK];
    } values;
    for (int64_t done = 0; done < run->count; done += BLOCK) {
        int64_t count = min_i64(BLOCK, run->count - done);
        int64_t position = to->first + run->b + done * run->b_step;
        if (to->is_integer)
            generate_integers(to->spec, position, run->b_step, count, values.integers);
        else
            generate_reals(to->spec, position, run->b_step, count, values.reals);
        to->store(to->data + (run->a + done * run->a_step) * (int64_t)to->size, run->a_step, &values, 1,
                  count);
    }
}

void generate(const SourceSpec *spec, const int64_t *extents, ElementType type, const Piece *piece) {
    const Rect *rect = &piece->rect;
    Rect whole = rect_whole(rect->order, extents);
    int64_t position_stride[MAX_ORDER], extent[MAX_ORDER], first = 0;
    packed_strides(&whole, NULL, position_stride);
    for (int d = 0; d < rect->order; d++) {
        extent[d] = rect->hi[d] - rect->lo[d];
        first += rect->lo[d] * position_stride[d];
    }
    const TypeInfo *info = type_info(type);
    Generation generation = {.spec = spec,
                             .data = piece->data,
                             .size = info->size,
                             .first = first,
                             .is_integer = info->is_integer,
                             .store = type_conversion(info->is_integer ? TYPE_I64 : TYPE_F64, type)};
    Runs runs = runs_create(rect->order, extent, piece->stride, position_stride);
    runs_visit(&runs, true, generate_run, &generation);
}
