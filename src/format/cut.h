// SPDX-License-Identifier: BSD-3-Clause
// Cuts: the entries of a stored tensor that are in rectangles of coordinates, as slices of its values. They
// are found from the first level to the last one, by the image of positions (SpDISTAL, section III).
#ifndef DISTAL_FORMAT_CUT_H
#define DISTAL_FORMAT_CUT_H

#include "format/stored.h"

typedef Array(Slice) SliceArray;

// A tensor that is cut, which stays. The rest is zero at first. Where rectangles are narrow in modes that are
// stored last, they are searched in a structure with these modes first. Where many are parts of a narrow box,
// as what each rank has of some rows, the entries of the box are searched alone, in an order that fits them.
typedef struct {
    const StoredTensor *tensor;
    bool often;             // it is cut over and over, so that the structure pays off for one rectangle
    bool reordered;         // whether they are searched in the structure
    StoredTensor structure; // of order 0: it has not been made
    EntryMap map;           // from positions of that structure to those of the tensor
    bool narrowed;          // whether rectangles are searched in the box
    bool common[MAX_ORDER]; // by mode: they all have the coordinates of the box
    StoredTensor box;       // its values are positions in the tensor
} Cutter;

// Prepares to cut these disjoint rectangles, any number of them at a time, within `limit` bytes. NULL on
// success, else the reason of the failure. cutter_free follows in any case.
const char *cutter_prepare(Cutter *cutter, int64_t count, const Rect *const *rects, int64_t limit,
                           Arena *arena);
void cutter_free(Cutter *cutter);

// Appends the slices of what is in disjoint rectangles to `to`, with increasing positions and gaps between
// them, and with nothing at positions that have no entry. The number of entries.
int64_t cutter_cut(const Cutter *cutter, int64_t count, const Rect *const *rects, Arena *arena,
                   SliceArray *to);

// How many entries are in one rectangle, without finding where they are.
int64_t cutter_count(const Cutter *cutter, const Rect *rect);

// The entries in slices, with their values, which are zero of a tensor without values; entries_free follows
// in any case.
const char *stored_unpack_slices(const StoredTensor *tensor, const SliceArray *slices, Entries *entries);

#endif
