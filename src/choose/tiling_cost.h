// SPDX-License-Identifier: BSD-3-Clause
// What loops over tiles cost, by formula: the ways to divide each group of variables, how often each access
// is then brought or taken, and what buffers need.
#ifndef DISTAL_CHOOSE_TILING_COST_H
#define DISTAL_CHOOSE_TILING_COST_H

#include "choose/search.h"

// Numbers of tiles that are looked at differ by this factor at least.
static const double tile_count_ratio = 1.02;

// What moves of an access.
typedef struct {
    VarSet groups;
    double size;  // bytes of an element
    double users; // ranks that use the same part
    bool is_result, in_disk, moves;
    double part;          // bytes of the disk of a rank that are read or written in one pass
    double moved_seconds; // of one pass
} MovedAccess;

// One way to divide a group into tiles: its variables before `split` have tiles of one coordinate, those
// after it are not divided.
typedef struct {
    int split;
    int64_t length;
    double size, count; // coordinates of a tile, and tiles
} TilePart;
typedef Array(TilePart) TilePartArray;

typedef struct {
    int var_count;
    int vars[MAX_VARS]; // in the order in which they are stored
    VarSet accesses;
    double extent;
    TilePartArray parts; // with increasing numbers of tiles
} VarGroup;

// A statement whose tiles are looked for; the fields to `memory` are those of tiling_find.
typedef struct {
    Search *search;
    const SearchStatement *statement;
    const Candidate *candidate;
    int rotated;
    int64_t steps;
    uint64_t outside;
    double memory;
    double once; // seconds of copies that are made before
    int group_count;
    VarGroup groups[MAX_VARS];
    int rotated_group;
    int moved_count;
    MovedAccess moved[MOST_ACCESSES];
} TilingProblem;

// A point of the search: an order of the groups, and a part of each.
typedef struct {
    int order[MOST_GROUPS];
    int64_t parts[MOST_GROUPS]; // by group
} TilingPoint;

typedef struct {
    double seconds, bytes; // bytes of buffers
} TilingEstimate;

// Finds groups, the ways to divide them, and what moves, of a statement that the first fields of `problem`
// describe. `places` as of tiling_find.
void tiling_prepare(TilingProblem *problem, const unsigned char *places);

// Coordinates of a variable that a processor has, at most; 1 where there are none.
int64_t tiling_block(const TilingProblem *problem, int var);
// Coordinates of a variable that a tile has, at most.
int64_t tiling_length(const TilingProblem *problem, const TilingPoint *point, int var);
// Elements of an access that a tile uses, at most.
double tiling_elements(const TilingProblem *problem, const TilingPoint *point, int access);
// The position, in the order of the point, of the innermost group that an access has and whose loop is there;
// -1: none; the number of groups where the access is shifted, which is inside of all loops. *passes: how
// often all of the access is brought; *steps: in how many steps.
int tiling_innermost(const TilingProblem *problem, const TilingPoint *point, int access, double *passes,
                     double *steps);
// The seconds, and the bytes of buffers, at a point; with the exact rates of requests and products only where
// the seconds could be below `limit` and the bytes fit into memory.
TilingEstimate tiling_evaluate(const TilingProblem *problem, const TilingPoint *point, double limit);

// Seconds in which an access is brought, or its result taken, as often as the candidate's tiling says.
double tiling_cost(Search *search, const SearchStatement *statement, const Candidate *candidate, int access,
                   const Place *place);

#endif
