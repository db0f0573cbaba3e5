// SPDX-License-Identifier: BSD-3-Clause
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(const InputFile *file, const char *why, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0}, "cannot read '%s': %s", file->path, why);
}

bool input_open(const FileFormat *format, const char *path, InputFile *file, Diagnostics *diagnostics) {
    *file = (InputFile){.format = format, .path = path};
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
}

// "(3, 4)", "(3,)", "()"
static const char *shape_text(int order, const int64_t *extents, Arena *arena) {
    Text text = text_create(arena);
    for (int d = 0; d < order; d++)
        text_printf(&text, "%s%lld", d ? ", " : "(", (long long)extents[d]);
    text_append(&text, order == 0 ? "()" : order == 1 ? ",)" : ")");
    return text_string(&text);
}

static bool check_shape(const InputFile *file, const char *tensor, int order, const int64_t *extents,
                        Diagnostics *diagnostics) {
    const FileTensor *stored = &file->tensor;
    bool same = stored->order == order;
    for (int d = 0; d < order && same; d++)
        same = stored->extents[d] == extents[d];
    if (same)
        return true;
    Arena *arena = diagnostics->arena;
    return diagnostics_error(diagnostics, (Span){0},
                             "cannot read %s from '%s': its shape is %s, that of %s is %s", tensor,
                             file->path, shape_text(stored->order, stored->extents, arena), tensor,
                             shape_text(order, extents, arena));
}

bool input_check(const InputFile *file, const char *tensor, ElementType type, int order,
                 const int64_t *extents, Diagnostics *diagnostics) {
    const ElementType from = file->tensor.type;
    if (!check_shape(file, tensor, order, extents, diagnostics))
        return false;
    if (from == type || (type_storable(from, type) && type_promote(from, type) == type))
        return true;
    return diagnostics_error(diagnostics, (Span){0},
                             "cannot read %s from '%s': its elements are %s, those of %s are %s, and the "
                             "conversion is not exact",
                             tensor, file->path, type_info(from)->name, tensor, type_info(type)->name);
}

bool input_read(const InputFile *file, const Piece *piece, Diagnostics *diagnostics) {
    const char *why = file->format->read(file, piece);
    return !why || refuse(file, why, diagnostics);
}
