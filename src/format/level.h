// SPDX-License-Identifier: BSD-3-Clause
// Level formats: how one mode of a tensor is stored below the mode before it, as a record of what can be done
// with such a level (Chou, Kjolstad, Amarasinghe 2018). Lowering asks for capabilities and never which format
// a level has, so a new format is one new file and one line in formats.h.
#ifndef DISTAL_FORMAT_LEVEL_H
#define DISTAL_FORMAT_LEVEL_H

#include "loop/loop.h"
#include "machine/positions.h"

typedef struct LevelFormat LevelFormat;

// A level whose numbers are known: the extent of its mode, and what is stored below position p of the level
// above at positions pos[p] to pos[p + 1], where position q has coordinate crd[q]. A dense level has neither.
typedef struct {
    int64_t extent;
    const int64_t *pos;
    const int32_t *crd;
} LevelArrays;

// One level of a tensor as a kernel sees it through a view: its format, and the numbers and arrays of the
// view that describe it, which `bind` has made.
typedef struct {
    const LevelFormat *format;
    int mode;             // of the tensor, that the level stores
    bool last;            // the innermost level
    const IntExpr *first; // the coordinate that the view begins with
    const IntExpr
        *stride; // how far consecutive coordinates are apart in memory; NULL where that is not fixed
} Level;

// A format without `bind` is known by name only, and refused where it is declared.
struct LevelFormat {
    const char *name;
    bool full;       // stores every coordinate of its mode
    bool ordered;    // its coordinates increase under each position above
    bool unique;     // none is stored twice there
    bool branchless; // one coordinate under each position above
    bool compact;    // no position without a coordinate of its own
    bool contiguous; // coordinates that differ by one under a position above have positions that do

    // Builders of loop IR. NULL where a format lacks the capability.

    // Adds to `view`, a WAIT or OPEN, the numbers of the level, as variables, and describes the level by
    // them.
    void (*bind)(LoopKernel *kernel, LoopNode *view, Level *level);
    // The position of a coordinate under a position above, NULL at the root.
    const IntExpr *(*locate)(Arena *arena, const Level *level, const IntExpr *parent,
                             const IntExpr *coordinate);
    // The same, of a coordinate that is written.
    const IntExpr *(*insert)(Arena *arena, const Level *level, const IntExpr *parent,
                             const IntExpr *coordinate);
    // A loop, whose body the caller fills, in which `var` is each coordinate from `lower` to below `upper`
    // that is stored under `parent`.
    LoopNode *(*iterate)(Arena *arena, const Level *level, const IntExpr *parent, int var,
                         const IntExpr *lower, const IntExpr *upper);

    // Partitions (SpDISTAL, table I), on numbers.

    // The positions below `parents` whose coordinates are in `coordinates`: a partition by coordinates, and
    // with all of them one by the level above.
    PositionSet (*image)(const LevelArrays *level, PositionSet parents, PositionSet coordinates,
                         Arena *arena);
    // The positions as products of positions above and coordinates, appended to `to`: a partition by
    // positions, and by its rows one by the level below.
    void (*preimage)(const LevelArrays *level, PositionSet positions, Arena *arena, RowsArray *to);
};

// By name ("dense", "compressed", "singleton"); NULL where there is none.
const LevelFormat *level_format(const char *name);
const LevelFormat *level_format_dense(void);
// All names, for diagnostics; *count is set.
const char *const *level_format_names(int64_t *count);

#endif
