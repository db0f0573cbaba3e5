// SPDX-License-Identifier: BSD-3-Clause
// Parts of a tensor that are balanced by what it stores (SpDISTAL, section II-B): in lexicographic order of
// some modes each part has the coordinates from where it begins to where the next one does. Where that is
// follows from the entries, so it is known when these are.
#ifndef DISTAL_MACHINE_BOUNDARIES_H
#define DISTAL_MACHINE_BOUNDARIES_H

#include "machine/rect.h"

enum { MAX_DEPTH = 8 }; // dimensions of machines that divide one after the other
#define MOST_STORED (INT64_C(1) << 62)

typedef enum {
    BALANCE_NONE,
    BALANCE_WEIGHTED, // entries as evenly as whole coordinates allow
    BALANCE_STORED,   // the coordinates that hold entries evenly
} Balance;

// What is divided: the entries of a tensor by their coordinates in these modes, into parts[0] parts, each of
// these into parts[1], and so on.
typedef struct {
    Balance balance;
    const char *tensor; // its name
    int mode_count;
    int modes[MAX_ORDER];
    int depth;
    int64_t parts[MAX_DEPTH];
} Division;

bool division_equal(const Division *a, const Division *b);
int64_t division_parts(const Division *division); // INT64_MAX: more than fit

// Where the parts begin, where each has ceil(length / parts) of what it divides, as nested divides; and, as
// the last of division_parts + 1, `total`.
void division_positions(const Division *division, int64_t total, int64_t *positions);

typedef struct {
    Division division;
    int64_t count; // parts
    int64_t total; // of what is divided: entries, or coordinates that hold entries
    // How much of it is in the parts before; count + 1 of them.
    const int64_t *positions;
    // Where parts begin, a coordinate of each mode of the division; the last is behind all. The first part
    // begins at 0. Likewise, of a part that is not empty, the last coordinates that hold entries, and of the
    // first part the first ones: all others begin with those.
    const int64_t *starts, *lasts, *first;
} Boundaries;
typedef Array(const Boundaries *) BoundariesArray;

// Parts of equally many coordinates: what is assumed while entries are not known. `extents` are those
// of the modes of the division.
const Boundaries *boundaries_even(const Division *division, const int64_t *extents, Arena *arena);
const Boundaries *boundaries_copy(const Boundaries *boundaries, Arena *arena);
// Those of a division, or NULL.
const Boundaries *boundaries_find(const BoundariesArray *list, const Division *division);

// The length of the longest part, of one mode.
int64_t boundaries_longest(const Boundaries *boundaries);

// A coordinate of each mode of the division, in lexicographic order: negative, 0 or positive.
int boundaries_compare(const Boundaries *boundaries, const int64_t *a, const int64_t *b);
// The part that these coordinates are in.
int64_t boundaries_part(const Boundaries *boundaries, const int64_t *coordinates);
// Where the entries of a part begin: a coordinate of each mode of the division.
const int64_t *boundaries_first(const Boundaries *boundaries, int64_t part);
// Appends what the parts `first` to before `last` have of `rect`, whose modes of the division are intervals,
// as disjoint rectangles: at most 2 * mode_count - 1.
void boundaries_rects(const Boundaries *boundaries, int64_t first, int64_t last, const Rect *rect,
                      Arena *arena, RectArray *rects);

// What positions have, of what is divided, where `rect` has the whole extents of the modes of the division:
// appends rectangles from the first to the last coordinates of each part that has some of them, disjoint
// ones; and a bound for those from `first` to before `last`, at least one, monotone.
void boundaries_image(const Boundaries *boundaries, PositionSet positions, const Rect *rect, Arena *arena,
                      RectArray *rects);
void boundaries_bound(const Boundaries *boundaries, int64_t first, int64_t last, Rect *rect);

#endif
