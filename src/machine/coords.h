// SPDX-License-Identifier: BSD-3-Clause
// Coordinates of one mode: an interval, or the part of an interval that a comb has. What a processor holds of
// a mode in contiguous blocks is an interval; what it holds of a block-cyclic mode is a comb, which repeats,
// so that its size does not grow with the extent. All operations stay within these sets.
#ifndef DISTAL_MACHINE_COORDS_H
#define DISTAL_MACHINE_COORDS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

// lo <= x < hi within one period; `before`: coordinates of the period that lie below.
typedef struct {
    int64_t lo, hi, before;
} Tooth;

// Teeth that repeat every `period` coordinates, in both directions without end: x is one of its coordinates
// where floor_mod(x - origin, period) lies in a tooth.
typedef struct {
    int64_t origin, period;
    int64_t size;  // coordinates in a period; fewer than the period
    int64_t count; // at least one
    const Tooth *teeth;
} Comb;

// lo <= x < hi; with a comb, only its coordinates, of which lo and hi - 1 are two. Empty where lo >= hi.
typedef struct {
    int64_t lo, hi;
    const Comb *comb; // NULL: all
} Coords;

bool comb_equal(const Comb *a, const Comb *b);
Comb *comb_copy(const Comb *comb, Arena *arena);

// Positions count the coordinates of a set, from 0: that of x, the number of coordinates below it; and the
// coordinate that has one.
int64_t coords_count(Coords set);
int64_t coords_position(Coords set, int64_t x);
int64_t coords_at(Coords set, int64_t position);

// The part between lo and hi, and that between two positions.
Coords coords_clip(Coords set, int64_t lo, int64_t hi);
Coords coords_take(Coords set, int64_t first, int64_t last);
// The first run of coordinates without a gap, from x on: an interval, empty where there is none.
Coords coords_run(Coords set, int64_t x);

Coords coords_intersect(Coords a, Coords b, Arena *arena);
// a \ b: what lies before b, between what b has, and behind it, without those that are empty; their number.
int coords_subtract(Coords a, Coords b, Arena *arena, Coords rest[3]);
int64_t coords_common(Coords a, Coords b); // how many both have
bool coords_contain(Coords outer, Coords inner);
bool coords_equal(Coords a, Coords b); // as sets, however they are described
// Negative, 0 or positive: an order of the sets, 0 where they are equal.
int coords_compare(Coords a, Coords b);

// The images of the coordinates under the maps of blocks: x + by; all from x * block to (x + 1) * block; and
// what the processors of a row of `size`, to which blocks of `block` coordinates are dealt in turn, have at
// position x, of which processor `which` has the result. coords_repeat joins the images of an interval, whose
// coordinates are less than `block`, under x + o * block for all o of another interval. None is negative, and
// none overflows.
Coords coords_shift(Coords set, int64_t by, Arena *arena);
Coords coords_scale(Coords set, int64_t block, Arena *arena);
Coords coords_repeat(Coords set, int64_t block, Coords outer, Arena *arena);
Coords coords_deal(Coords set, int64_t block, int64_t size, int64_t which, Arena *arena);

#endif
