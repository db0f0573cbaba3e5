// SPDX-License-Identifier: BSD-3-Clause
// File formats of tensors, one source file each: to add one, write that file and add a line to the list
// below. The rest of the program selects a format by the ending of a file name and uses only the record
// FileFormat.
#ifndef DISTAL_IO_FORMATS_H
#define DISTAL_IO_FORMATS_H

#include "format/entries.h"
#include "index/notation.h"
#include "io/piece.h"

// In the order in which help lists them.
#define FILE_FORMATS(ENTRY)                                                                                  \
    ENTRY(npy)                                                                                               \
    ENTRY(mtx)                                                                                               \
    ENTRY(tns)                                                                                               \
    ENTRY(csv)                                                                                               \
    ENTRY(h5)                                                                                                \
    ENTRY(h5_array)

// Element type and shape of the tensor in a file. Of text, the type is one that converts to all that the
// values may be stored in.
typedef struct {
    ElementType type;
    const char *values; // of text: what they are called there; NULL: as the type
    bool is_full;       // every element is in the file, not entries alone
    int order;          // -1: order and extents are not in the file
    int64_t extents[MAX_ORDER];
    int64_t listed; // entries that a text says to have; -1: it does not say
    // Of a tensor that is written, and whose elements are not all stored: its levels, and the modes that they
    // store.
    const LevelType *levels;
    const int *mode_order;
    const char *array; // its name in a file that holds several; NULL: the file holds one
    // Of an array that is written: whether elements are zero until they are written; where the first one is
    // in the file, in bytes, which FileFormat.create sets.
    bool starts_zero;
    int64_t offset;
} FileTensor;

// The lines in which a text lists entries: their coordinates, followed by `ones` more that are 1, and values;
// of an array (no columns) values alone.
typedef struct {
    int columns, ones;
    int64_t first;  // the number of the first coordinate
    char separator; // between coordinates and values
    bool in_rows;   // of an array: a line for each row, with values that are separated in the same way
    bool joined;    // a complex value is one word, "1+2j", instead of two numbers
} EntryLines;

typedef struct FileArray FileArray; // io/file_array.h
typedef struct FileFormat FileFormat;
typedef struct FileWriter FileWriter; // a format's own, of a file that is being written

// A file open for reading (io/input.h).
typedef struct {
    const FileFormat *format;
    const char *path;  // as the user writes it
    const char *array; // the name in it of an array in a file that holds several
    int fd;
    int64_t size; // bytes
    // Several processes read the entries: this one reads share `share` of `shares`, counted from 0. Both are
    // 0 where one process reads the whole.
    int share, shares;
    int64_t before;    // of a text with all elements: those in the shares before
    bool keeps_zeros;  // elements that are zero are entries, too
    int64_t *listed;   // output: the number of entries that a text lists in the share; may be NULL
    FileTensor tensor; // this and `header` are set by the format
    const void *header;
    Entries entries; // of the whole, where an array is read from a format that lists them; set by input_read
} InputFile;

// Functions return NULL on success, else the reason of the failure (allocated in `arena` or static). A format
// that is only written has no `open`, and others have all functions of one of three kinds. A format
// has either `read`, `create` and `write`, by which any part of an array is read and written; or
// `read_entries` and `header`, where elements are listed as text in any order; or `read_entries`, `begin`,
// `append` and `end`, where they are stored by level.
struct FileFormat {
    const char *ending;      // ".npy"; of a file that holds several arrays with the name of one: ".h5:/NAME"
    const char *file_ending; // that of the file where `ending` has more: ".h5"; else NULL
    int least_order, most_order; // of the tensors that a file can hold

    // Reads and checks the header: sets file->tensor and file->header (allocated in `arena`).
    const char *(*open)(InputFile *file, Arena *arena);
    // Reads the elements of piece->rect, converted to the type of the piece.
    const char *(*read)(const InputFile *file, const Piece *piece, Arena *arena);

    // Where the elements are that the file stores contiguously, without compression. NULL: it does
    // not. Formats that store none have no such function.
    const FileArray *(*locate)(const InputFile *file);

    // One process writes the header of an empty file, or of one with other arrays, sets its full size, with
    // elements that are zero where tensor->starts_zero, and sets tensor->offset; then each process writes its
    // parts of the tensor, which are disjoint, from pieces with elements of tensor->type.
    const char *(*create)(int fd, FileTensor *tensor, Arena *arena);
    const char *(*write)(int fd, const FileTensor *tensor, int64_t count, const PiecePart *parts);

    // The elements that a share of a text with all of them lists. NULL: the format has no such texts.
    const char *(*count)(const InputFile *file, int64_t *count, Arena *arena);
    // Reads the entries of the share: parsed by the threads of this process in parallel, a full tensor with
    // its zeros, duplicates as they come. `entries` has type, order
    // and extents of the tensor set, which input_check has compared; the rest is set here, and freed by the
    // caller with entries_free, also after a failure. What would take more than `limit` bytes is refused
    // before it is allocated.
    const char *(*read_entries)(const InputFile *file, int64_t limit, Entries *entries, Arena *arena);
    // The text before tensor->listed entries, or, where the tensor is full, before all its elements by column
    // (in the order of the last mode first) or by row, and the lines that list them. Never fails.
    const char *(*header)(const FileTensor *tensor, EntryLines *lines, Arena *arena);
    bool lists_rows; // else columns

    // One process writes an empty file: begin, the entries in the order in which they are stored (by mode,
    // where tensor->levels is NULL), each once, and end, which releases the writer in any case. The tensor
    // and the arena outlive it.
    const char *(*begin)(int fd, const FileTensor *tensor, FileWriter **writer, Arena *arena);
    const char *(*append)(FileWriter *writer, const Entries *entries);
    const char *(*end)(FileWriter *writer);
};

#define DECLARE_FILE_FORMAT(name) extern const FileFormat file_format_##name;
FILE_FORMATS(DECLARE_FILE_FORMAT)
#undef DECLARE_FILE_FORMAT

// The format with the ending of `path`; NULL where there is none.
const FileFormat *file_format_of(const char *path);

// A path as the user writes it: that of the file, and the name of an array in it, "/NAME", or NULL; "//NAME"
// and "/./NAME" are the same.
typedef struct {
    const char *file, *array;
} FilePath;
FilePath file_path(const char *path, Arena *arena);

typedef enum { FILE_READ, FILE_WRITE } FileUse;

// Whether `tensor` can be read from, or written to, the file `path` of this format (NULL: an unknown ending).
// False with a diagnostic.
bool file_format_check(const FileFormat *format, FileUse use, const char *path, const Tensor *tensor,
                       Diagnostics *diagnostics);

// Why no file can be the home of this tensor, to be put after its name: "is not placed in disk"; NULL: some
// file can.
const char *file_home_refusal(const Tensor *tensor, FileUse use);
// The file that is needed, where one of this format (NULL: no format) cannot be a home: "a file that stores
// it contiguously, ..."; NULL: it can be.
const char *file_home_need(const FileFormat *format, FileUse use, Arena *arena);

// The endings of all formats that have this use, each after `prefix`: "PATH.npy".
const char *file_endings(FileUse use, const char *prefix, Arena *arena);

#endif
