// SPDX-License-Identifier: BSD-3-Clause
#include "io/source.h"

#include <string.h>

bool source_parse(const char *text, const Tensor *tensor, Arena *arena, SourceSpec *spec,
                  Diagnostics *diagnostics) {
    const size_t length = strcspn(text, ":");
    const char *name = arena_string(arena, text, length);
    *spec = (SourceSpec){.text = arena_string(arena, text, strlen(text)), .generator = generator_named(name)};
    if (spec->generator) {
        const GeneratorUse use = {tensor, text, diagnostics};
        return generator_parse(spec->generator, text[length] ? text + length + 1 : NULL, &use, &spec->values);
    }
    spec->format = file_format_of(text);
    if (spec->format)
        return file_format_check(spec->format, FILE_READ, text, tensor, diagnostics);
    const char *names[GENERATOR_COUNT];
    for (int i = 0; i < GENERATOR_COUNT; i++)
        names[i] = generators[i].name;
    return diagnostics_error(diagnostics, (Span){0}, "'%s' is not a source for %s%s (expected %s)", text,
                             tensor->name, did_you_mean(arena, name, NULL, names, GENERATOR_COUNT),
                             source_list(arena));
}

const char *source_list(Arena *arena) {
    Text list = text_create(arena);
    text_append(&list, file_endings(FILE_READ, "PATH", arena));
    for (int i = 0; i < GENERATOR_COUNT; i++)
        text_printf(&list, "%s%s", i < GENERATOR_COUNT - 1 ? ", " : " or ", generators[i].synopsis);
    return text_string(&list);
}

SourceSpec source_default(int64_t index, Arena *arena) {
    return (SourceSpec){.text = arena_printf(arena, "random:%lld", (long long)index + 1),
                        .is_default = true,
                        .generator = generator_named("random"),
                        .values.seed = (uint64_t)index + 1};
}
