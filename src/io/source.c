// SPDX-License-Identifier: BSD-3-Clause
#include "io/source.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *source_list(Arena *arena) {
    (void)arena;
    return "PATH.npy, zeros, ones, iota, const:V, random:SEED or random:SEED:DENSITY";
}

const char *output_list(Arena *arena) {
    (void)arena;
    return "PATH.npy";
}

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
    return diagnostics_error(diagnostics, (Span){0}, "'%s' is no source for %s; a source is %s", text,
                             tensor->name, source_list(arena));
}

SourceSpec source_default(int64_t index, Arena *arena) {
    return (SourceSpec){.kind = SOURCE_RANDOM,
                        .text = arena_printf(arena, "random:%lld", (long long)index + 1),
                        .seed = (uint64_t)index + 1};
}

bool output_check(const char *path, const Tensor *tensor, Diagnostics *diagnostics) {
    if (ends_with(path, ".npy"))
        return true;
    if (ends_with(path, ".mtx") || ends_with(path, ".tns"))
        return diagnostics_error(diagnostics, (Span){0}, "cannot write %s to '%s': %s is not supported yet",
                                 tensor->name, path, path + strlen(path) - 4);
    return diagnostics_error(diagnostics, (Span){0}, "cannot write %s to '%s': the ending must be .npy",
                             tensor->name, path);
}
