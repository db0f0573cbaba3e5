// SPDX-License-Identifier: BSD-3-Clause
// The innermost loop of a leaf gets vectors where no command says anything else: its iterations write
// distinct elements, or all add to one.
#include "loop/passes.h"

typedef struct {
    bool excluded; // vectors by command, or updates that are atomic
} Contents;

static void inspect(void *context, const LoopNode *node) {
    Contents *contents = context;
    contents->excluded = contents->excluded || node->execution.vector || node->atomic;
}

// A call, or memory that lanes would share.
static bool has_obstacle(const LoopKernel *kernel, const LoopBody *body) {
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->count || node->kind == LOOP_APPEND ||
            (node->kind == LOOP_WORKSPACE && kernel->arrays.items[node->array].extent) ||
            has_obstacle(kernel, &node->body))
            return true;
    }
    return false;
}

static LoopBody with_vectors(const LoopKernel *kernel, const LoopBody *body) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        LoopNode *copy = loop_with_body(kernel->arena, node, with_vectors(kernel, &node->body));
        if (node->kind == LOOP_FOR && !loop_has_loop(&node->body) && !has_obstacle(kernel, &node->body))
            copy->execution.vector =
                !node->execution.unroll && (node->execution.distinct || loop_invariant_update(kernel, node));
        loop_append(kernel->arena, &result, copy);
    }
    return result;
}

static void vectorize_leaf(void *context, const LoopNode *node, LoopBody *to) {
    const LoopKernel *kernel = context;
    Contents contents = {false};
    loop_visit(&node->body, inspect, &contents);
    if (node->kind == LOOP_LEAF && !contents.excluded)
        node = loop_with_body(kernel->arena, node, with_vectors(kernel, &node->body));
    loop_append(kernel->arena, to, node);
}

const LoopKernel *loop_pass_vectors(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    kernel->body = loop_rewrite(kernel->arena, &before->body, vectorize_leaf, kernel);
    return kernel;
}
