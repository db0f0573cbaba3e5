// SPDX-License-Identifier: BSD-3-Clause
// Arrays as text for people: aligned, in brackets, with "..." in place of the middle of what is long,
// character by character what NumPy prints (but "i" for the imaginary unit, and fewer elements of many
// modes).
#ifndef DISTAL_IO_ARRAY_TEXT_H
#define DISTAL_IO_ARRAY_TEXT_H

#include "base/text.h"
#include "base/type.h"
#include "machine/rect.h"

// What is shown of an array: all of it, or, where it has more than SHOWN_WHOLE elements, the first and the
// last `edge` coordinates of each mode that has more than these.
typedef struct {
    ElementType type;
    int order;                  // at least 1
    int64_t extents[MAX_ORDER]; // of the array
    int64_t edge;               // 0: all
    int64_t shown[MAX_ORDER];   // coordinates of each mode that are shown
} ShownArray;

enum { SHOWN_WHOLE = 1000 };
ShownArray shown_array(ElementType type, int order, const int64_t *extents);

// The coordinates that are shown of a mode are in one or two intervals: their number, and interval `index` of
// them. `first`: the place of its first coordinate among those that are shown.
int shown_intervals(const ShownArray *array, int mode);
void shown_interval(const ShownArray *array, int mode, int index, int64_t *lo, int64_t *hi, int64_t *first);

// Appends the elements that are shown, which `values` has row-major. Lines after the first are indented by
// `indent` columns.
void array_text(const ShownArray *array, const void *values, size_t indent, Text *to);

// One value, with the digits that give back the same bits: "1.5", "1+2i".
void value_text(const void *value, ElementType type, Text *to);

#endif
