// SPDX-License-Identifier: BSD-3-Clause
// File formats of tensors, one a file of this folder: a new one is a new file and a line in the list below.
// What reads and writes tensors asks the format that the ending of a name gives, and knows none itself.
#ifndef DISTAL_IO_FORMATS_H
#define DISTAL_IO_FORMATS_H

#include "index/notation.h"
#include "io/piece.h"

// In the order in which they are listed for the user.
#define FILE_FORMATS(ENTRY)                                                                                  \
    ENTRY(npy)                                                                                               \
    ENTRY(mtx)                                                                                               \
    ENTRY(tns)

// The tensor in a file.
typedef struct {
    ElementType type;
    int order;
    int64_t extents[MAX_ORDER];
} FileTensor;

typedef struct FileFormat FileFormat;

// A file open for reading (io/input.h).
typedef struct {
    const FileFormat *format;
    const char *path;
    int fd;
    int64_t size;      // bytes
    FileTensor tensor; // from here on, set by the format
    const void *header;
} InputFile;

// Functions return NULL, or why they failed, in `arena` or for ever. `arena` is used in passing, too. Those
// of one direction are all NULL where that is not supported yet.
//
// A format that lists entries (coordinates and a value) in no order has no slices: its `read` will be one
// that parses a share of the bytes on each rank, from where the runtime sends entries to their homes.
struct FileFormat {
    const char *ending;          // ".npy"
    int least_order, most_order; // of the tensors that such a file can hold

    // Reads and checks what stands before the elements: sets file->tensor and file->header (in `arena`).
    const char *(*open)(InputFile *file, Arena *arena);
    // Reads the elements of piece->rect, converted to `type`.
    const char *(*read)(const InputFile *file, ElementType type, const Piece *piece);

    // One process makes an empty file one of full size, then any number of them write disjoint parts of
    // pieces of tensor->type into it.
    const char *(*create)(int fd, const FileTensor *tensor, Arena *arena);
    const char *(*write)(int fd, const FileTensor *tensor, int64_t count, const PiecePart *parts,
                         Arena *arena);
};

#define DECLARE_FILE_FORMAT(name) extern const FileFormat file_format_##name;
FILE_FORMATS(DECLARE_FILE_FORMAT)
#undef DECLARE_FILE_FORMAT

// The format that the ending of `path` gives; NULL where it gives none.
const FileFormat *file_format_of(const char *path);

typedef enum { FILE_READ, FILE_WRITE } FileUse;

// Whether `tensor` can be read from, or written to, a file of this name, which gave `format`. False with a
// diagnostic.
bool file_format_check(const FileFormat *format, FileUse use, const char *path, const Tensor *tensor,
                       Diagnostics *diagnostics);

// The endings of files that can be used so, each behind `prefix`: "PATH.npy".
const char *file_endings(FileUse use, const char *prefix, Arena *arena);

#endif
