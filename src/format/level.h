// SPDX-License-Identifier: BSD-3-Clause
// Level formats: how one mode of a tensor is stored below the mode before it, as a record of what can be done
// with such a level (Chou, Kjolstad, Amarasinghe 2018). Lowering asks for capabilities and never which format
// a level has, so a new format is one new file and one line in formats.h.
#ifndef DISTAL_FORMAT_LEVEL_H
#define DISTAL_FORMAT_LEVEL_H

#include "loop/loop.h"
#include "machine/positions.h"

typedef struct LevelFormat LevelFormat;

// The level of a tensor as it is declared.
typedef struct {
    const LevelFormat *format;
    bool nonunique; // equal coordinates may follow each other under a position: compressed(nonunique)
    bool wide;      // coordinates take 64 bits, as the extent of the mode does not fit into 32
} LevelType;

// What the elements of an array of a level are.
typedef enum {
    LEVEL_ARRAY_NONE,
    LEVEL_ARRAY_POSITIONS,   // int64_t
    LEVEL_ARRAY_COORDINATES, // int32_t, or int64_t where the level is wide
    LEVEL_ARRAY_BITS,        // uint64_t, a bit for each position, the least significant one first
} LevelArrayKind;
enum { LEVEL_ARRAY_COUNT = 2 };

typedef struct {
    const char *name; // "pos"
    LevelArrayKind kind;
} LevelArrayInfo;

// A level whose numbers are known: the extent of its mode, how many positions it has, and its arrays, in the
// order of LevelFormat.arrays.
typedef struct {
    int64_t extent;
    int64_t position_count;
    bool wide;
    void *arrays[LEVEL_ARRAY_COUNT];
    int64_t lengths[LEVEL_ARRAY_COUNT]; // in elements
} LevelArrays;

// One level of a tensor as a kernel sees it through a view: its format, and the numbers and arrays of the
// view that describe it, which `bind` has made.
typedef struct {
    LevelType type;
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
    LevelArrayInfo arrays[LEVEL_ARRAY_COUNT];

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
LevelType level_type_dense(void);
bool level_type_equal(LevelType a, LevelType b);
// All names, for diagnostics; *count is set.
const char *const *level_format_names(int64_t *count);

#endif
