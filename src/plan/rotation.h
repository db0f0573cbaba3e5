// SPDX-License-Identifier: BSD-3-Clause
// Rotations of a transfer: a sequential loop that coordinates of processors rotate, as in systolic
// algorithms. A footprint is then a function of the *turn*, the value of the rotated variable, and of those
// coordinates that it depends on otherwise; the *offset* of a processor says which turn it begins with. So
// there are far fewer footprints than classes times steps, and all ranks use the same ones, in cyclic order.
#ifndef DISTAL_PLAN_ROTATION_H
#define DISTAL_PLAN_ROTATION_H

#include "plan/home.h"

// What a dimension of the execution grid does for footprints.
typedef enum {
    DIM_MEMBERS, // enumerates members of classes, or has one coordinate
    DIM_PLACE,   // footprints depend on it; it may rotate the loop as well
    DIM_OFFSET,  // it rotates the loop, and decides whether there are iterations
} RotationDim;

typedef struct {
    const Footprints *footprints;
    const Home *home;
    int64_t turns; // extent of the rotated loop, at least two
    int64_t outer; // iterations of the loops outside of it,
    int64_t inner; // and inside
    RotationDim dims[MAX_MACHINE_ORDER];
    int64_t factors[MAX_MACHINE_ORDER]; // of the coordinates in the offset
    bool decides[MAX_VARS];             // variables that dimensions of DIM_OFFSET have iterations by
    // Places, the coordinates in dimensions of DIM_PLACE, row-major. Where each part of a mode is at home on
    // the processors that use it, places with parts of the same length are equal but for the ranks: each has
    // the number of one such place, the *sample*.
    int64_t place_count, sample_count;
    int64_t *sample; // by place
} Rotation;

// False where the transfer has no such loop, or not in the form that can be counted: with a fetch from a
// placement without replicas, with one processor for each rank.
bool rotation_find(const Footprints *footprints, const Home *home, Arena *arena, Rotation *rotation);
// Coordinates in dimensions of DIM_PLACE; and their number.
void rotation_set_place(const Rotation *rotation, int64_t place, int64_t *coordinates);
int64_t rotation_place(const Rotation *rotation, const int64_t *coordinates);
// The offset of coordinates, less than `turns`: that of the place and that of the other dimensions add up.
int64_t rotation_offset(const Rotation *rotation, const int64_t *coordinates, RotationDim of);
// The iteration of the loops in which a processor with this offset comes to a turn.
int64_t rotation_iteration(const Rotation *rotation, int64_t outer, int64_t turn, int64_t inner,
                           int64_t offset);
// Whether processors with these coordinates in dimensions of DIM_OFFSET have iterations.
bool rotation_exists(const Rotation *rotation, const int64_t *coordinates, Arena *scratch);

#endif
