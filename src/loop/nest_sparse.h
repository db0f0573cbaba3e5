// SPDX-License-Identifier: BSD-3-Clause
// Dense loops inside of loops over stored coordinates, and what they update, for the pass `registers`.
#ifndef DISTAL_LOOP_NEST_SPARSE_H
#define DISTAL_LOOP_NEST_SPARSE_H

#include "loop/loop.h"

// Nodes of a body, the dense loops inside of them, and what these update.
typedef struct {
    LoopKernel *kernel;
    int64_t var_count, array_count; // before there are blocks
    bool *loaded;                   // by variable: it follows from what is loaded
    bool *results;                  // by array: blocks update it once
    const LoopNode *body;           // whose nodes from `first` on they are
    int64_t first;
    int *inside;        // by variable: 1 where it is bound inside
    bool *local, *rows; // by array: it is a workspace inside; one with an element for each iteration
    int row_count;
    const IntExpr *upper;        // of the dense loops; NULL: there is none yet
    const LoopNode *result;      // the update of an array that is not local; NULL: none yet
    const LoopNode *result_loop; // around it
    const LoopNode *zeros;       // a loop before `first` that sets what is updated to zero; NULL: none
    const LoopNode *sums; // whose nodes from `sums_first` on update one row over and over: `body`, or one
    int64_t sums_first;   // inside of it; NULL: none
    bool masks;           // elements can be left out under a condition
} LoopSparseNest;

LoopSparseNest loop_nest_sparse(LoopKernel *kernel);
// Whether nodes of the body of `body` are such loops. What they update is one row, or a row at a coordinate
// that the loops around them load.
bool loop_find_nest_sparse(LoopSparseNest *nest, const LoopNode *body);
// Whether a node of the nest is one of the dense loops.
bool loop_is_dense(const LoopSparseNest *nest, const LoopNode *loop);
// Whether a node stores, or adds to, an element.
bool loop_is_update(const LoopNode *node);

#endif
