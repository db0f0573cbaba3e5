// SPDX-License-Identifier: BSD-3-Clause
// Sub-trees: entries of a stored tensor with the levels above them, as they are sent from one rank to
// another. A level has coordinates (crd), those below one position above in order, and where it is below
// another one, how many there are below each position of that (pos, as counts).
//
// What is shorter is sent, so that it is never more than a list of the coordinates of each entry:
// - coordinates of a level one by one, or as runs: the first one of consecutive ones, and their number;
// - coordinates of a level once, with counts for what is below, or again with each of the level below.
// Which of these it is follows from the numbers of coordinates and runs in each level, which both ranks know.
#ifndef DISTAL_FORMAT_SUB_TREE_H
#define DISTAL_FORMAT_SUB_TREE_H

#include "format/stored.h"

// In one level of a sub-tree: different coordinates below different positions above, and runs of consecutive
// ones below the same.
typedef struct {
    int64_t nodes, runs;
} SubTreeLevel;

// In what follows `tensor` gives order, extents and the order of modes, and `levels` has an element for each
// level of it; those of the last level are the entries.

// Of the entries in `count` slices of the values of a tensor: increasing positions, all with an entry.
void sub_tree_measure(const StoredTensor *tensor, int64_t count, const Slice *slices, SubTreeLevel *levels);
// Of a message with them; a multiple of 4. Nothing where there are none.
int64_t sub_tree_bytes(const StoredTensor *tensor, const SubTreeLevel *levels);
// Writes the message. `to` has room for sub_tree_bytes, at any address.
void sub_tree_write(const StoredTensor *tensor, int64_t count, const Slice *slices,
                    const SubTreeLevel *levels, char *to);
// The coordinates of its entries, in order: those of entries first, first + 1, ... of the list.
void sub_tree_read(const StoredTensor *tensor, const SubTreeLevel *levels, char *from, Entries *entries,
                   int64_t first);

#endif
