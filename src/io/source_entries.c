// SPDX-License-Identifier: BSD-3-Clause
#include "io/source_entries.h"

#include "io/generate_entries.h"
#include "io/input.h"

#include <string.h>

static bool read_file(const SourceSpec *source, const char *tensor, InputFile *file, int64_t limit,
                      Entries *entries, Diagnostics *diagnostics) {
    const ElementType type = entries->type;
    const bool ok = input_open(source->format, source->text, file, diagnostics) &&
                    input_check(file, tensor, type, entries->order, entries->extents, diagnostics) &&
                    input_entries(file, type, limit, entries, diagnostics);
    input_close(file);
    return ok;
}

bool source_entries(const SourceSpec *source, const char *tensor, ElementType type, int order,
                    const int64_t *extents, int64_t limit, Entries *entries, Diagnostics *diagnostics) {
    *entries = (Entries){.type = type, .order = order};
    memcpy(entries->extents, extents, sizeof(int64_t) * (size_t)order);
    InputFile file;
    if (source->format)
        return read_file(source, tensor, &file, limit, entries, diagnostics);
    const char *why =
        generate_entries(source->generator, &source->values, limit, entries, diagnostics->arena);
    return !why ||
           diagnostics_error(diagnostics, (Span){0}, "'%s' cannot make %s: %s", source->text, tensor, why);
}
