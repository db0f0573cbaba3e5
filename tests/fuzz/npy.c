// SPDX-License-Identifier: BSD-3-Clause
// The bytes of an .npy file, read into pieces of several shapes and types. What is read by pieces is what is
// read whole.
#include "io/npy.h"

#include "base/integer.h"
#include "check.h"
#include "io/input.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 20 }; // of what is read: shapes with a zero in them may claim anything

typedef struct {
    Arena *arena;
    InputFile *file;
    Diagnostics *diagnostics;
    ElementType type;
    const char *whole; // packed, row-major
} Reading;

static int64_t packed_size(const Rect *rect, ElementType type) {
    return rect_volume(rect) * (int64_t)type_info(type)->size;
}

static Piece piece_of(const Reading *reading, const Rect *rect, const int *mode_order) {
    // Not of the arena, so that a byte beyond its end is noticed.
    const Piece piece = piece_packed(rect, (LevelList){.mode_order = mode_order}, reading->type,
                                     malloc((size_t)packed_size(rect, reading->type)));
    REQUIRE(piece.data, "memory");
    return piece;
}

static Piece whole_piece(const Reading *reading) {
    const FileTensor *tensor = &reading->file->tensor;
    const Rect rect = rect_whole(tensor->order, tensor->extents);
    return piece_packed(&rect, (LevelList){0}, reading->type, (void *)reading->whole);
}

static void check_piece(const Reading *reading, const Rect *rect, const int *mode_order) {
    if (rect_is_empty(rect))
        return;
    const Piece whole = whole_piece(reading);
    Piece read = piece_of(reading, rect, mode_order), expected = piece_of(reading, rect, mode_order);
    REQUIRE(input_read(reading->file, &read, reading->diagnostics), "%s",
            reading->diagnostics->list.items[0].message);
    piece_copy(&expected, &whole, rect);
    REQUIRE(memcmp(read.data, expected.data, (size_t)packed_size(rect, reading->type)) == 0, "the piece");
    free(read.data);
    free(expected.data);
}

// Halves of each mode, and what is left when the first and the last coordinate are taken away.
static void check_pieces(const Reading *reading) {
    const FileTensor *tensor = &reading->file->tensor;
    const Rect whole = rect_whole(tensor->order, tensor->extents);
    int backwards[MAX_ORDER];
    for (int d = 0; d < tensor->order; d++)
        backwards[d] = tensor->order - 1 - d;
    Rect inner = whole;
    for (int d = 0; d < tensor->order; d++) {
        Rect half = whole;
        half.hi[d] = tensor->extents[d] / 2;
        check_piece(reading, &half, NULL);
        half.lo[d] = half.hi[d];
        half.hi[d] = tensor->extents[d];
        check_piece(reading, &half, backwards);
        inner.lo[d] = min_i64(1, tensor->extents[d] - 1);
        inner.hi[d] = max_i64(tensor->extents[d] - 1, 1);
    }
    check_piece(reading, &inner, backwards);
    check_piece(reading, &inner, NULL);
    check_piece(reading, &whole, backwards);
}

static void check_type(InputFile *file, ElementType type, Diagnostics *diagnostics) {
    const FileTensor *tensor = &file->tensor;
    const Rect whole = rect_whole(tensor->order, tensor->extents);
    if (!input_check(file, "A", type, tensor->order, tensor->extents, diagnostics) || rect_is_empty(&whole) ||
        packed_size(&whole, type) > MAX_BYTES)
        return;
    Reading reading = {diagnostics->arena, file, diagnostics, type, NULL};
    const Piece piece = piece_of(&reading, &whole, NULL);
    reading.whole = piece.data;
    REQUIRE(input_read(file, &piece, diagnostics), "%s", diagnostics->list.items[0].message);
    check_pieces(&reading);
    free(piece.data);
}

static void check_file(int fd, Diagnostics *diagnostics) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    InputFile file;
    if (!input_open(&file_format_npy, path, &file, diagnostics)) {
        REQUIRE(diagnostics->errors == 1, "errors");
        return;
    }
    const int64_t none[MAX_ORDER] = {0};
    input_check(&file, "A", TYPE_F64, MAX_ORDER, none, diagnostics); // prints the shape
    for (int type = 0; type < TYPE_COUNT; type++)
        check_type(&file, (ElementType)type, diagnostics);
    input_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena *arena = arena_create();
    FileArray array;
    size_t needed;
    npy_parse(data, size, arena, &array, &needed);
    const int fd = memfd_create("npy", MFD_CLOEXEC);
    REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file");
    Diagnostics *diagnostics = diagnostics_create(arena, (Source){"npy", NULL});
    check_file(fd, diagnostics);
    Text text = text_create(arena);
    diagnostics_print(diagnostics, &text);
    close(fd);
    arena_free(arena);
    return 0;
}
