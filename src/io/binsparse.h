// SPDX-License-Identifier: BSD-3-Clause
// Binsparse 0.1 (graphblas.org/binsparse-specification) in HDF5: a tensor as a tree of levels, each dense or
// sparse, whose arrays are data sets next to a descriptor in JSON, the attribute `binsparse` of the root
// group. What reading (binsparse_read.c) and writing (binsparse_write.c) share.
#ifndef DISTAL_IO_BINSPARSE_H
#define DISTAL_IO_BINSPARSE_H

#include "io/formats.h"

// Dimensions `first` to before `end` of the layout. A dense level has one.
typedef struct {
    bool sparse;
    int first, end;
} BinsparseLevel;

typedef struct {
    int order, level_count;
    int modes[MAX_ORDER]; // of the tensor, by dimension
    BinsparseLevel levels[MAX_ORDER];
} BinsparseLayout;

// Adds a level of `rank` dimensions, dense ones as a level each. False where they are more than MAX_ORDER.
bool binsparse_add_level(BinsparseLayout *layout, bool sparse, int64_t rank);

// The layouts that have a name, such as CSR.
bool binsparse_layout(const char *name, BinsparseLayout *layout);
// NULL where it has none.
const char *binsparse_name(const BinsparseLayout *layout);

const char *binsparse_open(InputFile *file, Arena *arena);
const char *binsparse_read(const InputFile *file, int64_t limit, Entries *entries, Arena *arena);
const char *binsparse_begin(int fd, const FileTensor *tensor, FileWriter **writer, Arena *arena);
const char *binsparse_append(FileWriter *writer, const Entries *entries);
const char *binsparse_end(FileWriter *writer);

#ifdef DISTAL_HDF5
#include "io/hdf5_library.h"
#include "io/symmetry.h"

// What a file says of itself, with the number of positions below each level, all of which are 1 above the
// first.
typedef struct {
    BinsparseLayout layout;
    int64_t positions[MAX_ORDER + 1];
    Symmetry symmetry;
    const char *structure;   // of a matrix that is not general: its triangle and symmetry
    bool is_upper;           // the triangle
    bool iso;                // there is one value for all
    bool has_unsigned_longs; // values may be more than INT64_MAX
} BinsparseHeader;

// Elements first to before first + count of an array, as `type`. NULL, or why they cannot be read.
const char *binsparse_read_array(hid_t file, const char *name, hid_t type, int64_t first, int64_t count,
                                 void *to, Arena *arena);
#endif

#endif
