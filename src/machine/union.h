// SPDX-License-Identifier: BSD-3-Clause
// Unions of many rectangles, in about n log n steps where they hardly overlap: what the boxes of rotated and
// collapsed loops give are thousands.
#ifndef DISTAL_MACHINE_UNION_H
#define DISTAL_MACHINE_UNION_H

#include "machine/rect.h"

// The coordinates of all of these non-empty rectangles of one tensor, as a region: joined where they continue
// one another in one mode, in the order of rect_compare. The array is overwritten, and lives on in the
// region.
Region region_union(RectArray *rects, Arena *arena);

#endif
