// SPDX-License-Identifier: BSD-3-Clause
// What the files of the pass `launches` share: a kernel whose leaves become launches.
#ifndef DISTAL_LOOP_LAUNCHES_H
#define DISTAL_LOOP_LAUNCHES_H

#include "loop/loop.h"

enum { GPU_THREADS = 256, GPU_SUM_BLOCKS = 1024, GPU_LANES = 32 };

typedef struct {
    LoopKernel *kernel;
    Arena *arena;
    const IntExpr **values; // by variable: what a definition in the leaf says
    int64_t var_count;
    bool *summed; // by array: it has elements that are updated where there may be no iterations
    int64_t array_count;
} Launches;

// A number, and an operation, in the arena of the kernel.
const IntExpr *launch_number(const Launches *launches, int64_t value);
const IntExpr *launch_op(const Launches *launches, IntOp kind, const IntExpr *left, const IntExpr *right);
// Whether an expression mentions one of these variables, by id.
bool launch_depends(const IntExpr *expr, const bool *vars);
// A launch without a body, along x; a loop of a new variable, with unit `unit`.
LoopNode *launch_create(const Launches *launches, const IntExpr *blocks, int threads);
LoopNode *launch_loop(const Launches *launches, const char *name, const IntExpr *lower, const IntExpr *upper,
                      GpuUnit unit);

// Whether commands give one of these nodes a unit, and the launch of a body with such loops, or of one that a
// single thread executes.
bool launch_has_units(const LoopBody *nodes);
void launch_units(const Launches *launches, const LoopBody *body, LoopBody *to);

#endif
