// SPDX-License-Identifier: BSD-3-Clause
// The possible meanings of a statement with a sum of unlike addends inside a term (index/summation.h),
// written as statements that are accepted.
#ifndef DISTAL_LANG_READINGS_H
#define DISTAL_LANG_READINGS_H

#include "index/notation.h"

typedef enum {
    READ_TERM_SUMMED,    // the whole term is summed over all of its variables
    READ_ADDENDS_SUMMED, // each addend is summed over its own before it is added
} Reading;

// "v = sum({i}, (x(i) - mu) * (x(i) - mu))": the statement with explicit sums.
const char *reading_print(Arena *arena, const Assignment *assignment, Reading reading);

#endif
