// SPDX-License-Identifier: BSD-3-Clause
// Machines: (hierarchical) grids of abstract processors (DISTAL, section 3.1). A hierarchical machine is kept
// flattened: its dimensions are those of its levels, outermost level first; processors are numbered
// row-major.
#ifndef DISTAL_MACHINE_MACHINE_H
#define DISTAL_MACHINE_MACHINE_H

#include "base/diagnostic.h"
#include "base/intexpr.h"

enum { MAX_MACHINE_ORDER = 12, MAX_MACHINE_LEVELS = 4 };
enum { MAX_PROCESSORS = INT32_MAX }; // of a machine or a statement, as MPI counts ranks in an int

typedef struct {
    const char *name; // "node", "socket", "core", "gpu"; "" for the one level of a flat machine
    int first, order; // its dimensions are first .. first + order - 1 of the machine
} MachineLevel;

typedef struct {
    const char *name;
    Span span;
    int level_count;
    MachineLevel levels[MAX_MACHINE_LEVELS];
    int order; // dimensions over all levels
    const IntExpr *extents[MAX_MACHINE_ORDER];
    Span extent_spans[MAX_MACHINE_ORDER];
} Machine;

// A deep copy in `arena`, without spans.
Machine *machine_copy(Arena *arena, const Machine *machine);

// The level called `name`, or NULL.
const MachineLevel *machine_level(const Machine *machine, const char *name);

// The level that a dimension belongs to.
const MachineLevel *machine_level_of(const Machine *machine, int dim);

// A grid with numbers put in. Of order 0: one processor.
typedef struct {
    int order;
    int64_t extents[MAX_MACHINE_ORDER];
} Grid;

// With the values of params. False where a dimension is smaller than 1.
bool machine_grid(const Machine *machine, const int64_t *params, Grid *grid);
int64_t grid_size(const Grid *grid);
// Row-major: the coordinates of processor `index`, and back.
void grid_coordinates(const Grid *grid, int64_t index, int64_t *coordinates);
int64_t grid_index(const Grid *grid, const int64_t *coordinates);

// Processors onto ranks, in contiguous blocks (over-decomposition): rank r runs processors
// [r * per_rank, (r + 1) * per_rank) that exist, with per_rank = ceil(processors / ranks).
int64_t processors_per_rank(int64_t processors, int64_t ranks);

#endif
