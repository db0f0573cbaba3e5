// SPDX-License-Identifier: BSD-3-Clause
// A leaf while it is being written: what is known at which depth, and where elements lie.
#ifndef DISTAL_EMIT_LEAF_H
#define DISTAL_EMIT_LEAF_H

#include "emit/emitter.h"

// Where the elements of one transfer's view are, as seen from the leaf. The levels up to `prefix_levels` do
// not change in the innermost loop: their position is computed at `prefix_depth` under a name of its own.
typedef struct {
    const Transfer *transfer;
    int prefix_levels, prefix_depth;
    const char *prefix; // NULL until it is written
} Place;

typedef struct {
    Emitter *emitter;
    const Leaf *leaf;
    int plain_count;              // loops that are written, those that a call replaces not counted
    int depth[MAX_VARS];          // the number of loops around the point where a variable becomes known
    bool replaced[MAX_VARS];      // loops of the call: 0 where it begins
    bool needed[MAX_VARS];        // by an access, a bound or a guard
    const char *uppers[MAX_VARS]; // of loops, as text
    int upper_depth[MAX_VARS];
    int place_count;
    Place *places;   // by transfer; transfer NULL where the leaf has no such access
    bool sums;       // updates of one element are summed in a local variable
    int sum_depth;   // the number of loops around it
    const char *sum; // its name
    ElementType sum_type;
    bool atomic;
    int copies_loop;    // whose threads add to copies of their own; -1
    const char *shared; // the name of the view's data, while that of a copy stands in its place
} LeafEmitter;

// The position of an access in its view's data, with what is known at the innermost point.
const char *leaf_position(LeafEmitter *leaf, const Place *place);
const Place *leaf_place(const LeafEmitter *leaf, const Access *access, TransferKind kind);
// B[...]
const char *leaf_element(void *leaf, const Access *access);

// The call of a BLAS kernel as a value (dot), or as a statement of its own, which is written.
Value leaf_dot(LeafEmitter *leaf);
void leaf_call(LeafEmitter *leaf);

#endif
