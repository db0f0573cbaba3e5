// SPDX-License-Identifier: BSD-3-Clause
// The set of coordinates of a row while it is assembled (distal_index_set): bits for all coordinates where
// the extent of the level allows, else only words with a bit that is set, in a hash table. It is emptied at
// the cost of what is in it.
#ifndef DISTAL_RUNTIME_ROW_SET_H
#define DISTAL_RUNTIME_ROW_SET_H

#include "distal_kernel.h"

#include <stdbool.h>

typedef struct {
    int64_t key; // number of the word, of 64 coordinates
    uint64_t bits;
} RowWord;

typedef struct {
    distal_index_set set;
    bool is_made;
    bool failed;       // no memory, and coordinates may be missing
    uint64_t *summary; // of bits for all coordinates: a bit for each word, all zero but while it is emptied
    // Where they are hashed: the words in the order in which they came, and the table of their numbers,
    // -1 where there is none. A word is in the slot `touched` says.
    RowWord *hashed;
    int64_t capacity; // of `hashed`, a power of 2; the table has twice as many slots
    int32_t *slots;
} RowSet;

// An empty set of coordinates below `extent`. False: no memory; then it keeps nothing.
bool row_set_make(RowSet *set, int64_t extent);
void row_set_free(RowSet *set);
// Appends the coordinates to a list, of 64 bits each where it is wide, in increasing order, and empties the
// set.
distal_list row_set_append(distal_list list, distal_index_set *set, bool wide);

#endif
