// SPDX-License-Identifier: BSD-3-Clause
// Where the entries of sparse operands are: of the entries that have values of one variable in a range,
// between which values of another variable they lie. So estimates know that a rank with a block of rows of a
// banded matrix needs few of the other ranks' elements.
#ifndef DISTAL_CHOOSE_SPANS_H
#define DISTAL_CHOOSE_SPANS_H

#include "choose/search.h"

// Finds the spans of a statement, in the arena of the search, once entries are known.
void spans_find(const Search *search, SearchStatement *statement);

// Narrows the values lo .. hi - 1 of `var` to those that entries have where `by` is in first .. last - 1;
// none where there are no such entries. As it is where no sparse operand of the statement has both variables.
void spans_narrow(const SearchStatement *statement, int by, int64_t first, int64_t last, int var, int64_t *lo,
                  int64_t *hi);

#endif
