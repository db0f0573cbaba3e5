// SPDX-License-Identifier: BSD-3-Clause
// Whether loops visit rows range by range of the coordinates of their entries (distal_ranges in generated
// code): an estimate from the bytes that they gather, the size of a cache and the number of entries of a row.
#ifndef DISTAL_RUNTIME_RANGES_H
#define DISTAL_RUNTIME_RANGES_H

#include <stdbool.h>

// Without an estimate, for tests, whose rows are short.
void ranges_always(bool always);

#endif
