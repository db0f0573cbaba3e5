// SPDX-License-Identifier: BSD-3-Clause
// Removes definitions that nothing uses.
#include "loop/passes.h"

// From the last node to the first, as uses come after what they use.
static LoopBody kept(Arena *arena, LoopUses *uses, const LoopBody *body) {
    const LoopNode **nodes = arena_array(arena, const LoopNode *, body->count);
    int64_t count = 0;
    for (int64_t i = body->count - 1; i >= 0; i--) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_LET && !uses->vars[node->var])
            continue;
        const LoopBody inside = kept(arena, uses, &node->body);
        loop_add_uses(arena, uses, node);
        // Another nest may have a variable of the same number, which begins here.
        if (node->kind == LOOP_LET || node->kind == LOOP_FOR)
            uses->vars[node->var] = false;
        nodes[count++] = loop_with_body(arena, node, inside);
    }
    LoopBody result = {0};
    while (count > 0)
        loop_append(arena, &result, nodes[--count]);
    return result;
}

const LoopKernel *loop_pass_unused(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    LoopUses uses = loop_uses_none(kernel);
    kernel->body = kept(kernel->arena, &uses, &before->body);
    return kernel;
}
