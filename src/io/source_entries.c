// SPDX-License-Identifier: BSD-3-Clause
#include "io/source_entries.h"

#include "io/generate_entries.h"

#include <string.h>

bool source_open(SourceShare *share, const Entries *entries, int64_t *count, Diagnostics *diagnostics) {
    const SourceSpec *source = share->source;
    InputFile *file = &share->file;
    *count = 0;
    if (!source->format)
        return true;
    const bool ok =
        input_open(source->format, source->text, file, diagnostics) &&
        input_check(file, share->tensor, entries->type, entries->order, entries->extents, diagnostics);
    file->share = share->share;
    file->shares = share->shares;
    file->keeps_zeros = share->keeps_zeros;
    return ok && (share->shares < 2 || input_count(file, count, diagnostics));
}

bool source_read(SourceShare *share, int64_t limit, Entries *entries, Diagnostics *diagnostics) {
    const SourceSpec *source = share->source;
    share->file.listed = &share->listed;
    if (source->format)
        return input_entries(&share->file, entries->type, limit, entries, diagnostics);
    const char *why = generate_entries(source->generator, &source->values, share->share, share->shares, limit,
                                       entries, diagnostics->arena);
    return !why || diagnostics_error(diagnostics, (Span){0}, "'%s' cannot make %s: %s", source->text,
                                     share->tensor, why);
}

bool source_check(const SourceShare *share, int64_t listed, Diagnostics *diagnostics) {
    return !share->source->format || input_check_listed(&share->file, listed, diagnostics);
}

void source_close(SourceShare *share) {
    if (share->source->format)
        input_close(&share->file);
}

bool source_entries(const SourceSpec *source, const char *tensor, ElementType type, int order,
                    const int64_t *extents, int64_t limit, Entries *entries, Diagnostics *diagnostics) {
    SourceShare whole = {.source = source, .tensor = tensor, .shares = 1, .file = {.fd = -1}};
    *entries = (Entries){.type = type, .order = order};
    memcpy(entries->extents, extents, sizeof(int64_t) * (size_t)order);
    int64_t count;
    const bool ok =
        source_open(&whole, entries, &count, diagnostics) && source_read(&whole, limit, entries, diagnostics);
    source_close(&whole);
    return ok;
}
