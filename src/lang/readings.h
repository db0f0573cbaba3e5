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

typedef struct {
    Arena *arena;
    IntNames names; // of params
    // Whether a name is free for a tensor that a reading needs.
    bool (*is_free)(void *context, const char *name);
    void *context;
} ReadingScope;

// "tensor t(n): f64; t(i) = x(i) - mu; v = t(i) * t(i)": the statement with each such sum computed in a
// statement of its own. NULL where that would need a tensor with too many modes.
const char *reading_print(const ReadingScope *scope, const Assignment *assignment, Reading reading);

#endif
