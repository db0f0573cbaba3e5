// SPDX-License-Identifier: BSD-3-Clause
// What level formats have in common that store a list of coordinates, one for each position: loop IR that
// reads the list, and its elements as numbers.
#ifndef DISTAL_FORMAT_LIST_H
#define DISTAL_FORMAT_LIST_H

#include "format/level.h"

// Adds the arrays of the format to the view, "B_pos2" and "B_crd2" of the second level of B.
void list_bind(LoopKernel *kernel, LoopNode *view, Level *level);
// Element `position` of array number `array` of the level.
const Value *list_load(Arena *arena, const Level *level, int array, const IntExpr *position);

const Value *list_coordinate(Arena *arena, const Level *level, const IntExpr *position);
const Value *list_search(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end,
                         const IntExpr *coordinate);
const Value *list_found(Arena *arena, const Level *level, const IntExpr *position, const IntExpr *end,
                        const IntExpr *coordinate);
const Value *list_run_end(Arena *arena, const Level *level, const IntExpr *position, const IntExpr *end);

// Of a slice of such a list, in which coordinates do not decrease unless `lo` and `hi` are 0 and the extent:
// those from `lo` to before `hi`.
Slice list_slice(const LevelArrays *level, int array, Slice of, int64_t lo, int64_t hi);
// The coordinates of `count` positions, in array number `array` of the level.
void list_coordinates(const LevelArrays *level, int array, int64_t count, const int64_t *positions,
                      int64_t *to);

#endif
