// SPDX-License-Identifier: BSD-3-Clause
// Divisions: what is divided in parts of different lengths, level by level. Parts are contiguous in
// lexicographic order of some modes, and the levels of a machine divide the parts of those around them: in
// blocks of equal length, so that entries balance them (SpDISTAL, section II-B), in lengths that differ by
// one at most, or at given boundaries. Where the parts begin is in boundaries.h.
#ifndef DISTAL_MACHINE_DIVISION_H
#define DISTAL_MACHINE_DIVISION_H

#include "machine/rect.h"

enum { MAX_DEPTH = 8 }; // levels of one division

typedef enum {
    BALANCE_NONE,     // blocks of equal length
    BALANCE_WEIGHTED, // entries as evenly as whole coordinates allow
    BALANCE_STORED,   // the coordinates that hold entries evenly
    BALANCE_LENGTHS,  // lengths that differ by one at most, the longer parts first
    BALANCE_LISTED,   // at boundaries that are listed
} Balance;

// Whether parts follow from entries.
static inline bool balance_is_by_entries(Balance balance) {
    return balance == BALANCE_WEIGHTED || balance == BALANCE_STORED;
}

typedef struct {
    Balance balance;
    int mode_count;        // by coordinates in the first modes of the division: several where these are fused
    int64_t parts;         // of each part of the level before
    const int64_t *starts; // BALANCE_LISTED, of the first level alone: parts + 1 of them
} DivisionLevel;

// Fused modes may be divided by coordinates before their entries are, in blocks of equal length or
// block-cyclically: in *cells*, of which each is a part of every such mode. Entries are then in order of
// their cells, and in each in lexicographic order of the modes. The number of the cell, row-major in the
// first `cell_levels` levels, stands for a mode before all others, CELL_MODE.
enum { CELL_MODE = -1 };

// The entries of a tensor, by their coordinates in these modes. The last level is balanced; each has as many
// modes as those before it or more, and those that are not balanced have one. Where no entries count, the
// coordinates of one mode.
typedef struct {
    const char *tensor; // its name; "" where no entries count
    int mode_count;     // of the last level
    int modes[MAX_ORDER];
    int depth;
    DivisionLevel levels[MAX_DEPTH];
    int cell_levels;
    struct {
        int mode;      // an index in `modes`
        int64_t block; // block size of a block-cyclic distribution; 0: one contiguous block for each part
    } cells[MAX_DEPTH];
} Division;

void division_add(Division *division, Balance balance, int mode_count, int64_t parts);
bool division_equal(const Division *a, const Division *b);
bool division_is_by_entries(const Division *division);
int64_t division_parts(const Division *division); // INT64_MAX: more than fit

// Successive levels by the stored coordinates of the same modes divide as nested divides do: each has
// ceil(length / parts) of the length that the one before has at most. Any other level is a run of its own.
// The first level of the last run.
int division_last_run(const Division *division);
// The balanced levels before the last run, whose boundaries are to be found first. False where there are
// none.
bool division_base(const Division *division, Division *base);
// By mode of the division, from those of the tensor; the number of cells is that of their mode.
void division_extents(const Division *division, const int64_t *tensor_extents, int64_t *extents);
int64_t division_cell_count(const Division *division);
// The cell of these coordinates, and what a cell has of a mode, both by mode of the division.
int64_t division_cell(const Division *division, const int64_t *extents, const int64_t *coordinates);
PositionSet division_cell_part(const Division *division, const int64_t *extents, int64_t cell, int mode,
                               Arena *arena);

// Where the parts of the last run begin in `total` of what a part before it has: as many as the levels of the
// run have parts, and `total`.
void division_positions(const Division *division, int64_t total, int64_t *positions);

#endif
