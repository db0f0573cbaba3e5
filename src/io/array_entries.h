// SPDX-License-Identifier: BSD-3-Clause
// Between entries and arrays: the elements of a dense array as entries, entries added up in an array, and in
// a file that has an array.
#ifndef DISTAL_IO_ARRAY_ENTRIES_H
#define DISTAL_IO_ARRAY_ENTRIES_H

#include "io/formats.h"

// All functions return NULL on success, else the reason of the failure; what takes more than `limit` bytes is
// refused before it is allocated.

// `entries` has type, order and extents of the row-major array `data` set, and gets its elements that are not
// zero, in that order.
const char *array_nonzeros(const void *data, int64_t limit, Entries *entries, Arena *arena);
// Removes entries that are zero.
const char *entries_drop_zeros(Entries *entries);

// Sets `piece` to the sum of the entries that lie in it.
void piece_set_entries(const Piece *piece, const Entries *entries);

// Writes the part of a tensor that is in disjoint rectangles into a file that has been created, in which all
// elements are zero: `entries` has what is not, in the order of the modes, and possibly others.
const char *file_write_entries(const FileFormat *format, int fd, const FileTensor *tensor,
                               const Entries *entries, const Region *region);

#endif
