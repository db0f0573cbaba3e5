// SPDX-License-Identifier: BSD-3-Clause
#include "io/array_entries.h"

#include "base/integer.h"

#include <complex.h>
#include <omp.h>
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

static const char *allocate(Entries *entries, int64_t count, int64_t limit, Arena *arena) {
    entries->count = count;
    const int64_t bytes = entries_bytes(entries, count);
    return bytes > limit
               ? arena_printf(arena, "its %lld entries take %lld bytes, and there is no memory for them",
                              (long long)count, (long long)bytes)
               : entries_allocate(entries);
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
    const char *why = allocate(entries, starts[team], limit, arena);
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

// All elements, in the order of the last mode first, as .mtx files list them.
static const char *array_columns(const void *data, int64_t limit, Entries *entries, Arena *arena) {
    const char *why = allocate(entries, element_count(entries->order, entries->extents), limit, arena);
    if (why)
        return why;
#pragma omp parallel for num_threads(entries_team(entries->count))
    for (int64_t e = 0; e < entries->count; e++) {
        int64_t rest = e, position = 0, stride = 1, x[MAX_ORDER];
        for (int d = 0; d < entries->order; d++) {
            x[d] = rest % entries->extents[d];
            rest /= entries->extents[d];
        }
        for (int d = entries->order - 1; d >= 0; d--) {
            position += x[d] * stride;
            stride *= entries->extents[d];
        }
        set_entry(entries, data, e, position);
    }
    return NULL;
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
    piece_zero(piece);
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
        (memcmp(to, zero, (size_t)size) == 0 ? kind->copy : kind->add)(piece->type, to, 1, from, 1, 1);
    }
}

// The whole of an array in memory.
static Piece whole_piece(const FileTensor *tensor, void *data) {
    const Rect rect = rect_whole(tensor->order, tensor->extents);
    return piece_packed(&rect, (LevelList){0}, tensor->type, data);
}

static const char *write_array(const FileFormat *format, int fd, const FileTensor *tensor, void *data,
                               Arena *arena) {
    const char *why = format->create(fd, tensor, arena);
    const PiecePart part = {whole_piece(tensor, data), rect_whole(tensor->order, tensor->extents)};
    return why || rect_is_empty(&part.part) ? why : format->write(fd, tensor, 1, &part, arena);
}

const char *file_write_sparse(const FileFormat *format, int fd, const Entries *entries, int64_t limit,
                              Arena *arena) {
    if (format->write_entries)
        return format->write_entries(fd, entries, false, arena);
    FileTensor tensor = {.type = entries->type, .order = entries->order};
    memcpy(tensor.extents, entries->extents, sizeof tensor.extents);
    const int64_t count = element_count(tensor.order, tensor.extents);
    const int64_t bytes = saturated_mul(count, (int64_t)type_info(tensor.type)->size);
    void *data = bytes <= limit ? memory_allocate(MEMORY_HOST, count, tensor.type) : NULL;
    if (!data)
        return arena_printf(
            arena, "all its elements, zeros among them, take %lld bytes, and there is no memory for them",
            (long long)bytes);
    if (count) {
        const Piece piece = whole_piece(&tensor, data);
        piece_set_entries(&piece, entries);
    }
    const char *why = write_array(format, fd, &tensor, data, arena);
    memory_release(MEMORY_HOST, data);
    return why;
}

const char *file_write_dense(const FileFormat *format, int fd, const FileTensor *tensor, void *data,
                             int64_t limit, Arena *arena) {
    if (!format->write_entries)
        return write_array(format, fd, tensor, data, arena);
    Entries entries = {.type = tensor->type, .order = tensor->order};
    memcpy(entries.extents, tensor->extents, sizeof entries.extents);
    const char *why = array_columns(data, limit, &entries, arena);
    if (!why)
        why = format->write_entries(fd, &entries, true, arena);
    entries_free(&entries);
    // cppcheck-suppress returnDanglingLifetime // texts are in the arena or static
    return why;
}
