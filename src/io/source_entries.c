// SPDX-License-Identifier: BSD-3-Clause
#include "io/source_entries.h"

#include "base/integer.h"
#include "format/entry_list.h"
#include "io/generate.h"
#include "io/input.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_ELEMENTS = 1 << 16 };
// Positions that are looked at one by one.
static const int64_t most_positions = 10000000000;

// Dense elements on their way into a list of entries, block by block.
typedef struct {
    const SourceSpec *source;
    EntryList list;
    char *block;
    Diagnostics *diagnostics;
} Dense;

static bool is_zero(const char *value, size_t size) {
    static const char zeros[16];
    return memcmp(value, zeros, size) == 0;
}

// Negative zeros are zeros.
static bool is_stored(const char *value, ElementType type) {
    const TypeInfo *info = type_info(type);
    if (info->is_integer)
        return !is_zero(value, info->size);
    const bool is_single = type == TYPE_F32 || type == TYPE_C64;
    const size_t part = is_single ? sizeof(float) : sizeof(double);
    for (size_t at = 0; at < info->size; at += part) {
        float f32;
        double f64;
        memcpy(is_single ? (void *)&f32 : (void *)&f64, value + at, part);
        if (is_single ? f32 != 0 : f64 != 0)
            return true;
    }
    return false;
}

static bool append_block(Dense *dense, const Rect *rect) {
    Entries *entries = &dense->list.entries;
    const size_t size = type_info(entries->type)->size;
    const int64_t count = rect_volume(rect);
    int64_t x[MAX_ORDER];
    memcpy(x, rect->lo, sizeof x);
    for (int64_t i = 0; i < count; i++) {
        const char *value = dense->block + (size_t)i * size;
        if (is_stored(value, entries->type) && !entry_list_append(&dense->list, x, value))
            return diagnostics_error(dense->diagnostics, (Span){0},
                                     "the process has not enough memory for the elements that are not zero");
        for (int d = entries->order - 1; d >= 0 && ++x[d] == rect->hi[d]; d--)
            x[d] = rect->lo[d];
    }
    return true;
}

static bool read_block(Dense *dense, const Rect *rect) {
    const Entries *entries = &dense->list.entries;
    const Piece piece = piece_packed(rect, (LevelList){0}, entries->type, dense->block);
    generate(dense->source->generator, &dense->source->values, entries->extents, &piece);
    return true;
}

// Blocks of whole inner modes, as many coordinates of mode `mode` at once as fit.
static bool append_rect(Dense *dense, Rect rect, int mode) {
    if (rect_volume(&rect) <= BLOCK_ELEMENTS)
        return rect_is_empty(&rect) || (read_block(dense, &rect) && append_block(dense, &rect));
    const int64_t below = rect_volume(&rect) / rect_count(&rect, mode);
    const int64_t step = max_i64(1, BLOCK_ELEMENTS / below);
    for (int64_t at = rect.lo[mode]; at < rect.hi[mode]; at += step) {
        Rect part = rect;
        part.lo[mode] = at;
        part.hi[mode] = min_i64(at + step, rect.hi[mode]);
        if (!append_rect(dense, part, mode + 1))
            return false;
    }
    return true;
}

static bool append_all(Dense *dense) {
    const Entries *entries = &dense->list.entries;
    int64_t positions = 1;
    for (int d = 0; d < entries->order; d++)
        positions = saturated_mul(positions, entries->extents[d]);
    if (positions > most_positions)
        return diagnostics_error(dense->diagnostics, (Span){0},
                                 "'%s' looks at every position, and %lld are the most that it can",
                                 dense->source->text, (long long)most_positions);
    dense->block = malloc(BLOCK_ELEMENTS * type_info(entries->type)->size);
    if (!dense->block)
        return diagnostics_error(dense->diagnostics, (Span){0}, "the process has not enough memory");
    const bool ok = append_rect(dense, rect_whole(entries->order, entries->extents), 0);
    free(dense->block);
    return ok;
}

static bool read_file(const SourceSpec *source, const char *tensor, InputFile *file, const Entries *wanted,
                      int64_t limit, Entries *entries, Diagnostics *diagnostics) {
    const bool ok = input_open(source->format, source->text, file, diagnostics) &&
                    input_check(file, tensor, wanted->type, wanted->order, wanted->extents, diagnostics) &&
                    input_entries(file, wanted->type, limit, entries, diagnostics);
    input_close(file);
    return ok;
}

bool source_entries(const SourceSpec *source, const char *tensor, ElementType type, int order,
                    const int64_t *extents, int64_t limit, Entries *entries, Diagnostics *diagnostics) {
    *entries = (Entries){.type = type, .order = order};
    memcpy(entries->extents, extents, sizeof(int64_t) * (size_t)order);
    if (source->format) {
        InputFile file;
        const Entries wanted = *entries;
        return read_file(source, tensor, &file, &wanted, limit, entries, diagnostics);
    }
    Dense dense = {
        .source = source, .list = {.entries = *entries, .limit = limit}, .diagnostics = diagnostics};
    const bool ok = append_all(&dense);
    *entries = dense.list.entries;
    return ok;
}
