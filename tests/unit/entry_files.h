// SPDX-License-Identifier: BSD-3-Clause
// What tests of files that list entries share: a file and how it is written and read. Each test has one path.
#ifndef DISTAL_TESTS_UNIT_ENTRY_FILES_H
#define DISTAL_TESTS_UNIT_ENTRY_FILES_H

#include "io/entry_text.h"
#include "io/input.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MTX "%%MatrixMarket matrix "

static Arena *arena;
static Diagnostics *diagnostics;
static char path[64];

static inline int set_up(void **state) {
    (void)state;
    arena = arena_create();
    diagnostics = diagnostics_create(arena, (Source){"test", NULL});
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.40s/distal-XXXXXX", folder ? folder : "/tmp");
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static inline int tear_down(void **state) {
    (void)state;
    arena_free(arena);
    return unlink(path);
}

static inline void write_file(const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void write_array(FileTensor *tensor, void *data) {
    const Rect whole = rect_whole(tensor->order, tensor->extents);
    const PiecePart part = {piece_packed(&whole, (LevelList){0}, tensor->type, data), whole};
    const int fd = open(path, O_RDWR | O_TRUNC);
    assert_null(file_format_npy.create(fd, tensor, arena));
    assert_null(file_format_npy.write(fd, tensor, 1, &part));
    close(fd);
}

// As which of how many processes files are read, and the entries that this one lists.
static int own_share, all_shares;
static int64_t listed;

// What is wrong, with F for the path; "" where the entries are read.
static inline const char *read_entries(const FileFormat *format, ElementType type, int order,
                                       const int64_t *extents, int64_t limit, Entries *entries) {
    InputFile file;
    *entries = (Entries){0};
    diagnostics = diagnostics_create(arena, (Source){"test", NULL});
    if (input_open(format, path, &file, diagnostics)) {
        file.share = own_share;
        file.shares = all_shares;
        file.listed = &listed;
        int64_t count;
        for (file.share = 0; file.share < own_share; file.share++)
            if (input_count(&file, &count, diagnostics))
                file.before += count;
        if (input_check(&file, "A", type, order, extents, diagnostics))
            input_entries(&file, type, limit, entries, diagnostics);
        input_close(&file);
    }
    if (diagnostics->errors == 0)
        return "";
    assert_int_equal(diagnostics->errors, 1);
    const char *message = diagnostics->list.items[0].message, *name = strstr(message, path);
    assert_non_null(name);
    return arena_printf(arena, "%.*sF%s", (int)(name - message), message, name + strlen(path));
}

#endif
