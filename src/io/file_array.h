// SPDX-License-Identifier: BSD-3-Clause
// An array in a file: elements one after the other, of which any rectangle can be read into a piece or
// written from one. What formats of dense tensors have in common.
#ifndef DISTAL_IO_FILE_ARRAY_H
#define DISTAL_IO_FILE_ARRAY_H

#include "io/formats.h"

typedef struct {
    FileTensor tensor;
    int64_t offset;     // of the first element, in bytes
    bool swapped;       // the other byte order than this machine's
    bool columns_first; // the first mode has the unit stride (Fortran's order)
} FileArray;

// All of these return NULL, or why they failed.

// The whole of `size` bytes at `offset`.
const char *file_bytes_read(int fd, void *to, size_t size, int64_t offset);
const char *file_bytes_write(int fd, const void *from, size_t size, int64_t offset);
// Makes the file `size` bytes long. Space is claimed at once where the file system can, so that a full disk
// is noticed here.
const char *file_bytes_claim(int fd, int64_t size);

// Whether all elements fit into a file of `size` bytes.
const char *file_array_check(const FileArray *array, int64_t size, Arena *arena);
// Reads the elements of piece->rect, converted to `type`.
const char *file_array_read(int fd, const FileArray *array, ElementType type, const Piece *piece);
// Writes parts of pieces of the array's type, in this machine's byte order.
const char *file_array_write(int fd, const FileArray *array, int64_t count, const PiecePart *parts);

#endif
