// SPDX-License-Identifier: BSD-3-Clause
// .h5 files, HDF5 with a tensor in Binsparse.
#include "io/binsparse.h"
#include "io/hdf5_library.h"

#include <string.h>

typedef struct {
    const char *name;
    bool transposed;
    const char *levels; // d: dense; s: sparse, of one dimension; S: of two
} NamedLayout;

static const NamedLayout layouts[] = {
    {"DVEC", false, "d"}, {"DMATR", false, "dd"}, {"DMATC", true, "dd"}, {"DMAT", false, "dd"},
    {"CVEC", false, "s"}, {"CSR", false, "ds"},   {"CSC", true, "ds"},   {"DCSR", false, "ss"},
    {"DCSC", true, "ss"}, {"COOR", false, "S"},   {"COOC", true, "S"},   {"COO", false, "S"},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

bool binsparse_add_level(BinsparseLayout *layout, bool sparse, int64_t rank) {
    if (rank < 1 || rank > MAX_ORDER - layout->order)
        return false;
    for (int64_t left = rank; left > 0;) {
        const int count = sparse ? (int)left : 1;
        layout->levels[layout->level_count++] =
            (BinsparseLevel){sparse, layout->order, layout->order + count};
        layout->order += count;
        left -= count;
    }
    return true;
}

static BinsparseLayout layout_of(const NamedLayout *named) {
    BinsparseLayout layout = {0};
    for (const char *level = named->levels; *level; level++)
        binsparse_add_level(&layout, *level != 'd', *level == 'S' ? 2 : 1);
    for (int d = 0; d < layout.order; d++)
        layout.modes[d] = named->transposed ? layout.order - 1 - d : d;
    return layout;
}

bool binsparse_layout(const char *name, BinsparseLayout *layout) {
    for (int i = 0; i < LAYOUTS; i++)
        if (strcmp(layouts[i].name, name) == 0) {
            *layout = layout_of(&layouts[i]);
            return true;
        }
    return false;
}

static bool equal(const BinsparseLayout *a, const BinsparseLayout *b) {
    bool same = a->order == b->order && a->level_count == b->level_count;
    for (int d = 0; same && d < a->order; d++)
        same = a->modes[d] == b->modes[d];
    for (int l = 0; same && l < a->level_count; l++)
        same = a->levels[l].sparse == b->levels[l].sparse && a->levels[l].end == b->levels[l].end;
    return same;
}

const char *binsparse_name(const BinsparseLayout *layout) {
    for (int i = 0; i < LAYOUTS; i++) {
        const BinsparseLayout named = layout_of(&layouts[i]);
        if (equal(&named, layout))
            return layouts[i].name;
    }
    return NULL;
}

#ifndef DISTAL_HDF5
const char *binsparse_open(InputFile *file, Arena *arena) {
    (void)file, (void)arena;
    return hdf5_missing;
}

const char *binsparse_read(const InputFile *file, int64_t limit, Entries *entries, Arena *arena) {
    (void)file, (void)limit, (void)entries, (void)arena;
    return hdf5_missing;
}

const char *binsparse_begin(int fd, const FileTensor *tensor, FileWriter **writer, Arena *arena) {
    (void)fd, (void)tensor, (void)writer, (void)arena;
    return hdf5_missing;
}

const char *binsparse_append(FileWriter *writer, const Entries *entries) {
    (void)writer, (void)entries;
    return hdf5_missing;
}

const char *binsparse_end(FileWriter *writer) {
    (void)writer;
    return hdf5_missing;
}
#endif

const FileFormat file_format_h5 = {.ending = ".h5",
                                   .least_order = 1,
                                   .most_order = MAX_ORDER,
                                   .open = binsparse_open,
                                   .read_entries = binsparse_read,
                                   .begin = binsparse_begin,
                                   .append = binsparse_append,
                                   .end = binsparse_end};
