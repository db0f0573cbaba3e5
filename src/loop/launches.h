// SPDX-License-Identifier: BSD-3-Clause
// What the files of the pass `launches` share: a kernel whose leaves become launches.
#ifndef DISTAL_LOOP_LAUNCHES_H
#define DISTAL_LOOP_LAUNCHES_H

#include "loop/loop.h"

enum { LAUNCH_EACH = 8, CHAIN_LOOPS = 64 };

typedef struct {
    LoopKernel *kernel;
    Arena *arena;
    const IntExpr **values; // by variable: what a definition in the leaf says
    int64_t var_count;
    bool *summed; // by array: it has elements that are updated where there may be no iterations
    int64_t array_count;
    const LoopNode *team;                       // whose body is made launches of; NULL: none
    const IntExpr *partials;                    // how many partial results it has
    const IntExpr *partial_step, *element_step; // from one partial result to the next, and between elements
} Launches;

// Loops inside of each other whose bounds do not depend on each other, so that any order of all of their
// iterations is one of theirs.
typedef struct {
    const LoopNode *loops[CHAIN_LOOPS];
    int count;
    const LoopBody *inside; // the body of the last one
    bool guarded;           // there are conditions between the loops
} Chain;

// What takes the place of a loop of a chain: another loop, a definition of its variable, both, of which the
// definition is inside, or neither, where the variable is bound around.
typedef struct {
    const LoopNode *loop;
    const IntExpr *value;
} Place;

// Numbers, operations, and variables of loops, in the arena of the kernel.
const IntExpr *launch_number(const Launches *launches, int64_t value);
const IntExpr *launch_op(const Launches *launches, IntOp kind, const IntExpr *left, const IntExpr *right);
const IntExpr *launch_var(const Launches *launches, const LoopNode *loop);
// A definition of an expression, which is appended to a body.
const IntExpr *launch_let(const Launches *launches, LoopBody *to, const char *name, const IntExpr *value);
// Whether an expression mentions one of these variables, by id.
bool launch_depends(const IntExpr *expr, const bool *vars);
// The variables, by id, that nodes of a body define, loops among them.
bool *launch_defined(const Launches *launches, const LoopBody *body);
// A launch without a body, along x; a loop of a new variable, with unit `unit` along dimension `dim`.
LoopNode *launch_create(const Launches *launches, const IntExpr *blocks, int threads);
LoopNode *launch_loop(const Launches *launches, const char *name, const IntExpr *lower, const IntExpr *upper,
                      GpuUnit unit, int dim);

// The loops outside of what a body does whose iterations write distinct elements, or all that do not.
Chain launch_chain(const Launches *launches, const LoopBody *body, bool distinct);
// The update that a chain of loops makes of one element; NULL where it does something else.
const LoopNode *launch_update(const Launches *launches, const Chain *sums);
// How many elements that an iteration over `var` reads are next to those of the iteration after.
int launch_contiguous(const Launches *launches, const LoopBody *nodes, int var);
// Adds what definitions among these nodes say, without other definitions, to what is known of those around.
void launch_expand(Launches *launches, const LoopBody *nodes);

// The iterations of a loop, 0 where its bounds are the other way round, and of the first loops of a chain.
const IntExpr *launch_extent(const Launches *launches, const LoopNode *loop);
const IntExpr *launch_extents(const Launches *launches, const Chain *chain, int count);
// The places of the first `count` loops of a chain in their iteration that has the number `linear`.
void launch_coordinates(const Launches *launches, const Chain *chain, int count, const IntExpr *linear,
                        Place *places);
// A body in which the loops of a chain have these places, and `inside` that of what the last one has.
LoopBody launch_body(const Launches *launches, const Chain *chain, const LoopBody *body, const Place *places,
                     const LoopBody *inside);
// A scalar for what a thread sums, with the reducer of the array that is updated.
int launch_sum(const Launches *launches, const LoopNode *update, LoopBody *to);
// A body in which the sum whose first loop is `first`, and which makes `update`, is one of a scalar, with
// which the element is updated once.
LoopBody launch_summed(const Launches *launches, const LoopBody *body, const LoopNode *first,
                       const LoopNode *update);
// A body in which updates of an array are made of the scalar `sum`.
LoopBody launch_redirect(const Launches *launches, const LoopBody *body, int array, int sum);
// Threads of a block along x, y and z, where the grid has `extents` threads in all (NULL: one); at most
// GPU_THREADS.
// Definitions are appended to `to`.
void launch_shape(const Launches *launches, const IntExpr *const *extents, LoopBody *to,
                  const IntExpr **threads);

// A warp has GPU_LANES * LAUNCH_EACH iterations that follow each other, and a thread LAUNCH_EACH of them,
// GPU_LANES apart: so neighbouring threads load neighbouring elements, and a compiler knows how far apart the
// elements of a thread are. The first iteration of thread `thread`, where the first one of all is 0.
const IntExpr *launch_first(const Launches *launches, const IntExpr *thread);
// The iterations of a thread, whose loads do not wait for each other: of `inside`, for the values of a
// variable from `first` on that are less than `end`.
LoopBody launch_each(const Launches *launches, int var, const IntExpr *first, const IntExpr *end,
                     const LoopBody *inside);

// Each of these appends the launches of a leaf, whose loops `elements` write distinct elements, and `sums`
// inside of them all make one update, or there are none.

// A thread for a few elements.
void launch_elements(const Launches *launches, const Chain *elements, const Chain *sums,
                     const LoopNode *update, const LoopBody *body, LoopBody *to);
// Tiles of elements, so that what is stored across the result is read along rows, and passed to those that
// need it through memory of the block. False, and nothing is done, where nothing is stored across.
bool launch_tiles(const Launches *launches, const Chain *elements, const LoopBody *body, LoopBody *to);
// Several threads for an element.
void launch_sums(const Launches *launches, const Chain *elements, const Chain *sums, const LoopNode *update,
                 const LoopBody *body, LoopBody *to);
// All threads for a single element: all blocks sum parts of it, and a second launch adds what they have
// found.
void launch_one_sum(const Launches *launches, const Chain *sums, const LoopNode *update, const LoopBody *body,
                    LoopBody *to);

// An array in memory of the block for one element of this type for each thread; and all threads along x, of
// which there are GPU_THREADS at most, for a single element of which each block computes its own: they sum
// parts of it, which are added in such an array.
int launch_parts(const Launches *launches, ElementType type, LoopBody *to);
void launch_block_sum(const Launches *launches, const Chain *sums, const LoopNode *update, int parts,
                      const IntExpr *threads, const LoopBody *body, LoopBody *to);

// Rows (launch_rows.c): workspaces that are filled and read in each iteration of loops around them.

// Whether there are such workspaces that are no scalars, or any.
bool launch_has_rows(const Launches *launches, const LoopBody *nodes);
bool launch_has_workspaces(const LoopBody *nodes);
// Whether blocks fill rows in iterations of these loops: a scalar may as well be that of a thread, where its
// neighbours read what is contiguous.
bool launch_fills_rows(const Launches *launches, const Chain *elements, const LoopBody *nodes);
// A launch whose blocks take iterations of loops around rows, of which each block has its own.
void launch_rows(const Launches *launches, const Chain *elements, const LoopBody *body, LoopBody *to);
// The same for loops that commands give to blocks.
void launch_row_units(const Launches *launches, const LoopBody *body, LoopBody *to);
// The row of node `at` of a body, which launches fill and read one after the other: what follows it there.
LoopBody launch_row_between(const Launches *launches, const LoopBody *body, int64_t at, LoopBody *to);

// Partial results of units (launch_partials.c). Begins the body of a team, whose launches are made with
// `launches` from now on; what adds these up after them, in loops without units.
LoopBody launch_begin_team(Launches *launches, const LoopNode *team, LoopBody *to);
// The body of a launch in which each unit whose loop says so has a partial result, and there are no more of
// them than of these. Definitions are appended to `to`.
LoopBody launch_with_partials(const Launches *launches, const LoopBody *body, LoopBody *to);

// Whether an iteration of a loop over `var` moves a position on by one.
bool launch_moves_by_one(const IntExpr *position, int var);
// A position without variables that are defined in the leaf.
const IntExpr *launch_expanded(const Launches *launches, const IntExpr *position);

// Whether commands give one of these nodes a unit, and the launch of a body with such loops, or of one that a
// single thread executes.
bool launch_has_units(const LoopBody *nodes);
// The loops of a launch by unit and dimension, found from the outermost inwards.
typedef struct {
    int blocks, threads; // dimensions
    bool warps;
} Units;
Units launch_units_of(const LoopBody *body);
// Those around what is inside of a node, and the dimension of a loop with a unit: the outermost of several
// loops over blocks, or threads, has the last one. Warps are the y of threads, whose x are the lanes.
Units launch_units_inside(Units around, const LoopNode *node);
int launch_dim(const Units *units, Units around, const LoopNode *node);
// Dimensions of the threads of a launch with these units, and how many there are along each.
int launch_thread_dims(const Units *units);
int launch_threads(const Units *units, int dim);
void launch_set_threads(const Launches *launches, const Units *units, LoopNode *launch);
// Units that have memory of their own, a row or a partial result: unit u of n executes iterations u, u + n,
// ... of its loop, and has memory number around * n + u, where `around` is the number of the unit around.

// The iterations that a loop has at most, as is known before a launch, inside of which these variables are
// defined; NULL: it is not known.
const IntExpr *launch_most_iterations(const Launches *launches, const LoopNode *loop, const bool *inside);
// Defines `var`, how many units a loop of at most `most` iterations has, where *left units of it and of the
// loops around it have memory (NULL: any number); *left is then how many units those around have at most.
// From the innermost loop on.
const IntExpr *launch_count_units(const Launches *launches, int var, const IntExpr *most,
                                  const IntExpr **left, LoopBody *to);
// A loop over `count` units, in which `loop`, which had that unit, is over the iterations of each.
// `number`: on entry the number of the enclosing unit, on return that of a unit of this loop.
LoopNode *launch_over_units(const Launches *launches, LoopNode *loop, const IntExpr *count,
                            const IntExpr **number);
// A body whose loops with units are outside of others as far as possible, and have no units where these would
// race.
LoopBody launch_units_first(const Launches *launches, const LoopBody *body);
// A body of which one thread executes what no loop over threads is around.
LoopBody launch_by_one_thread(const Launches *launches, const LoopBody *body);
void launch_units(const Launches *launches, const LoopBody *body, LoopBody *to);

#endif
