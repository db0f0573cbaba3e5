// SPDX-License-Identifier: BSD-3-Clause
// What the parts of building loops of leaves with sparse tensors share: the driver (loops_sparse.c),
// operands (loops_sparse_operands.c), the kinds of loops (loops_sparse_kinds.c), loops over positions in
// place of coordinates (loops_sparse_pos.c), and parts of loops (loops_sparse_parts.c).
#ifndef DISTAL_LOWER_LOOPS_SPARSE_H
#define DISTAL_LOWER_LOOPS_SPARSE_H

#include "lower/builder.h"
#include "lower/lattice.h"

typedef struct SparseCount SparseCount;

// What is known inside of the loops made so far.
struct SparseState {
    LeafBuilder *leaf;
    bool known[MAX_VARS]; // variables that have a value
    Operand *operands;    // by number, as in the leaf
    Numbers *numbers;
    bool threads;              // a loop around is threaded
    bool inner;                // the leaf is inside of another one
    bool unchecked;            // some operand may be absent, and no condition has tested that
    const SparseCount *counts; // of positions that take the place of coordinates, and are known
};

// One loop.
typedef struct {
    const LeafLoop *from;
    int number;           // in the leaf
    int source;           // the variable whose coordinates it iterates over; -1: none
    const IntExpr *first; // the first coordinate; NULL: 0
    const IntExpr *after; // before which they end; NULL: the first one and the bound of the loop
    // Coordinates are in the part that these relations give the processor, and the loops around, of the
    // source: each divides what the one before gives. The loop skips all others.
    const Relation **parts;
    int part_count;
    const IntExpr *low, *high; // of a part: the coordinates from `low` to before `high`; NULL: all
    const Set *set;            // of these coordinates, by the operands in `iterated`
    VarSet defined;            // variables that have the values of stored coordinates
    bool *iterated;            // by operand: the loop iterates over its positions
    const IntExpr **offsets;   // by operand: what it stores less this are coordinates of the loop; NULL: 0
    bool has_offsets;          // of any operand in `iterated`
    const IntExpr **begins;    // by operand: its first position, their end, the current one, the next one
    const IntExpr **ends, **positions, **next;
    int *cursors;
} SparseLoop;

static inline Arena *sparse_arena(const SparseState *state) {
    return state->leaf->builder->arena;
}

static inline void sparse_append(const SparseState *state, LoopBody *to, const LoopNode *node) {
    loop_append(sparse_arena(state), to, node);
}

// The position in the next level is known: it is `begin`.
static inline void sparse_pass_level(Operand *operand) {
    operand->at[operand->level++] = operand->begin;
}

// The next level of an operand; NULL where the positions of all are known.
static inline const Level *sparse_level(const Operand *operand) {
    return operand->level < operand->access->tensor->order ? &operand->view->levels[operand->level] : NULL;
}

static inline bool sparse_has_threads(const LeafLoop *loop) {
    return loop->thread || loop->thread_reduces || loop->partials;
}

SparseState sparse_copy_state(const SparseState *state);
// Sets how a loop is executed, as the schedule says. `unique`: no coordinate occurs twice.
void sparse_set_execution(const SparseState *state, const SparseLoop *loop, bool unique, LoopNode *node);
// Whether the next level of an operand stores coordinates of `source`, or of an index that is the source plus
// what has a value around the loop: *offset, NULL where it is the source.
bool sparse_stores(const SparseState *state, const Operand *operand, int source, const IntExpr **offset);
// A coordinate of the loop as an operand that it iterates over stores it, and the other way round.
const IntExpr *sparse_to_stored(const SparseState *state, const SparseLoop *loop, int o,
                                const IntExpr *coordinate);
const IntExpr *sparse_from_stored(const SparseState *state, const SparseLoop *loop, int o,
                                  const IntExpr *stored);
// A number that is greater than all coordinates of the loop, as an operand would store it: an offset of any
// operand can be added to it.
const IntExpr *sparse_beyond(const SparseState *state, const SparseLoop *loop, int o);
// Before which number the coordinates of the loop end.
const IntExpr *sparse_after(const SparseState *state, const SparseLoop *loop);
// Whether the right side has a value only where the operand has an entry.
bool sparse_requires(const LeafBuilder *leaf, int operand);

// Positions of operands.

// Sets the operands of a leaf, which are those of all leaves inside: as far as they are known `outside`
// (NULL: nothing is). Returns them.
Operand *sparse_operands(LeafBuilder *leaf, const SparseState *outside);

// The end of the positions of an operand in the last level that is known.
const IntExpr *sparse_end(const SparseState *state, const Operand *operand);

// A variable of an operand's next level, "B_p2"; one with a value, or what the value already is a name of.
int sparse_var(const SparseState *state, const Operand *operand, const char *what, int type);
const IntExpr *sparse_let_index(const SparseState *state, const Operand *operand, const char *what,
                                const Value *value, LoopBody *to);
// Whether it has the coordinate, "B_has2".
const Value *sparse_let_condition(const SparseState *state, const Operand *operand, const Value *value,
                                  LoopBody *to);
// The positions of a level below those of the level above; `present`: whether there are any, or NULL.
LevelRange sparse_below(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end,
                        const Value *present);
// Those of the next level below those of an operand, as variables.
void sparse_range(const SparseState *state, const Operand *operand, const IntExpr **begin,
                  const IntExpr **end, LoopBody *to);
// The end of the positions with the same coordinate as `position`; `position` itself where `found` is false.
const IntExpr *sparse_next(const SparseState *state, const Operand *operand, const IntExpr *position,
                           const IntExpr *end, const Value *found, LoopBody *to);
// A local variable for the current position of an operand in its next level, `begin` at first; its value.
int sparse_cursor(const SparseState *state, const Operand *operand, const IntExpr *begin, LoopBody *to);
const Value *sparse_load_cursor(Arena *arena, int cursor);
// Copies the row that values of the result were added to, to the entries of its row, and makes it zero again.
// `result`: the array that has these.
void sparse_copy_values(const SparseState *state, int result, LoopBody *to);
// Loads the numbers of the coordinate of an operand in its last level that is known, in operands that it
// indexes.
void sparse_number(SparseState *state, const Operand *operand, LoopBody *to);
// Looks up all levels whose coordinates are known, of the operand that is written or of the others.
void sparse_lookups(SparseState *state, bool written, LoopBody *to);

// The kinds of loops. Each has the same body.

// A loop over all coordinates; operands that store a coordinate advance past it.
void sparse_coordinate_loop(const SparseState *state, SparseLoop *loop, LoopBody *to);
// A loop over the positions of one operand. Equal coordinates, which are adjacent, are separate iterations.
void sparse_position_loop(const SparseState *state, SparseLoop *loop, LoopBody *to);
// A merge loop over the coordinates of several operands: the least of their current coordinates or, of an
// intersection, the greatest, as no coordinate before it is in all of them. An operand at its end counts as
// one with a coordinate greater than all.
void sparse_merge_loop(const SparseState *state, SparseLoop *loop, LoopBody *to);
// A loop over positions in place of coordinates (pos), at which their number is known: over those of the
// levels above and, inside, over those of the last level; parts of them may be the threads'.
void sparse_stored_loop(const SparseState *outside, SparseLoop *loop, const Relation *relation, LoopBody *to);
// The body of a loop, where its coordinate is known.
void sparse_inside(SparseState *state, const SparseLoop *loop, LoopBody *to);

// Parts of loops.

// One of equal parts, of which there are some for each thread that there may be: its number, and where in
// what is divided it is.
typedef struct {
    const IntExpr *parts, *number, *begin, *end;
} SparsePart;

// A loop over parts of `count` iterations, `each` for a thread, which the caller fills and appends. `stem`:
// whose name those of its variables begin with.
LoopNode *sparse_parts(const SparseState *state, int stem, const IntExpr *count, int each, SparsePart *part,
                       LoopBody *to);
// The same for the coordinates of a loop over positions or a merge loop, with about as many entries of one
// operand each and no coordinate in two of them; sets those of the part. `merges`: iterations of the loop
// follow from one another. NULL where the loop is not divided so: a command or the place of the loop does not
// say it, or iterations with different coordinates write the same element, and neither a command says how,
// nor is it the only one.
LoopNode *sparse_coordinate_parts(const SparseState *state, SparseLoop *loop, bool merges, LoopBody *to);

// Positions in place of coordinates.

// The relation about positions whose number is known inside of the loop and not outside; NULL where there is
// none.
const Relation *sparse_stored_relation(const SparseState *state, const LeafLoop *loop);
// Defines how many positions there are, of relations for which that is known now.
void sparse_count_positions(SparseState *state, LoopBody *to);
// False with a diagnostic where the loop is over a part of positions that are not known, or are not all that
// is needed.
bool sparse_check_positions(const SparseState *state, int loop);

#endif
