// SPDX-License-Identifier: BSD-3-Clause
// Starts the fetch of the next step of each transfer in a loop before what the current step is used for, so
// that it is under way while leaves compute (software pipelining). There the START of the next iteration
// finds that its transfer has been started. Whether a transfer is pipelined is up to the plan, as a step then
// needs a buffer beside that of the one before: where it is not, this starts nothing.
#include "loop/passes.h"

static bool is_transfer(const LoopNode *node) {
    return node->kind == LOOP_START || node->kind == LOOP_WAIT || node->kind == LOOP_VIEW ||
           node->kind == LOOP_FETCH || node->kind == LOOP_OPEN;
}

static void append_ahead(Arena *arena, LoopBody *waited, LoopBody *to) {
    for (int64_t i = 0; i < waited->count; i++) {
        LoopNode *ahead = loop_node(arena, LOOP_AHEAD);
        ahead->transfer = waited->items[i]->transfer;
        loop_append(arena, to, ahead);
    }
    waited->count = 0;
}

// When everything has arrived that is waited for before a leaf or loop: what it needs comes before what the
// next one needs.
static LoopBody pipelined(Arena *arena, const LoopBody *body) {
    LoopBody result = {0}, waited = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (!is_transfer(node))
            append_ahead(arena, &waited, &result);
        loop_append(arena, &result, loop_with_body(arena, node, pipelined(arena, &node->body)));
        if ((node->kind == LOOP_WAIT || node->kind == LOOP_FETCH) && node->ahead)
            loop_append(arena, &waited, node);
    }
    append_ahead(arena, &waited, &result);
    return result;
}

const LoopKernel *loop_pass_pipeline(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    kernel->body = pipelined(kernel->arena, &before->body);
    return kernel;
}
