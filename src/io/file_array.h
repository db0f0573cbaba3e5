// SPDX-License-Identifier: BSD-3-Clause
// A dense array stored contiguously in a file, row- or column-major. Any rectangle of it can be read into a
// piece or written from one; dense file formats share this code.
#ifndef DISTAL_IO_FILE_ARRAY_H
#define DISTAL_IO_FILE_ARRAY_H

#include "io/formats.h"

struct FileArray {
    FileTensor tensor;
    int64_t offset;     // of the first element, in bytes
    bool swapped;       // byte order is not this machine's
    bool columns_first; // column-major: the first mode has unit stride
};

// All of these return NULL on success, else the reason of the failure.

// Read and write all of `size` bytes at `offset`.
const char *file_bytes_read(int fd, void *to, size_t size, int64_t offset);
const char *file_bytes_write(int fd, const void *from, size_t size, int64_t offset);
// Sets the size of the file. Space is allocated where the file system supports that, so that a full disk is
// noticed here and not while elements are written.
const char *file_bytes_claim(int fd, int64_t size);

// Makes these bytes of a file zero.
const char *file_bytes_clear(int fd, int64_t size, int64_t offset);

// All elements of the tensor, at most INT64_MAX.
int64_t file_tensor_bytes(const FileTensor *tensor);

// Checks that a file of `size` bytes contains all elements.
const char *file_array_check(const FileArray *array, int64_t size, Arena *arena);
// Reads the elements of piece->rect, converted to the type of the piece.
const char *file_array_read(int fd, const FileArray *array, const Piece *piece);
// Writes parts of pieces of the tensor's type from tensor->offset on: row-major, in this machine's byte
// order.
const char *file_array_write(int fd, const FileTensor *tensor, int64_t count, const PiecePart *parts);

#endif
