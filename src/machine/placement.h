// SPDX-License-Identifier: BSD-3-Clause
// Tensor distribution notation (DISTAL, section 3.2): how the modes of a tensor map onto the dimensions of a
// machine, symbolically (Placement) and with numbers put in (Layout).
#ifndef DISTAL_MACHINE_PLACEMENT_H
#define DISTAL_MACHINE_PLACEMENT_H

#include "machine/machine.h"
#include "machine/rect.h"

typedef enum {
    PLACE_PARTITION, // this machine dimension splits `mode` into contiguous blocks
    PLACE_FIX,       // only processors with this coordinate hold anything
    PLACE_REPLICATE, // every coordinate holds the same
} PlaceKind;

typedef struct {
    PlaceKind kind;
    int mode;           // PLACE_PARTITION
    int64_t coordinate; // PLACE_FIX
    Span span;
} PlaceEntry;

typedef struct {
    const Machine *machine;
    Span span;
    PlaceEntry entries[MAX_MACHINE_ORDER]; // one for each dimension of the machine, all levels
} Placement;

// A placement of a tensor with these extents on a machine with these sizes.
// Where several machine dimensions partition one mode (levels of a hierarchy), the later one splits the
// blocks of the earlier: block lengths are ceil(extent / size), then ceil(length / size) of that, the same
// for all blocks; the last blocks are cut at the end of the block that they are part of, so they may be short
// or empty.
typedef struct {
    Grid grid;
    int order; // of the tensor
    int64_t extents[MAX_ORDER];
    struct {
        PlaceKind kind;
        int mode;
        int64_t coordinate;
        int64_t block; // PLACE_PARTITION: coordinates in one block
    } dims[MAX_MACHINE_ORDER];
} Layout;

// Fills in block lengths. False with *bad_dim set where a fixed coordinate lies outside the grid.
bool layout_create(const Placement *placement, const Grid *grid, int order, const int64_t *extents,
                   Layout *layout, int *bad_dim);

// What the processor at these coordinates holds; false when that is nothing.
bool layout_rect(const Layout *layout, const int64_t *coordinates, Rect *rect);

// Calls `visit` for every processor that holds part of `rect`, with that part, in order of processor number,
// until it returns false. Along replicated dimensions only the coordinates of `replica` are visited (one
// holder for every coordinate of the tensor then), all of them where it is NULL. The cost grows with the
// processors that overlap, not with the grid.
typedef bool (*LayoutVisit)(void *context, int64_t processor, const Rect *part);
void layout_holders(const Layout *layout, const Rect *rect, const int64_t *replica, LayoutVisit visit,
                    void *context);

#endif
