// SPDX-License-Identifier: BSD-3-Clause
// Hoisting, for passes that move definitions out of the loops of a leaf. A scope is a body that is being
// made; its depth is the number of loops and teams around it in the leaf.
#ifndef DISTAL_LOOP_HOIST_H
#define DISTAL_LOOP_HOIST_H

#include "loop/loop.h"

typedef struct LoopScope LoopScope;
struct LoopScope {
    const LoopScope *outer; // NULL: this is the body of the leaf
    const LoopNode *node;   // whose body it is
    int depth;
    LoopBody *body;
};

typedef struct {
    const LoopNode *let;
    const LoopBody *body; // that it is in
    const LoopBody *from; // that it was moved out of
} LoopDefinition;

typedef struct LoopHoist LoopHoist;
struct LoopHoist {
    LoopKernel *kernel;
    // The node, without its body, that takes the place of `node` in `scope`; NULL: it stays.
    const LoopNode *(*rewrite)(LoopHoist *hoist, const LoopNode *node);
    int *depths;            // by variable: of the scope that it is bound in; 0: outside of the leaf
    const LoopScope *scope; // of the current node
    Array(LoopDefinition) definitions; // that the pass has made in the current leaf
};

// A kernel in which each node of each leaf is what `rewrite` makes of it, and definitions of index arithmetic
// are outside of the loops that do not change them.
const LoopKernel *loop_hoist(const LoopKernel *kernel,
                             const LoopNode *(*rewrite)(LoopHoist *hoist, const LoopNode *node));
// The variable of a definition of `value` in the innermost scope of this depth around the current node: one
// that exists already for the same array or variable, or a new one.
int loop_define(LoopHoist *hoist, int depth, LoopVar var, const Value *value);

#endif
