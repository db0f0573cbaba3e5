// SPDX-License-Identifier: BSD-3-Clause
// Footprints: which elements a processor reads or writes in one step of a transfer, by formula from its
// coordinates. They depend on the *related* dimensions of the execution grid only, those that the access is
// derived from: processors that agree on these form a class and have one footprint. The other dimensions
// enumerate the members of a class; they decide only which of them have iterations at all.
//
// The footprint of a sparse tensor is a region of coordinates as well: what is used of it are the entries in
// that region.
#ifndef DISTAL_PLAN_FOOTPRINT_H
#define DISTAL_PLAN_FOOTPRINT_H

#include "index/provenance.h"
#include "spmd/spmd.h"

typedef struct {
    Region region; // empty: nothing is read or written, and what follows is unspecified
    // Around it, without gaps in the values of the variables that the transfer's access finds elements by.
    Rect bounds;
    int64_t first[MAX_ORDER]; // values of these variables, of the first element of the bounding box
    int64_t volume;           // of the bounding box; INT64_MAX: more
    uint64_t hash;            // of the region
} Footprint;

// The function from coordinates and iterations to footprints, of one transfer.
typedef struct {
    const Provenance *provenance;
    TransferKind kind;
    Access access;  // of the statement
    Access located; // of the transfer: an element lies where the values of these variables say
    // Other accesses of the statement that share the transfer; elements of all lie where their coordinates
    // say.
    int near_count;
    const Access *near;
    Grid grid; // execution grid
    int64_t processors, per_rank, ranks;
    int vars[MAX_MACHINE_ORDER];      // distributed variable of each dimension; -1: only `fixed` takes part
    int64_t fixed[MAX_MACHINE_ORDER]; // -1: no processor takes part
    bool related_dims[MAX_MACHINE_ORDER];     // the class depends on them
    bool related[MAX_VARS], others[MAX_VARS]; // active variables: those of the access, and the rest
    int loop_count;                           // sequential loops around the transfer, outermost first
    int loops[MAX_VARS];
    int64_t iterations;    // of these loops
    int64_t steps;         // iterations of all processors of a rank; INT64_MAX: more than fit
    bool existence_varies; // which members have iterations depends on the iteration
    bool replaces; // what is reached replaces what the owner has, so rectangles may not cover other elements
    bool in_place; // each rank uses the bounding box in its home: that is listed, whole
    bool exact;    // what is reached for ranges of the loops is what their values reach together
    bool existence_bounded;   // the bounding box says exactly whether there are iterations
    int64_t class_keys;       // product of the related dimensions
    int64_t member_keys;      // and of the others
    unsigned char *existence; // by key of these: 0 not known yet, 1 no, 2 yes; NULL: not kept
} Footprints;

// Of one transfer of a statement that is executed on this grid. Lives in the arena.
Footprints *footprints_create(const Spmd *spmd, int transfer, const Provenance *provenance, const Grid *grid,
                              int64_t ranks, const int64_t *params, Arena *arena);
// The footprints from which an induced home is found; it may hold more than they reach.
const Footprints *footprints_of_home(const Footprints *footprints, Arena *arena);
// The same for a tensor that may outlive the program; the copy depends on `arena` and `tensor` only.
Footprints *footprints_copy(const Footprints *footprints, const Tensor *tensor, Arena *arena);

// Whether elements between which there are others may be listed, and not rectangles around them.
bool footprints_are_listed(const Footprints *footprints);

// The coordinates of a mode in a box that bounds what is reached: around those of all accesses.
PositionSet footprints_reached(const Footprints *footprints, const Box *box, int mode);
// What all accesses reach in these boxes.
void footprints_region(const Footprints *footprints, const BoxArray *boxes, Arena *arena, Region *region);
// The variables that are the coordinates of the accesses.
VarSet footprints_coordinates(const Footprints *footprints);

// A processor in one step: its coordinates and the values that follow from them.
typedef struct {
    int64_t coordinates[MAX_MACHINE_ORDER];
    int64_t index;     // row-major
    int64_t class_key; // equal where footprints are the same function of the iteration
} Worker;

// The processor that a rank runs as its number `local`. False where it has none or the nest leaves it out.
bool footprints_worker(const Footprints *footprints, int64_t rank, int64_t local, Worker *worker);
// Sets index and class from the coordinates.
void worker_locate(const Footprints *footprints, Worker *worker);

// The footprint of a class in an iteration of the loops, whether or not its members have iterations. Its
// periodic sets are in `arena`.
void footprint_find(const Footprints *footprints, const int64_t *coordinates, int64_t iteration, Arena *arena,
                    Footprint *found);
// About how many rectangles that has where each element that is reached is listed.
int64_t footprint_listed(const Footprints *footprints, const int64_t *coordinates, int64_t iteration,
                         Arena *arena);
// Whether the processor has iterations at all, as far as the dimensions that are not related decide it.
bool footprint_exists(const Footprints *footprints, const int64_t *coordinates, int64_t iteration,
                      Arena *scratch);
// What a rank reads or writes in a step; false where that is nothing.
bool footprint_of_rank(const Footprints *footprints, int64_t rank, int64_t step, Arena *arena, Worker *worker,
                       Footprint *found);
// What it reads or writes in any step.
Region footprint_of_steps(const Footprints *footprints, int64_t rank, Arena *arena);
Footprint footprint_copy(const Footprint *footprint, Arena *arena);
bool footprint_equal(const Footprint *a, const Footprint *b); // the same elements

// Calls `visit` for each processor of the class of `worker` that ranks run as their number `local` and that
// has iterations, in increasing order, until it returns false.
typedef bool (*MemberVisit)(void *context, const Worker *member);
bool class_members(const Footprints *footprints, const Worker *worker, int64_t local, int64_t iteration,
                   Arena *scratch, MemberVisit visit, void *context);
// Only those with these coordinates in the dimensions that enumerate members; -1: any.
bool class_members_at(const Footprints *footprints, const Worker *worker, const int64_t *only, int64_t local,
                      int64_t iteration, Arena *scratch, MemberVisit visit, void *context);

static inline int64_t step_local(const Footprints *footprints, int64_t step) {
    return step / footprints->iterations;
}
static inline int64_t step_iteration(const Footprints *footprints, int64_t step) {
    return step % footprints->iterations;
}

#endif
