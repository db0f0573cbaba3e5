// SPDX-License-Identifier: BSD-3-Clause
// Level formats: how one mode of a tensor is stored below the mode before it, as a record of what can be done
// with such a level (Chou, Kjolstad, Amarasinghe 2018). Lowering uses capabilities and never tests which
// format a level has, so a new format is one new file and one line in formats.h.
#ifndef DISTAL_FORMAT_LEVEL_H
#define DISTAL_FORMAT_LEVEL_H

#include "loop/loop.h"

typedef struct LevelFormat LevelFormat;

// The level of a tensor as it is declared.
typedef struct {
    const LevelFormat *format;
    bool nonunique; // equal coordinates may follow each other under a position: compressed(nonunique)
    bool wide;      // coordinates take 64 bits, as the extent of the mode does not fit into 32
} LevelType;

enum { LEVEL_ARRAY_COUNT = 2 };

typedef struct {
    const char *name; // "pos"
    LevelArrayKind kind;
} LevelArrayInfo;

// A level whose numbers are known: the coordinates of its mode, how many positions it has, and its arrays, in
// the order of LevelFormat.arrays.
typedef struct {
    int64_t first;  // coordinate; not 0 only in levels that can be a part (level_list.h)
    int64_t extent; // how many coordinates there are from `first` on
    int64_t position_count;
    bool wide;
    void *arrays[LEVEL_ARRAY_COUNT];
    int64_t lengths[LEVEL_ARRAY_COUNT]; // in elements
    bool borrowed[LEVEL_ARRAY_COUNT];   // owned by the caller, so not released here
} LevelArrays;

static inline int64_t level_coordinate(const LevelArrays *level, int array, int64_t position) {
    return level->wide ? ((const int64_t *)level->arrays[array])[position]
                       : ((const int32_t *)level->arrays[array])[position];
}

static inline void level_set_coordinate(LevelArrays *level, int array, int64_t position, int64_t coordinate) {
    if (level->wide)
        ((int64_t *)level->arrays[array])[position] = coordinate;
    else
        ((int32_t *)level->arrays[array])[position] = (int32_t)coordinate;
}

// Consecutive elements of an array: positions of a level and what its arrays have there, or values.
typedef struct {
    int64_t first, count;
} Slice;

// A block of sorted entries while a level is packed. Entries with the same coordinates in levels 0
// to `depth` share a position of the level. `depth` is the level itself or, where it is nonunique, the last
// of the singleton levels that follow it.
typedef struct {
    int count;
    const int64_t *coordinates; // of the level's mode, by entry
    const uint8_t *differs; // by entry: the first level in which it differs from the one before; 0: the first
    int depth;
    int64_t *positions; // by entry: position of the level above, which packing replaces by that of the level
} LevelEntries;

// How far a thread has packed a level: distinct entries so far, as the level counts them (LevelEntries), and
// the position above the last of them; -1 where there is none.
typedef struct {
    int64_t distinct, parent;
} LevelState;

// One level of a tensor in the view of a kernel: its format, and the variables and arrays that
// `bind` has made for it. The view of a sparse tensor is what is stored here, and positions are those of its
// levels. The view of a dense tensor is a rectangle, and positions are offsets in memory.
typedef struct {
    LevelType type;
    int number;            // among the levels of the tensor, from 0
    int mode;              // of the tensor, that the level stores
    bool last;             // the innermost level
    bool part;             // of a sparse tensor: the view may have a part of the coordinates
    const IntExpr *extent; // of the mode, where the tensor is sparse; NULL where it is dense
    // The coordinate that the view begins with, of each mode of a dense tensor and of each level of a sparse
    // one that may be a part (NULL in other levels); and how far consecutive ones are apart.
    const IntExpr *first, *stride;
    int arrays[LEVEL_ARRAY_COUNT]; // of the kernel, by array of the format
} Level;

// Positions, from `begin` to before `end`.
typedef struct {
    const Value *begin, *end;
} LevelRange;

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

    // Adds the variables and arrays of the level to `view`, a WAIT or OPEN, and sets them in *level.
    void (*bind)(LoopKernel *kernel, LoopNode *view, Level *level);
    // Where every coordinate is stored:
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

    // Elements of the array of values below a position above, where the level has `count` coordinates there
    // and `below` elements below each of its own positions: coordinates that differ by one are `below`
    // elements apart. NULL where the level stores coordinates of its own.
    int64_t (*elements)(int64_t count, int64_t below);

    // The position of the level above below which `position` is, among those from `begin` to before `end`.
    // NULL where positions cannot be iterated over.
    const Value *(*search_above)(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end,
                                 const IntExpr *position);

    // Where not every coordinate is stored, in this order of positions:

    // The positions below positions `begin` to before `end` of the level above; NULL where positions cannot
    // be iterated over, only searched.
    LevelRange (*range)(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end);
    // The coordinate of a position.
    const Value *(*coordinate)(Arena *arena, const Level *level, const IntExpr *position);
    // The first position from `begin` to before `end` whose coordinate is not less than `coordinate`; `end`
    // where there is none. Coordinates increase there. Where the level has no `range`, `begin` and `end` are
    // positions of the level above.
    const Value *(*search)(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end,
                           const IntExpr *coordinate);
    // Whether what `search` has found is the coordinate.
    const Value *(*found)(Arena *arena, const Level *level, const IntExpr *position, const IntExpr *end,
                          const IntExpr *coordinate);
    // The first position from `position` to before `end` with another coordinate than that at `position`.
    const Value *(*run_end)(Arena *arena, const Level *level, const IntExpr *position, const IntExpr *end);

    // Data: packing and unpacking (stored.h), and parts (cut.h).

    // The positions below `parents` with coordinates from `lo` to before `hi`: a partition by coordinates,
    // and with all of them one by the level above (SpDISTAL, table I). Where these are not all, coordinates
    // do not decrease below `parents`, as below a single one.
    Slice (*image)(const LevelArrays *level, Slice parents, int64_t lo, int64_t hi);

    // Sets position_count and the lengths of the arrays, INT64_MAX where they overflow: below `parents`
    // positions, with `distinct` entries as the level sees them.
    void (*measure)(LevelArrays *level, int64_t parents, int64_t distinct);
    // The position of an entry with this coordinate below a position above; `ordinal` is its number among the
    // distinct entries.
    int64_t (*position)(const LevelArrays *level, int64_t parent, int64_t coordinate, int64_t ordinal);
    // Writes the next entries of a thread, while other threads write those before and after them. Bits are
    // zero before, other arrays are not initialized.
    void (*pack)(LevelArrays *level, const LevelEntries *entries, LevelState *at);
    // Writes what follows from there being no more entries, below `parents` positions; NULL: nothing.
    void (*finish)(LevelArrays *level, int64_t parents, LevelState at);
    // Of a level with a list below each position above, and nothing but coordinates by position in it: writes
    // that the list of `parent` begins at `position`. NULL elsewhere.
    void (*begin)(LevelArrays *level, int64_t parent, int64_t position);
    // The coordinates of `count` positions, which do not decrease; -1 where nothing is stored, which occurs
    // only in formats that are not compact.
    void (*coordinates)(const LevelArrays *level, int64_t count, const int64_t *positions, int64_t *to);
    // Replaces such positions by those of the level above.
    void (*above)(const LevelArrays *level, int64_t count, int64_t *positions);
};

// By name ("dense", "compressed", "singleton"); NULL where there is none.
const LevelFormat *level_format(const char *name);
LevelType level_type_dense(void);
bool level_type_equal(LevelType a, LevelType b);
// The array of a level that has this kind of elements; -1 where it has none.
int level_array(const LevelFormat *format, LevelArrayKind kind);
// All names, for diagnostics; *count is set.
const char *const *level_format_names(int64_t *count);

#endif
