// SPDX-License-Identifier: BSD-3-Clause
// Divisions: what is divided by the entries of a tensor, level by level. Parts are contiguous in
// lexicographic order of some modes, and the levels of a machine divide the parts of those around them: in
// blocks of equal length, or so that entries balance them (SpDISTAL, section II-B). Where the parts begin is
// in boundaries.h.
#ifndef DISTAL_MACHINE_DIVISION_H
#define DISTAL_MACHINE_DIVISION_H

#include "machine/rect.h"

enum { MAX_DEPTH = 8 }; // levels of one division

typedef enum {
    BALANCE_NONE,     // blocks of equal length
    BALANCE_WEIGHTED, // entries as evenly as whole coordinates allow
    BALANCE_STORED,   // the coordinates that hold entries evenly
} Balance;

typedef struct {
    Balance balance;
    int mode_count; // by coordinates in the first modes of the division: several where these are fused
    int64_t parts;  // of each part of the level before
} DivisionLevel;

// The entries of a tensor, by their coordinates in these modes. The last level is balanced; each has as many
// modes as those before it or more, and those that are not balanced have one.
typedef struct {
    const char *tensor; // its name
    int mode_count;     // of the last level
    int modes[MAX_ORDER];
    int depth;
    DivisionLevel levels[MAX_DEPTH];
} Division;

void division_add(Division *division, Balance balance, int mode_count, int64_t parts);
bool division_equal(const Division *a, const Division *b);
int64_t division_parts(const Division *division); // INT64_MAX: more than fit

// Successive levels by the stored coordinates of the same modes divide as nested divides do: each has
// ceil(length / parts) of the length that the one before has at most. Any other level is a run of its own.
// The first level of the last run.
int division_last_run(const Division *division);
// The balanced levels before the last run, whose boundaries are to be found first. False where there are
// none.
bool division_base(const Division *division, Division *base);
// Where the parts of the last run begin in `total` of what a part before it has: as many as the levels of the
// run have parts, and `total`.
void division_positions(const Division *division, int64_t total, int64_t *positions);

#endif
