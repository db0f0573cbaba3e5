// SPDX-License-Identifier: BSD-3-Clause
#include "io/formats.h"

#include <string.h>

#define POINTER(name) &file_format_##name,
static const FileFormat *const formats[] = {FILE_FORMATS(POINTER) NULL};

// Behind the file: ":/NAME". NULL where `path` names no array of this format.
static const char *find_array(const FileFormat *format, const char *path) {
    const size_t length = format->file_ending ? strlen(format->file_ending) : 0;
    const char *at = length ? strstr(path, format->file_ending) : NULL;
    while (at && (at == path || strncmp(at + length, ":/", 2) != 0 || !at[length + 2]))
        at = strstr(at + 1, format->file_ending);
    return at ? at + length : NULL;
}

// The same name of an array without components that say nothing: "/run//./A/" is "/run/A".
static const char *array_name(const char *name, Arena *arena) {
    Text text = text_create(arena);
    while (*name) {
        const size_t length = strcspn(name, "/");
        if (length > 1 || (length == 1 && *name != '.'))
            text_printf(&text, "/%.*s", (int)length, name);
        name += length + (name[length] == '/');
    }
    return text.length ? text_string(&text) : "/";
}

FilePath file_path(const char *path, Arena *arena) {
    const FileFormat *format = file_format_of(path);
    const char *array = format ? find_array(format, path) : NULL;
    if (!array)
        return (FilePath){path, NULL};
    return (FilePath){arena_string(arena, path, (size_t)(array - path)), array_name(array + 1, arena)};
}

const FileFormat *file_format_of(const char *path) {
    const size_t length = strlen(path);
    for (int i = 0; formats[i]; i++)
        if (find_array(formats[i], path))
            return formats[i];
    for (int i = 0; formats[i]; i++) {
        const size_t ending = strlen(formats[i]->ending);
        if (length > ending && strcmp(path + length - ending, formats[i]->ending) == 0)
            return formats[i];
    }
    return NULL;
}

static bool has_use(const FileFormat *format, FileUse use) {
    return use == FILE_WRITE || format->open;
}

static bool can_be_home(const FileFormat *format, FileUse use) {
    return use == FILE_READ ? format->locate != NULL : format->create != NULL;
}

static const char *list_endings(bool (*is_listed)(const FileFormat *format, FileUse use), FileUse use,
                                const char *prefix, const char *separator, Arena *arena) {
    Text text = text_create(arena);
    for (int i = 0; formats[i]; i++)
        if (is_listed(formats[i], use))
            text_printf(&text, "%s%s%s", text.length ? separator : "", prefix, formats[i]->ending);
    return text_string(&text);
}

const char *file_home_refusal(const Tensor *tensor, FileUse use) {
    if (!tensor->placement || tensor->placement->memory != MEMORY_DISK || tensor_is_sparse(tensor))
        return "is not placed in disk";
    return use == FILE_WRITE && !tensor_is_stored_by_row(tensor, NULL)
               ? "is not stored by row, as files are written"
               : NULL;
}

const char *file_home_need(const FileFormat *format, FileUse use, Arena *arena) {
    return format && can_be_home(format, use)
               ? NULL
               : arena_printf(arena, "a file that stores it contiguously, %s",
                              list_endings(can_be_home, use, "PATH", " or ", arena));
}

const char *file_endings(FileUse use, const char *prefix, Arena *arena) {
    return list_endings(has_use, use, prefix, ", ", arena);
}

static const char *problem(const FileFormat *format, FileUse use, const Tensor *tensor, Arena *arena) {
    if (!format)
        return arena_printf(arena, "the ending must be one of %s", file_endings(use, "", arena));
    if (!has_use(format, use))
        return arena_printf(arena, "%s is only written; the ending must be one of %s", format->ending,
                            file_endings(use, "", arena));
    if (tensor->order < format->least_order || tensor->order > format->most_order)
        return arena_printf(arena, "%s is for tensors of %d to %d modes, and %s has %d", format->ending,
                            format->least_order, format->most_order, tensor->name, tensor->order);
    return NULL;
}

bool file_format_check(const FileFormat *format, FileUse use, const char *path, const Tensor *tensor,
                       Diagnostics *diagnostics) {
    const char *why = problem(format, use, tensor, diagnostics->arena);
    return !why || diagnostics_error(diagnostics, (Span){0}, "cannot %s %s %s '%s': %s",
                                     use == FILE_READ ? "read" : "write", tensor->name,
                                     use == FILE_READ ? "from" : "to", path, why);
}
