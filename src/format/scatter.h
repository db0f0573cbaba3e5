// SPDX-License-Identifier: BSD-3-Clause
// Scattering: entries become a list below full levels without being sorted, as in a transposition of csr. One
// pass counts how many each position above the list has, and a second one writes each entry where it belongs.
#ifndef DISTAL_FORMAT_SCATTER_H
#define DISTAL_FORMAT_SCATTER_H

#include "format/budget.h"
#include "format/entry_reader.h"

// Whether that can make `tensor`, whose extents and levels are set, and is worth it: of entries at all
// places, which are distinct and have the order of its levels after a stable sort by the first `unsorted` of
// them.
bool scatter_fits(const StoredTensor *tensor, const EntryReader *reader, int unsorted);

// Writes the arrays of the last level of `tensor`, which are allocated, the number of each of its entries to
// map->from unless that is NULL, and its values if there are `values` of the entries. False: no memory.
bool scatter_entries(StoredTensor *tensor, const EntryReader *reader, EntryMap *map, const void *values,
                     Budget *budget);
// Writes the numbers alone, where the structure of `tensor` has been made of the same entries.
bool scatter_map(StoredTensor *tensor, const EntryReader *reader, EntryMap *map, Budget *budget);

#endif
