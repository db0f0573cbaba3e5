// SPDX-License-Identifier: BSD-3-Clause
// Homes: which coordinates of a tensor each rank holds at rest, with numbers put in. From a placement (a
// layout), or, for a tensor that is placed nowhere, from what the schedule needs first (a table).
#ifndef DISTAL_PLAN_HOME_H
#define DISTAL_PLAN_HOME_H

#include "index/notation.h"

typedef struct {
    const Tensor *tensor;
    int order;
    int64_t extents[MAX_ORDER];
    int64_t ranks;
    bool known; // false: no place, and no statement has used the tensor yet
    bool has_layout;
    Layout layout;        // where has_layout
    int64_t per_rank;     // processors of the layout's grid that one rank has
    const Region *pieces; // by rank: the rectangles that it allocates, disjoint
    bool replicated;      // some coordinate has more than one home
} Home;

// From a layout.
void home_from_layout(Home *home, const Tensor *tensor, const int64_t *extents, const Layout *layout,
                      int64_t ranks, Arena *arena);
// From a table of regions by rank, which the home keeps.
void home_from_table(Home *home, const Tensor *tensor, const int64_t *extents, const Region *pieces,
                     int64_t ranks, Arena *arena);

// The piece of `rank` that contains `rect` whole, or -1.
int64_t home_piece_with(const Home *home, int64_t rank, const Rect *rect);

// The same with nothing between the coordinates that `rect` has of each mode: their positions follow each
// other in the piece as they do in `rect`.
int64_t home_piece_in_place(const Home *home, int64_t rank, const Rect *rect);

// Exactly one holder for every coordinate of `rect`: appends the parts, with their ranks, to `holders`. Among
// replicas that nearest in the grid to `taker` is chosen; taker -1: the first replica, the same for everyone.
typedef struct {
    int64_t rank;
    Rect part;
} Holder;
typedef Array(Holder) HolderArray;
void home_holders(const Home *home, const Rect *rect, int64_t taker, Arena *arena, HolderArray *holders);

// All ranks that hold `part` (a part that home_holders gave), in increasing order.
typedef Array(int64_t) RankArray;
void home_replicas(const Home *home, const Rect *part, Arena *arena, RankArray *ranks);

// Bytes at rest on `rank`.
int64_t home_bytes(const Home *home, int64_t rank);

#endif
