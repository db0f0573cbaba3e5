// SPDX-License-Identifier: BSD-3-Clause
// Writes legal schedule commands and follows what they do to the loops. A function that returns false has
// written nothing.
#ifndef DISTAL_TESTS_SCHEDULE_WRITER_H
#define DISTAL_TESTS_SCHEDULE_WRITER_H

#include "generate.h"
#include "loops.h"
#include "random.h"

// A dimension of a machine that a loop is distributed along, or in every nest where var is -1: there its
// coordinate is fixed.
typedef struct {
    int machine, dim, var;
} Bound;

typedef struct {
    Random *random;
    Draft *draft;
    DraftStatement *statement;
    Loops loops;
    int collapsed_count; // for names
    bool distributed;    // by some command
    int bound_count;     // by commands that name a machine or a tensor
    Bound bound[MAX_LOOP_VARS];
    unsigned communicated[MAX_LOOP_NESTS];             // tensors, by nest
    int communicate_at[MAX_LOOP_NESTS][LOOPS_TENSORS]; // loop, for those
    int part_count;                                    // that are computed ahead
    Part parts[MAX_PARTS];
    char workspaces[MAX_PARTS][4]; // their names
    bool rows;                     // some workspace lives in iterations, which not every command allows
    bool long_rows;                // one of them is no scalar
    bool has_lengths;              // loops over processors may decide how long the parts of others are
    bool sums_itself;              // an update with sums, whose nests are not followed
    bool atomic;                   // threads update so, somewhere
    char text[32];                 // of the last factor
} ScheduleWriter;

// Computes a part ahead, of the right side or of one that is computed ahead already, where that is legal;
// before all other commands.
bool writer_precompute(ScheduleWriter *writer);

// A factor for split or divide of a loop with this extent: a number or a param, its text and value.
const char *writer_factor(ScheduleWriter *writer, int64_t extent, int64_t *factor);
bool writer_blocks(ScheduleWriter *writer, int var, bool divide, const char *text, int64_t factor,
                   int children[2]);
bool writer_collapse(ScheduleWriter *writer, int outer, int inner);
bool writer_reorder(ScheduleWriter *writer, const int *order, int count);
// Reorders all loops, at random but for distributed ones outside, so that the order is known in every nest.
bool writer_settle(ScheduleWriter *writer);
// Whether `var` is a loop outside of `target` in every nest that has `target`.
bool writer_is_outside(const ScheduleWriter *writer, int var, int target);
bool writer_rotate(ScheduleWriter *writer, int target, const int *by, int count);
// Whether these dimensions of that machine are free in all nests that have the loop.
bool writer_is_free(const ScheduleWriter *writer, int var, int machine, int first, int order);
// The compound form, target i along dimension dims[i] of that machine, block-cyclic as cycles[dims[i]] says
// (NULL: nothing is). False where a dimension is not free.
bool writer_distribute(ScheduleWriter *writer, const int *targets, int count, const char *onto, int machine,
                       const int *dims, const int *cycles);
bool writer_distribute_loops(ScheduleWriter *writer, const int *vars, int count);
// Those that may be communicated at the loop: what nests that have it access, and communicate at no other.
unsigned writer_communicable(const ScheduleWriter *writer, int var);
bool writer_communicate(ScheduleWriter *writer, unsigned tensors, int var);

// Commands about loops of the leaf, which they choose.
bool writer_substitute(ScheduleWriter *writer);
bool writer_call(ScheduleWriter *writer); // a BLAS kernel with loops that it probably fits
bool writer_parallelize(ScheduleWriter *writer, bool threads);
bool writer_is_on_gpu(const ScheduleWriter *writer);
bool writer_unroll(ScheduleWriter *writer);
void writer_leaf(ScheduleWriter *writer); // some of these, or none

// Used by its parts. Whether another command fits, a command as text (always true), "{i, j}" in the buffer
// (NULL where that is too small), and the position of the innermost loop with a transfer (`deepest` where
// none is further inside).
bool writer_has_room(const ScheduleWriter *writer);
bool writer_command(ScheduleWriter *writer, bool may_be_refused, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *writer_list(const ScheduleWriter *writer, const int *vars, int count, char *buffer, size_t size);
int writer_deepest_transfer(const ScheduleWriter *writer, const LoopNest *nest, int deepest);

#endif
