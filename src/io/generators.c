// SPDX-License-Identifier: BSD-3-Clause
#include "io/generators.h"
#include "base/random.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Two functions for each generator: one for reals, one for integers.
#define DEFINE_FILL(name, value)                                                                             \
    static void name##_reals(const GeneratorValues *values, int64_t position, int64_t step, int64_t count,   \
                             double *to) {                                                                   \
        (void)values, (void)position, (void)step;                                                            \
        for (int64_t i = 0; i < count; i++)                                                                  \
            to[i] = (double)(value);                                                                         \
    }                                                                                                        \
    static void name##_integers(const GeneratorValues *values, int64_t position, int64_t step,               \
                                int64_t count, int64_t *to) {                                                \
        (void)values, (void)position, (void)step;                                                            \
        for (int64_t i = 0; i < count; i++)                                                                  \
            to[i] = (value);                                                                                 \
    }
DEFINE_FILL(ones, 1)
DEFINE_FILL(iota, position + i * step)

static void const_reals(const GeneratorValues *values, int64_t position, int64_t step, int64_t count,
                        double *to) {
    (void)position, (void)step;
    for (int64_t i = 0; i < count; i++)
        to[i] = values->real;
}

static void const_integers(const GeneratorValues *values, int64_t position, int64_t step, int64_t count,
                           int64_t *to) {
    (void)position, (void)step;
    for (int64_t i = 0; i < count; i++)
        to[i] = values->integer;
}

// `part`: added to the seed of the value, not to that of whether there is one.
static double random_part(const GeneratorValues *values, uint64_t part, int64_t position) {
    if (!values->has_density)
        return random_fraction(values->seed + part, position);
    return random_fraction(values->seed, position) < values->density
               ? random_fraction(values->seed + 1 + part, position)
               : 0;
}

static double random_element(const GeneratorValues *values, int64_t position) {
    return random_part(values, 0, position);
}

static void random_reals(const GeneratorValues *values, int64_t position, int64_t step, int64_t count,
                         double *to) {
    for (int64_t i = 0; i < count; i++)
        to[i] = random_element(values, position + i * step);
}

static void random_imaginary(const GeneratorValues *values, int64_t position, int64_t step, int64_t count,
                             double *to) {
    for (int64_t i = 0; i < count; i++)
        to[i] = random_part(values, IMAGINARY_SEED, position + i * step);
}

static void random_integers(const GeneratorValues *values, int64_t position, int64_t step, int64_t count,
                            int64_t *to) {
    for (int64_t i = 0; i < count; i++)
        to[i] = (int64_t)(1024 * random_element(values, position + i * step));
}

static bool parse_integer(const char *text, const GeneratorUse *use, GeneratorValues *values) {
    const Tensor *tensor = use->tensor;
    const char *type = type_info(tensor->type)->name;
    char *end;
    errno = 0;
    values->integer = strtoll(text, &end, 10);
    if (isspace((unsigned char)*text) || *end || end == text)
        return diagnostics_error(use->diagnostics, (Span){0}, "%s is %s, and '%s' in '%s' is not an integer",
                                 tensor->name, type, text, use->text);
    if (errno == ERANGE || (tensor->type == TYPE_I32 && values->integer != (int32_t)values->integer))
        return diagnostics_error(use->diagnostics, (Span){0}, "'%s' does not fit into %s, the type of %s",
                                 text, type, tensor->name);
    return true;
}

static bool parse_real(const char *text, const GeneratorUse *use, GeneratorValues *values) {
    const Tensor *tensor = use->tensor;
    const bool is_single = type_component(tensor->type) == TYPE_F32;
    const char *end;
    values->real = text_parse_real(text, &end);
    if (isspace((unsigned char)*text) || *end || end == text)
        return diagnostics_error(use->diagnostics, (Span){0},
                                 "'%s' in '%s', the source of %s, is not a number", text, use->text,
                                 tensor->name);
    const bool is_written = strpbrk(text, "iI") != NULL; // as "inf"
    if (!is_written && (isinf(values->real) || (is_single && isinf((float)values->real))))
        return diagnostics_error(use->diagnostics, (Span){0}, "'%s' does not fit into %s, the type of %s",
                                 text, type_info(tensor->type)->name, tensor->name);
    return true;
}

static bool parse_const(const char *arguments, const GeneratorUse *use, GeneratorValues *values) {
    return type_info(use->tensor->type)->is_integer ? parse_integer(arguments, use, values)
                                                    : parse_real(arguments, use, values);
}

// A number without a sign; `text` is behind it afterwards, and behind a colon where there has to be one.
static bool take_natural(const char **text, bool colon, uint64_t most, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(*text, &end, 10);
    const bool ok =
        isdigit((unsigned char)**text) && errno == 0 && *number <= most && *end == (colon ? ':' : '\0');
    *text = end + colon;
    return ok;
}

static bool refuse(const GeneratorUse *use, const char *what, const char *range) {
    return diagnostics_error(use->diagnostics, (Span){0}, "the %s in '%s', the source of %s, is not %s", what,
                             use->text, use->tensor->name, range);
}

static const char any_seed[] = "an integer from 0 to 18446744073709551615";
static const char any_count[] = "an integer from 0 to 9223372036854775807";

static bool parse_random(const char *arguments, const GeneratorUse *use, GeneratorValues *values) {
    values->has_density = strchr(arguments, ':') != NULL;
    if (!take_natural(&arguments, values->has_density, UINT64_MAX, &values->seed))
        return refuse(use, "seed", any_seed);
    if (!values->has_density)
        return true;
    const char *stop;
    values->density = text_parse_real(arguments, &stop);
    const bool begins = isdigit((unsigned char)*arguments) || *arguments == '.';
    return (begins && !*stop && stop > arguments && values->density >= 0 && values->density <= 1) ||
           refuse(use, "density", "a number from 0 to 1");
}

static bool parse_sparse(const char *arguments, const GeneratorUse *use, GeneratorValues *values) {
    uint64_t count;
    if (!take_natural(&arguments, true, UINT64_MAX, &values->seed))
        return refuse(use, "seed", any_seed);
    if (!take_natural(&arguments, false, INT64_MAX, &count))
        return refuse(use, "number of entries", any_count);
    values->count = (int64_t)count;
    return true;
}

static bool parse_rmat(const char *arguments, const GeneratorUse *use, GeneratorValues *values) {
    uint64_t scale, count;
    if (!take_natural(&arguments, true, UINT64_MAX, &values->seed))
        return refuse(use, "seed", any_seed);
    if (!take_natural(&arguments, true, 62, &scale))
        return refuse(use, "scale", "an integer from 0 to 62");
    if (!take_natural(&arguments, false, INT64_MAX, &count))
        return refuse(use, "number of edges", any_count);
    values->scale = (int)scale;
    values->count = (int64_t)count;
    return true;
}

static bool parse_stencil(const char *arguments, const GeneratorUse *use, GeneratorValues *values) {
    uint64_t points;
    if (!take_natural(&arguments, false, INT_MAX, &points) || !stencil_exists((int64_t)points))
        return refuse(use, "number of points", "3, 5, 7, 9 or 27");
    values->count = (int64_t)points;
    return true;
}

const Generator generators[GENERATOR_COUNT] = {
    {"zeros", "zeros", NULL, const_reals, const_integers, NULL, NULL},
    {"ones", "ones", NULL, ones_reals, ones_integers, NULL, NULL},
    {"iota", "iota", NULL, iota_reals, iota_integers, NULL, NULL},
    {"const", "const:V", parse_const, const_reals, const_integers, NULL, NULL},
    {"random", "random:SEED[:DENSITY]", parse_random, random_reals, random_integers, random_imaginary, NULL},
    {"sparse", "sparse:SEED:COUNT", parse_sparse, NULL, NULL, NULL, &entry_generator_sparse},
    {"rmat", "rmat:SEED:SCALE:EDGES", parse_rmat, NULL, NULL, NULL, &entry_generator_rmat},
    {"stencil", "stencil:POINTS", parse_stencil, NULL, NULL, NULL, &entry_generator_stencil},
};

ElementType generated_type(const Generator *generator, ElementType type) {
    const TypeInfo *info = type_info(type);
    return info->is_integer ? TYPE_I64 : info->is_complex && generator->imaginary ? TYPE_C128 : TYPE_F64;
}

void generator_fill(const Generator *generator, const GeneratorValues *values, ElementType generated,
                    int64_t position, int64_t step, int64_t count, GeneratedBlock *to) {
    if (generated == TYPE_I64) {
        generator->integers(values, position, step, count, to->integers);
    } else if (generated == TYPE_F64) {
        generator->reals(values, position, step, count, to->reals);
    } else {
        double reals[GENERATED_BLOCK], imaginary[GENERATED_BLOCK];
        generator->reals(values, position, step, count, reals);
        generator->imaginary(values, position, step, count, imaginary);
        for (int64_t i = 0; i < count; i++) {
            to->parts[i][0] = reals[i];
            to->parts[i][1] = imaginary[i];
        }
    }
}

bool generator_is_zero(const Generator *generator, const GeneratorValues *values) {
    return generator->reals == const_reals && values->real == 0 && values->integer == 0;
}

const Generator *generator_named(const char *name) {
    for (int i = 0; i < GENERATOR_COUNT; i++)
        if (strcmp(generators[i].name, name) == 0)
            return &generators[i];
    return NULL;
}

static int count_colons(const char *text, const char *end) {
    int count = 0;
    for (; text < end && *text; text++)
        count += *text == ':';
    return count;
}

// Whether there are as many arguments as in the synopsis, with or without those in brackets.
static bool has_arguments(const Generator *generator, const char *arguments) {
    const char *synopsis = generator->synopsis, *end = synopsis + strlen(synopsis);
    const char *optional = strchr(synopsis, '[');
    const int count = arguments ? 1 + count_colons(arguments, arguments + strlen(arguments)) : 0;
    return count <= count_colons(synopsis, end) && count >= count_colons(synopsis, optional ? optional : end);
}

bool generator_parse(const Generator *generator, const char *arguments, const GeneratorUse *use,
                     GeneratorValues *values) {
    if (has_arguments(generator, arguments))
        return !arguments || generator->parse(arguments, use, values);
    return diagnostics_error(use->diagnostics, (Span){0}, "'%s' is not a source for %s: expected %s",
                             use->text, use->tensor->name, generator->synopsis);
}
