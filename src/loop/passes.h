// SPDX-License-Identifier: BSD-3-Clause
// Passes over the loop IR, in order: each takes a kernel and makes a better one. A new pass is a new file,
// pass_NAME.c, and a line here, which says whether it is for leaves on the HOST, on a GPU, or ANY.
#ifndef DISTAL_LOOP_PASSES_H
#define DISTAL_LOOP_PASSES_H

#include "loop/loop.h"

#define LOOP_PASSES(ENTRY)                                                                                   \
    ENTRY(overlap, ANY)     /* transfers start early and are waited for late */                              \
    ENTRY(pipeline, ANY)    /* fetches of the next step, before what the current one is used for */          \
    ENTRY(transposes, HOST) /* operands that are stored across the result, in blocks */                      \
    ENTRY(tiles, HOST)      /* loops that cross in memory, in blocks */                                      \
    ENTRY(invariants, ANY)  /* definitions and quotients, out of the loops that do not change them */        \
    ENTRY(threads, HOST)    /* loops that threads share */                                                   \
    ENTRY(vectors, HOST)    /* innermost loops that vectors share */                                         \
    ENTRY(launches, GPU)    /* kernels of a GPU, and their blocks and threads */                             \
    ENTRY(sums, ANY)        /* an element that loops update over and over, in a local variable */            \
    ENTRY(blocks, HOST)     /* iterations that have much in common, at the same time */                      \
    ENTRY(loads, ANY)       /* what is read, out of the loops that do not change it */                       \
    ENTRY(registers,                                                                                         \
          HOST)         /* dense loops inside of loops over coordinates, in blocks that stay in registers */ \
    ENTRY(strips, HOST) /* sums and updates of rows inside of loops over coordinates, in strips */           \
    ENTRY(prefetch, HOST) /* rows at coordinates further on, from memory */                                  \
    ENTRY(portions, HOST) /* loops that threads share, by iterations and entries below them */               \
    ENTRY(streams, HOST)  /* strips of results larger than the last-level cache, with nontemporal stores */  \
    ENTRY(addresses, ANY) /* what positions have in common, out of the loops that do not change it */        \
    ENTRY(unused, ANY)    /* definitions that nothing uses */

#define DECLARE_PASS(name, where) const LoopKernel *loop_pass_##name(const LoopKernel *kernel);
LOOP_PASSES(DECLARE_PASS)
#undef DECLARE_PASS

int loop_pass_count(void);
const char *loop_pass_name(int index);

// The kernel after the first `count` passes. After each of them, and before, it is verified: NULL, with *why
// and *pass (its name, "lowering" before the first), where that fails.
const LoopKernel *loop_run_passes(const LoopKernel *kernel, int count, const char **pass, const char **why);

// For passes: a copy whose tables of variables and arrays can grow.
LoopKernel *loop_kernel_copy(const LoopKernel *kernel);

// The one accumulation of a loop, to an element that the loop and those inside do not change; NULL where
// there is another one, a store or a call, but of workspaces inside.
// An element of a sparse array may be missing where nothing is added to it, so there every iteration has to.
const LoopNode *loop_invariant_update(const LoopKernel *kernel, const LoopNode *loop);
// A leaf that is executed only where these arrays, by number, have memory: without iterations of the loops
// around an update its element may not exist, except in a workspace. A team makes this test inside.
const LoopNode *loop_where_present(const LoopKernel *kernel, const LoopNode *leaf, const bool *arrays,
                                   int64_t array_count);
bool loop_has_loop(const LoopBody *body);
// Of a team, the definitions that it begins with are appended to `to`, and what is left of it is returned:
// the bounds of the loop that its threads share are among them, and its work follows from these. Another node
// is returned as it is.
const LoopNode *loop_hoist_definitions(Arena *arena, const LoopNode *node, LoopBody *to);

// By array: of which level of which view it is, and what its elements are; no kind where it is of none.
typedef struct {
    LevelArrayKind kind;
    int view, level; // `view`: the array of the values
} LoopLevelArray;
const LoopLevelArray *loop_level_arrays(const LoopKernel *kernel);

#endif
