// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a .mtx or .tns file, read as entries of several shapes and types. What is read is within the
// extents, and is written and read back as the same bits.
#include "base/integer.h"
#include "check.h"
#include "io/entry_text.h"
#include "io/input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 20 };

static const char *path_of(int fd, Arena *arena) {
    return arena_printf(arena, "/proc/self/fd/%d", fd);
}

static bool read_entries(const FileFormat *format, int fd, const Entries *shape, Entries *entries,
                         Arena *arena) {
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"file", NULL});
    InputFile file;
    *entries = (Entries){0};
    bool ok = input_open(format, path_of(fd, arena), &file, diagnostics) &&
              input_check(&file, "A", shape->type, shape->order, shape->extents, diagnostics) &&
              input_entries(&file, shape->type, MAX_BYTES, entries, diagnostics);
    REQUIRE(diagnostics->errors == !ok, "errors");
    input_close(&file);
    return ok;
}

static bool is_nan(const Entries *entries, int64_t e) {
    const char *value = (const char *)entries->values + (size_t)e * type_info(entries->type)->size;
    float f32[2] = {0};
    double f64[2] = {0};
    if (type_component(entries->type) == TYPE_F32)
        memcpy(f32, value, type_info(entries->type)->size);
    else if (type_component(entries->type) == TYPE_F64)
        memcpy(f64, value, type_info(entries->type)->size);
    return f32[0] != f32[0] || f32[1] != f32[1] || f64[0] != f64[0] || f64[1] != f64[1];
}

static void check_same(const Entries *a, const Entries *b) {
    const size_t size = type_info(a->type)->size;
    REQUIRE(a->count == b->count, "count");
    for (int64_t e = 0; e < a->count; e++) {
        for (int d = 0; d < a->order; d++)
            REQUIRE(a->coordinates[d][e] == b->coordinates[d][e], "coordinate");
        REQUIRE(is_nan(a, e) || memcmp((char *)a->values + (size_t)e * size,
                                       (char *)b->values + (size_t)e * size, size) == 0,
                "value");
    }
}

static void write_entries(const FileFormat *format, int fd, const Entries *entries, Arena *arena) {
    FileTensor tensor = {.type = entries->type, .order = entries->order, .listed = entries->count};
    EntryLines lines;
    int64_t length;
    memcpy(tensor.extents, entries->extents, sizeof tensor.extents);
    const char *header = format->header(&tensor, &lines, arena);
    char *text = entry_text_format(entries, &lines, &length);
    REQUIRE(text && write(fd, header, strlen(header)) == (ssize_t)strlen(header) &&
                write(fd, text, (size_t)length) == length,
            "written");
    free(text);
}

static void check_entries(const FileFormat *format, int fd, const Entries *shape, Arena *arena) {
    Entries entries, again;
    if (read_entries(format, fd, shape, &entries, arena)) {
        REQUIRE(entries_check(&entries, arena) == NULL, "coordinates");
        const int copy = memfd_create("copy", MFD_CLOEXEC);
        REQUIRE(copy >= 0, "memory");
        write_entries(format, copy, &entries, arena);
        REQUIRE(read_entries(format, copy, shape, &again, arena), "read back");
        check_same(&entries, &again);
        entries_free(&again);
        close(copy);
    }
    entries_free(&entries);
}

// A .mtx file says its extents; those of a .tns file may be any.
static void check_mtx(int fd, Arena *arena) {
    InputFile file;
    if (input_open(&file_format_mtx, path_of(fd, arena), &file,
                   diagnostics_create(arena, (Source){"file", NULL})))
        for (int type = 0; type < TYPE_COUNT; type++) {
            Entries shape = {.type = (ElementType)type, .order = 2};
            memcpy(shape.extents, file.tensor.extents, sizeof shape.extents);
            check_entries(&file_format_mtx, fd, &shape, arena);
        }
    input_close(&file);
}

static void check_tns(int fd, Arena *arena) {
    for (int order = 1; order < 5; order++)
        for (int type = 0; type < TYPE_COUNT; type++)
            check_entries(
                &file_format_tns, fd,
                &(Entries){.type = (ElementType)type, .order = order, .extents = {9, INT64_C(1) << 62, 5, 1}},
                arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena *arena = arena_create();
    const int fd = memfd_create("entries", MFD_CLOEXEC);
    REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size, "memory");
    check_mtx(fd, arena);
    check_tns(fd, arena);
    close(fd);
    arena_free(arena);
    return 0;
}
