// SPDX-License-Identifier: BSD-3-Clause
// Layouts: a placement of a tensor with numbers put in, which says what each processor holds and, the other
// way round, which processors hold a rectangle. Functions take time for the parts that they find, not for the
// grid; only layout_create lists all parts of modes with block-cyclic dimensions.
#ifndef DISTAL_MACHINE_LAYOUT_H
#define DISTAL_MACHINE_LAYOUT_H

#include "machine/placement.h"

// A placement of a tensor with these extents on a machine with these sizes.
// Where several machine dimensions partition one mode (levels of a hierarchy), the later one splits what the
// earlier assigned. Blocks have ceil(extent / size) coordinates, then ceil(length / size) of that, the same
// for all; the last blocks are cut at the end of the block that they are part of, so they may be short or
// empty. A block-cyclic dimension distributes blocks of a given length round-robin; the next one splits the
// length of the processor with the most blocks. Balanced dimensions have the parts that their boundaries say;
// the next one splits the length of the longest, or each by its own entries.
typedef struct {
    Grid grid;
    int order; // of the tensor
    int64_t extents[MAX_ORDER];
    struct {
        PlaceKind kind;
        int mode;
        int64_t coordinate;
        int64_t length; // PLACE_PARTITION: coordinates that this dimension splits, at most
        int64_t block;  // coordinates in one block
        bool cyclic;
        // Balanced: the parts of this dimension and of those before it that divide the mode, or one that is
        // fused with it, by their coordinates in these dimensions, `levels`, row-major; and which modes of
        // this tensor those of the division are.
        const Boundaries *boundaries;
        int modes[MAX_ORDER];
        int level_count, levels[MAX_MACHINE_ORDER];
    } dims[MAX_MACHINE_ORDER];
    // For a mode with a block-cyclic dimension: the parts of the processors, by their coordinates in the
    // dimensions that partition it, row-major. NULL for other modes.
    const PositionSet *cyclic_parts[MAX_ORDER];
} Layout;

// Computes block lengths. False with *bad_dim set if a fixed coordinate lies outside the grid, if the block
// of a block-cyclic dimension is not a number from 1 to MAX_CYCLE, or if listed boundaries are not those of
// as many parts. `params` are values by index. Where `known` has no boundaries of a balanced dimension, parts
// of equal length are assumed.
bool layout_create(const Placement *placement, const char *tensor, const Grid *grid, const int64_t *params,
                   int order, const int64_t *extents, const BoundariesArray *known, Arena *arena,
                   Layout *layout, int *bad_dim);

// A copy that depends on `arena` only.
Layout layout_copy(const Layout *layout, Arena *arena);

// Appends the part of the processor at these coordinates: one rectangle, several where fused modes are
// divided, none if it is empty.
void layout_rects(const Layout *layout, const int64_t *coordinates, Arena *arena, RectArray *rects);

// Calls `visit` for every processor that holds a part of `rect`, with each rectangle of that part, in order
// of processor number where no modes are fused, until it returns false. Along replicated dimensions only the
// coordinates of `replica` are visited, so that every coordinate of the tensor has one holder; all of them if
// it is NULL. Parts may have periodic sets in `arena`. The cost is proportional to the number of these
// processors, not to the grid, except that all coordinates of block-cyclic dimensions are tried inside of
// others that divide the same mode.
typedef bool (*LayoutVisit)(void *context, int64_t processor, const Rect *part);
void layout_holders(const Layout *layout, const Rect *rect, const int64_t *replica, Arena *arena,
                    LayoutVisit visit, void *context);
// The number of parts of `rect` with one replica. Takes constant time for an interval of a mode that one
// dimension divides into equal blocks, else time for the parts.
int64_t layout_part_count(const Layout *layout, const Rect *rect, Arena *scratch);

#endif
