// SPDX-License-Identifier: BSD-3-Clause
// Unions of many rectangles, such as the thousands of boxes of rotated and collapsed loops, in about n log n
// steps if few of them overlap.
#ifndef DISTAL_MACHINE_UNION_H
#define DISTAL_MACHINE_UNION_H

#include "machine/rect.h"

// The union of these non-empty rectangles of one tensor as a region, in the order of rect_compare; rectangles
// that continue one another in one mode are joined. Takes over the array for the region.
Region region_union(RectArray *rects, Arena *arena);

#endif
