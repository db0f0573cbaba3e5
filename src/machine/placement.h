// SPDX-License-Identifier: BSD-3-Clause
// Tensor distribution notation (DISTAL, section 3.2): how the modes of a tensor map onto the dimensions of a
// machine. Symbolic; layout.h puts numbers in.
#ifndef DISTAL_MACHINE_PLACEMENT_H
#define DISTAL_MACHINE_PLACEMENT_H

#include "machine/boundaries.h"
#include "machine/machine.h"
#include "memory/memory.h"

typedef enum {
    PLACE_PARTITION, // this machine dimension splits `mode`
    PLACE_FIX,       // only processors with this coordinate hold anything
    PLACE_REPLICATE, // every coordinate holds the same
} PlaceKind;

typedef struct {
    PlaceKind kind;
    int mode; // PLACE_PARTITION
    // PLACE_PARTITION: coordinates of one block, blocks are distributed round-robin (block-cyclic);
    // NULL: in one contiguous block for each of its coordinates.
    const IntExpr *cycle;
    // PLACE_PARTITION: whether blocks are balanced, or listed, instead of equally long. By the entries of
    // which tensor, NULL: this one, or none; and of which of its modes, several where they are fused: then
    // `mode` is the first of them.
    Balance balance;
    const char *by;
    int mode_count;
    int modes[MAX_ORDER];
    // BALANCE_LISTED: where blocks begin, and where the last one ends.
    int64_t start_count;
    const IntExpr *const *starts;
    int64_t coordinate; // PLACE_FIX
    Span span;
} PlaceEntry;

// The largest number of coordinates in one block of a block-cyclic mode, for which offsets cannot overflow.
enum { MAX_CYCLE = INT32_MAX };

typedef struct {
    const Machine *machine;
    Span span;
    MemoryId memory;
    PlaceEntry entries[MAX_MACHINE_ORDER]; // one for each dimension of the machine, all levels
    const char *names[MAX_ORDER];          // of modes, by which other placements refer to them
} Placement;

// Whether entries of the same tensor balance both.
bool balanced_by_same(const PlaceEntry *a, const PlaceEntry *b);
// Whether both are balanced alike; without `by`, each by its own entries.
bool balanced_alike(const PlaceEntry *a, const PlaceEntry *b);
// Whether both, of which either may be NULL, are the same: none, or entries alike on one machine.
bool placement_equal(const Placement *a, const Placement *b);

// The dimensions of a placement, up to a balanced one, that divide its mode, or one that is fused with it;
// how many there are.
int placement_levels(const Placement *placement, int dim, int *dims);
// What such a dimension of a placement of `tensor` divides: without numbers of parts and lengths of blocks;
// and with them.
Division placement_division_form(const Placement *placement, const char *tensor, int dim);
Division placement_division(const Placement *placement, const char *tensor, const Grid *grid,
                            const int64_t *params, int dim);

// The values of listed boundaries; NULL where one has none, or they decrease.
const int64_t *placement_starts(int64_t count, const IntExpr *const *starts, const int64_t *params,
                                Arena *arena);

#endif
