// SPDX-License-Identifier: BSD-3-Clause
// Tensor distribution notation (DISTAL, section 3.2): how the modes of a tensor map onto the dimensions of a
// machine, symbolically (Placement) and with numbers put in (Layout).
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

// A copy that depends on `arena` only.
Layout layout_copy(const Layout *layout, Arena *arena);

// Appends the part of the processor at these coordinates: one rectangle, several where fused modes are
// divided, none if it is empty.
void layout_rects(const Layout *layout, const int64_t *coordinates, Arena *arena, RectArray *rects);

// Calls `visit` for every processor that holds a part of `rect`, with each rectangle of that part, in order
// of processor number where no modes are fused, until it returns false. Along replicated dimensions only the
// coordinates of `replica` are visited, so that every coordinate of the tensor has one holder; all of them if
// it is NULL. Parts may have periodic sets in `arena`. The cost is proportional to the number of these
// processors, not to the grid, except that all coordinates of block-cyclic dimensions are tried.
// layout_part_count: the number of parts with one replica; takes constant time for each mode with equal
// blocks.
int64_t layout_part_count(const Layout *layout, const Rect *rect, Arena *scratch);
typedef bool (*LayoutVisit)(void *context, int64_t processor, const Rect *part);
void layout_holders(const Layout *layout, const Rect *rect, const int64_t *replica, Arena *arena,
                    LayoutVisit visit, void *context);

#endif
