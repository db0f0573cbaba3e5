// SPDX-License-Identifier: BSD-3-Clause
// Entries of the sparse tensors of drawn programs.
#ifndef DISTAL_TESTS_SPARSE_INPUT_H
#define DISTAL_TESTS_SPARSE_INPUT_H

#include "format/entries.h"

// Which entries a tensor has.
typedef enum {
    FILL_NONE,
    FILL_ONE,
    FILL_ROW, // all that have one coordinate of the first mode
    FILL_FEW, // hardly more than one in a row
    FILL_TENTH,
    FILL_HALF,
    FILL_ALL,
    FILL_COUNT,
} Fill;

// Draws the coordinates of entries, none twice, in any order; values are not set. `entries` has its type,
// order and extents. False: no memory; freed with entries_free all the same.
bool draw_entries(Entries *entries, Fill fill, uint64_t seed);

#endif
