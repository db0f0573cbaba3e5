// SPDX-License-Identifier: BSD-3-Clause
#include "io/array_entries.h"

#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "not enough memory for its elements";

static int64_t element_count(int order, const int64_t *extents) {
    int64_t count = 1;
    for (int d = 0; d < order; d++)
        count = extents[d] == 0 ? 0 : saturated_mul(count, extents[d]);
    return count;
}

static bool is_zero(ElementType type, const void *values, int64_t i) {
    switch (type) {
    case TYPE_I32:
        return ((const int32_t *)values)[i] == 0;
    case TYPE_I64:
        return ((const int64_t *)values)[i] == 0;
    case TYPE_F32:
        return ((const float *)values)[i] == 0;
    case TYPE_F64:
        return ((const double *)values)[i] == 0;
    case TYPE_C64:
        return ((const float *)values)[2 * i] == 0 && ((const float *)values)[2 * i + 1] == 0;
    case TYPE_C128:
        return ((const double *)values)[2 * i] == 0 && ((const double *)values)[2 * i + 1] == 0;
    }
    return false;
}

// Sets entry e to the element at a row-major position.
static void set_entry(const Entries *entries, const void *data, int64_t e, int64_t position) {
    const size_t size = type_info(entries->type)->size;
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): entries have been allocated
    memcpy((char *)entries->values + e * (int64_t)size, (const char *)data + position * (int64_t)size, size);
    for (int d = entries->order - 1; d >= 0; d--) {
        entries->coordinates[d][e] = position % entries->extents[d];
        position /= entries->extents[d];
    }
}

const char *array_nonzeros(const void *data, int64_t limit, Entries *entries, Arena *arena) {
    const int64_t count = element_count(entries->order, entries->extents);
    const int team = entries_team(count);
    int64_t *starts = calloc((size_t)team + 1, sizeof *starts);
    if (!starts)
        return no_memory;
#pragma omp parallel for num_threads(team)
    for (int t = 0; t < team; t++)
        for (int64_t p = part_begin(count, team, t); p < part_begin(count, team, t + 1); p++)
            starts[t + 1] += !is_zero(entries->type, data, p);
    for (int t = 0; t < team; t++)
        starts[t + 1] += starts[t];
    entries->count = starts[team];
    const char *why = entries_allocate_within(entries, limit, arena);
    if (!why) {
#pragma omp parallel for num_threads(team)
        for (int t = 0; t < team; t++) {
            int64_t e = starts[t];
            for (int64_t p = part_begin(count, team, t); p < part_begin(count, team, t + 1); p++)
                if (!is_zero(entries->type, data, p))
                    set_entry(entries, data, e++, p);
        }
    }
    free(starts);
    return why;
}

const char *entries_drop_zeros(Entries *entries) {
    uint8_t *keep = malloc((size_t)entries->count + 1);
    if (!keep)
        return no_memory;
#pragma omp parallel for num_threads(entries_team(entries->count))
    for (int64_t e = 0; e < entries->count; e++)
        keep[e] = !is_zero(entries->type, entries->values, e);
    const char *why = entries_keep(entries, keep);
    free(keep);
    return why;
}

void piece_set_entries(const Piece *piece, const Entries *entries) {
    static const double zero[2];
    const MemoryKind *kind = memory_kind(piece->memory);
    piece_clear(REDUCER_SUM, piece);
    const int64_t size = (int64_t)type_info(piece->type)->size;
    for (int64_t e = 0; e < entries->count; e++) {
        int64_t offset = 0;
        bool inside = true;
        for (int d = 0; d < entries->order && inside; d++) {
            const PositionSet set = rect_mode(&piece->rect, d);
            const int64_t x = entries->coordinates[d][e], index = positions_index(set, x);
            inside = x >= set.lo && x < set.hi && positions_index(set, x + 1) > index;
            offset += index * piece->stride[d];
        }
        if (!inside)
            continue;
        // The first of a sum is copied: zero and -0.0 have the sum zero.
        char *to = (char *)piece->data + offset * size;
        const char *from = (const char *)entries->values + e * size;
        if (memcmp(to, zero, (size_t)size) == 0)
            kind->copy(piece->type, to, 1, from, 1, 1);
        else
            kind->reduce(REDUCER_SUM, piece->type, to, 1, from, 1, 1);
    }
}

// The entries that are in a chunk, with others between them: a view.
static Entries entries_near(const Entries *entries, const Rect *chunk) {
    int64_t last[MAX_ORDER];
    for (int d = 0; d < chunk->order; d++)
        last[d] = chunk->hi[d] - 1;
    const int64_t begin = entries_lower_bound(entries, NULL, chunk->lo);
    Entries near = *entries;
    near.count = entries_upper_bound(entries, NULL, last) - begin;
    for (int d = 0; d < near.order; d++)
        near.coordinates[d] += begin;
    near.values = (char *)near.values + begin * (int64_t)type_info(near.type)->size;
    return near;
}

const char *file_write_entries(const FileFormat *format, int fd, const FileTensor *tensor,
                               const Entries *entries, const Region *region) {
    enum { CHUNK = 1 << 20 };
    const char *why = NULL;
    if (entries->count == 0)
        return NULL;
    void *data = memory_allocate(MEMORY_HOST, CHUNK, tensor->type);
    if (!data)
        return no_memory;
    for (int64_t i = 0; i < region->rects.count; i++) {
        const RectChunks chunks = rect_chunks(&region->rects.items[i], NULL, CHUNK);
        // cppcheck-suppress invalidLifetime // a reason does not point to what is written
        for (int64_t c = 0; c < chunks.count && !why; c++) {
            const Rect chunk = rect_chunk(&chunks, c);
            const Entries near = entries_near(entries, &chunk);
            if (near.count == 0)
                continue;
            const PiecePart part = {piece_packed(&chunk, (LevelList){0}, tensor->type, data), chunk};
            piece_set_entries(&part.piece, &near);
            why = format->write(fd, tensor, 1, &part);
        }
    }
    memory_release(MEMORY_HOST, data);
    return why;
}
