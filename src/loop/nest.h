// SPDX-License-Identifier: BSD-3-Clause
// Nests of loops that passes tile: loops that are perfectly nested, but for definitions and conditions before
// the next loop.
#ifndef DISTAL_LOOP_NEST_H
#define DISTAL_LOOP_NEST_H

#include "loop/loop.h"

typedef struct {
    LoopKernel *kernel;
    LoopBody headers; // loops, definitions and conditions, from the outermost loop to the innermost one
    const LoopNode *innermost;
} LoopNest;

// The nest from `loop` inwards.
LoopNest loop_nest(LoopKernel *kernel, const LoopNode *loop);
// Whether the loops commute, with definitions and conditions that depend on nothing that they write.
bool loop_nest_is_permutable(const LoopNest *nest);
// Appends a loop over blocks of `loop`, and to `ends` the end of the current block; `loop` becomes the loop
// within a block.
void loop_nest_append_blocks(LoopKernel *kernel, LoopNode *loop, int64_t block, LoopBody *to, LoopBody *ends);
// Nodes from the headers, `from` the first one, each with all that follow it inside; `innermost` in the last.
LoopBody loop_nest_around(Arena *arena, const LoopBody *headers, int64_t from, LoopBody innermost);

#endif
