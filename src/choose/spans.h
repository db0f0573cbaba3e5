// SPDX-License-Identifier: BSD-3-Clause
// Bounds of the coordinates of entries: in a range of values of one variable, the range of values that
// another variable has at the entries there. So estimates know that a rank with a block of rows of a banded
// matrix needs few elements of other ranks.
#ifndef DISTAL_CHOOSE_SPANS_H
#define DISTAL_CHOOSE_SPANS_H

#include "choose/search.h"

// Finds the spans of a statement, in the arena of the search, once entries are known.
void spans_find(const Search *search, SearchStatement *statement);

// Narrows the range lo .. hi - 1 of `var` to the bounds of the entries at which `by` is in by_lo .. by_hi -
// 1; to an empty range where there are none. Leaves it as it is where no sparse operand of the nest has both
// variables.
void spans_narrow(const SearchStatement *statement, int nest, int by, int64_t by_lo, int64_t by_hi, int var,
                  int64_t *lo, int64_t *hi);

#endif
