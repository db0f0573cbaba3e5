// SPDX-License-Identifier: BSD-3-Clause
// Where the parts of a division begin: found in what is divided, in lexicographic order, once the boundaries
// of the balanced levels around the last run are known. What is divided may be in memory of several ranks,
// which then all call this with the same numbers: it is asked for by position and by coordinates, for many
// parts at a time.
#ifndef DISTAL_MACHINE_DIVIDE_H
#define DISTAL_MACHINE_DIVIDE_H

#include "machine/boundaries.h"

typedef struct {
    int64_t total;
    // The coordinates of the first `modes` modes at each position less `back`; anything where there is none.
    void (*coordinates_at)(void *context, const int64_t *positions, int64_t back, int64_t count, int modes,
                           int64_t *coordinates);
    // How many are before each of these coordinates of the first `modes` modes.
    void (*count_below)(void *context, const int64_t *coordinates, int64_t count, int modes,
                        int64_t *positions);
    void *context;
} DivisionKeys;

// A division that is about to be made, with all the memory that this takes.
typedef struct {
    Boundaries *found;
    const int64_t *extents; // of the modes of the division
    // The parts that the levels before the last run leave: how many, where they begin, by `outer_modes`
    // coordinates each, and in the keys; both have one more.
    int64_t outer_count;
    int outer_modes;
    int64_t *outer, *from;
    int64_t tries; // loads that are tried at a time
    int64_t *least, *most, *loads, *filled, *ends, *next;
} DividePlan;

// `base`: the boundaries of division_base; NULL where it has none. `tries`: how many loads are tried at a
// time where parts are weighted, as a step may be a reduction over ranks. What is found is in `arena`, all
// else in `scratch`.
DividePlan divide_plan(const Division *division, const Boundaries *base, const int64_t *extents,
                       int64_t tries, Arena *arena, Arena *scratch);
// Sets plan->found. Allocates nothing. Collective over the ranks that have the keys.
void divide_find(DividePlan *plan, const DivisionKeys *keys);

#endif
