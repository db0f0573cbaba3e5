// SPDX-License-Identifier: BSD-3-Clause
// NumPy's .npy files: any rectangle of one can be read into, or written from, a piece, so that each rank
// touches its own part only. Format versions 1, 2 and 3, row- and column-major, either byte order.
#ifndef DISTAL_IO_NPY_H
#define DISTAL_IO_NPY_H

#include "base/diagnostic.h"
#include "io/piece.h"

typedef struct {
    ElementType type;
    bool swapped; // the other byte order than this machine's
    bool fortran_order;
    int order;
    int64_t extents[MAX_ORDER];
    int64_t data_offset; // bytes
} NpyHeader;

// A file open for reading.
typedef struct {
    int fd;
    const char *path;
    NpyHeader header;
} NpyFile;

// Parses the first `size` bytes of a file, whatever they are. NULL on success, else what is wrong, in
// `arena`; `*needed`, where not NULL, is the number of bytes that the header takes once that is known, else
// 0.
const char *npy_parse(const unsigned char *bytes, size_t size, Arena *arena, NpyHeader *header,
                      size_t *needed);

// Opens a file and checks that it is complete. `path` has to stay. False with a diagnostic; should memory run
// out, the file is open.
bool npy_open(const char *path, NpyFile *file, Diagnostics *diagnostics);
void npy_close(NpyFile *file);

// Whether the elements of the file can be converted to `type` and nothing is lost by it. False with a
// diagnostic that names `tensor`.
bool npy_check_type(const NpyFile *file, const char *tensor, ElementType type, Diagnostics *diagnostics);

// Reads the elements of piece->rect, converted to `type`. False with a diagnostic where the file cannot be
// read.
bool npy_read(const NpyFile *file, ElementType type, const Piece *piece, Diagnostics *diagnostics);

// Writing: one process makes an empty file one of full size, then any number of them write parts of pieces
// into it, row-major in this machine's byte order. NULL on success, else why not; `arena` is used in passing.
const char *npy_create(int fd, ElementType type, int order, const int64_t *extents, Arena *arena);
const char *npy_write(int fd, ElementType type, int order, const int64_t *extents, int64_t count,
                      const PiecePart *parts, Arena *arena);

// "(3, 4)", "(3,)", "()"
void npy_print_shape(int order, const int64_t *extents, Text *to);

#endif
