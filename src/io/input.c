// SPDX-License-Identifier: BSD-3-Clause
#include "io/input.h"

#include "base/integer.h"
#include "io/array_entries.h"
#include "io/file_array.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(const InputFile *file, const char *why, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0}, "cannot read '%s': %s", file->path, why);
}

bool input_open(const FileFormat *format, const char *path, InputFile *file, Diagnostics *diagnostics) {
    const FilePath at = file_path(path, diagnostics->arena);
    *file = (InputFile){.format = format, .path = path, .array = at.array, .fd = -1};
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    file->fd = open(at.file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    const char *why;
    if (file->fd < 0 || fstat(file->fd, &status) != 0) {
        why = strerror(errno);
    } else if (!S_ISREG(status.st_mode)) {
        why = "it is not a regular file";
    } else {
        file->size = (int64_t)status.st_size;
        why = format->open(file, diagnostics->arena);
    }
    if (!why)
        return true;
    input_close(file);
    return refuse(file, why, diagnostics);
}

void input_close(InputFile *file) {
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    entries_free(&file->entries);
}

// "(3, 4)", "(3,)", "()"
static const char *shape_text(int order, const int64_t *extents, Arena *arena) {
    Text text = text_create(arena);
    for (int d = 0; d < order; d++)
        text_printf(&text, "%s%lld", d ? ", " : "(", (long long)extents[d]);
    text_append(&text, order == 0 ? "()" : order == 1 ? ",)" : ")");
    return text_string(&text);
}

// A vector may be in a file as a matrix of one column.
static bool is_column(const FileTensor *stored, int order) {
    return stored->values && order == 1 && stored->order == 2 && stored->extents[1] == 1;
}

static bool check_shape(const InputFile *file, const char *tensor, int order, const int64_t *extents,
                        Diagnostics *diagnostics) {
    const FileTensor *stored = &file->tensor;
    bool same = stored->order == order || is_column(stored, order);
    for (int d = 0; d < order && same; d++)
        same = stored->extents[d] == extents[d];
    if (same || stored->order < 0)
        return true;
    Arena *arena = diagnostics->arena;
    return diagnostics_error(diagnostics, (Span){0},
                             "cannot read %s from '%s': its shape is %s, that of %s is %s", tensor,
                             file->path, shape_text(stored->order, stored->extents, arena), tensor,
                             shape_text(order, extents, arena));
}

// Text is converted number by number, where it can be at all.
static bool is_convertible(const InputFile *file, ElementType type) {
    const ElementType from = file->tensor.type;
    return from == type ||
           (type_storable(from, type) && (file->format->header || type_promote(from, type) == type));
}

bool input_check(InputFile *file, const char *tensor, ElementType type, int order, const int64_t *extents,
                 Diagnostics *diagnostics) {
    if (!check_shape(file, tensor, order, extents, diagnostics))
        return false;
    FileTensor *stored = &file->tensor;
    if (!is_convertible(file, type))
        return diagnostics_error(diagnostics, (Span){0},
                                 "cannot read %s from '%s': its elements are %s, those of %s are %s, and the "
                                 "conversion is not exact",
                                 tensor, file->path,
                                 stored->values ? stored->values : type_info(stored->type)->name, tensor,
                                 type_info(type)->name);
    stored->order = order;
    for (int d = 0; d < order; d++)
        stored->extents[d] = extents[d];
    return true;
}

int64_t input_locate(const InputFile *file, const Tensor *tensor, Diagnostics *diagnostics) {
    const FileArray *array = file->format->locate ? file->format->locate(file) : NULL;
    const char *why = NULL;
    if (!array)
        why = "it does not store its elements contiguously";
    else if (array->tensor.type != tensor->type)
        why = arena_printf(diagnostics->arena, "its elements are %s, and those of %s are %s",
                           type_info(array->tensor.type)->name, tensor->name, type_info(tensor->type)->name);
    else if (array->swapped)
        why = "its byte order is not that of this machine";
    else if (!(array->columns_first ? tensor_is_stored_by_column(tensor, file->tensor.extents)
                                    : tensor_is_stored_by_row(tensor, file->tensor.extents)))
        why = arena_printf(diagnostics->arena,
                           "it stores its elements by %s, and %s has others next to each other",
                           array->columns_first ? "column" : "row", tensor->name);
    if (!why)
        return array->offset;
    diagnostics_error(diagnostics, (Span){0}, "tensor %s cannot be in '%s' in place: %s", tensor->name,
                      file->path, why);
    return -1;
}

static Entries entries_like(const FileTensor *tensor, ElementType type) {
    Entries entries = {.type = type, .order = tensor->order};
    memcpy(entries.extents, tensor->extents, sizeof entries.extents);
    return entries;
}

static const char *read_from_entries(InputFile *file, const Piece *piece, Arena *arena) {
    const char *why = NULL;
    if (!file->entries.values) {
        file->entries = entries_like(&file->tensor, piece->type);
        why = file->format->read_entries(file, INT64_MAX, &file->entries, arena);
    }
    if (!why)
        piece_set_entries(piece, &file->entries);
    return why;
}

bool input_read(InputFile *file, const Piece *piece, Diagnostics *diagnostics) {
    const char *why = file->format->read ? file->format->read(file, piece, diagnostics->arena)
                                         : read_from_entries(file, piece, diagnostics->arena);
    return !why || refuse(file, why, diagnostics);
}

// The rows of the share.
static const char *read_nonzeros(const InputFile *file, int64_t limit, Entries *entries, Arena *arena) {
    Rect rect = rect_whole(entries->order, entries->extents);
    if (file->shares > 1) {
        rect.lo[0] = part_begin(entries->extents[0], file->shares, file->share);
        rect.hi[0] = part_begin(entries->extents[0], file->shares, file->share + 1);
    }
    const int64_t bytes = saturated_mul(rect_volume(&rect), (int64_t)type_info(entries->type)->size);
    void *data = bytes <= limit ? memory_allocate(MEMORY_HOST, rect_volume(&rect), entries->type) : NULL;
    if (!data)
        return arena_printf(arena, "not enough memory for its elements, %" PRId64 " bytes", bytes);
    const Piece piece = piece_packed(&rect, (LevelList){0}, entries->type, data);
    const char *why = rect_is_empty(&rect) ? NULL : file->format->read(file, &piece, arena);
    const int64_t rows = entries->extents[0];
    entries->extents[0] = rect.hi[0] - rect.lo[0];
    if (!why)
        why = array_nonzeros(data, limit - bytes, entries, arena);
    entries->extents[0] = rows;
    for (int64_t e = 0; !why && e < entries->count; e++)
        entries->coordinates[0][e] += rect.lo[0];
    memory_release(MEMORY_HOST, data);
    return why;
}

bool input_count(const InputFile *file, int64_t *count, Diagnostics *diagnostics) {
    const bool counts = file->format->count && file->tensor.is_full;
    const char *why = NULL;
    *count = 0;
    if (counts)
        why = file->format->count(file, count, diagnostics->arena);
    return !why || refuse(file, why, diagnostics);
}

bool input_check_listed(const InputFile *file, int64_t listed, Diagnostics *diagnostics) {
    const int64_t declared = file->tensor.listed;
    return !file->format->read_entries || declared < 0 || declared == listed ||
           refuse(file,
                  arena_printf(diagnostics->arena, "its header says %lld %s, and it has %lld",
                               (long long)declared, declared == 1 ? "entry" : "entries", (long long)listed),
                  diagnostics);
}

bool input_entries(const InputFile *file, ElementType type, int64_t limit, Entries *entries,
                   Diagnostics *diagnostics) {
    *entries = entries_like(&file->tensor, type);
    const char *why = NULL;
    if (!file->format->read_entries)
        why = read_nonzeros(file, limit, entries, diagnostics->arena);
    else
        why = file->format->read_entries(file, limit, entries, diagnostics->arena);
    if (!why && file->tensor.is_full && file->format->read_entries && !file->keeps_zeros)
        why = entries_drop_zeros(entries);
    return !why || refuse(file, why, diagnostics);
}
