// SPDX-License-Identifier: BSD-3-Clause
// The innermost loop of a leaf gets vectors where no command says anything else: its iterations write
// distinct elements, or all add to one. But not a sum of elements at loaded coordinates, as of a row of a
// sparse matrix: such rows are short, and gathering lane by lane is no faster than loads of single elements.
#include "loop/passes.h"

// Whether values that a loop uses are at positions that follow from what it loads.
static bool gathers(const LoopKernel *kernel, const LoopBody *nodes) {
    int *loaded = arena_array(kernel->arena, int, kernel->vars.count);
    for (int64_t i = 0; i < nodes->count; i++) {
        const LoopNode *node = nodes->items[i];
        const ValueList values = loop_values(kernel->arena, node);
        for (int64_t v = 0; v < values.count; v++) {
            const Value *value = values.items[v];
            if (value->index && loop_depth_of(value->index, loaded)) {
                if (value->kind == VALUE_LOAD)
                    return true;
                if (node->kind == LOOP_LET)
                    loaded[node->var] = 1;
            }
            if (value->kind == VALUE_LOAD && node->kind == LOOP_LET)
                loaded[node->var] = 1;
        }
    }
    return false;
}

// Innermost, without a call and memory that lanes would share.
static bool can_be_vector(const LoopKernel *kernel, const LoopNode *loop) {
    const LoopBody nodes = loop_nodes(kernel->arena, loop);
    if (loop_has_loop(&loop->body) || loop->execution.unroll)
        return false;
    for (int64_t i = 0; i < nodes.count; i++) {
        const LoopNode *node = nodes.items[i];
        if (node->count || node->kind == LOOP_CALL || node->kind == LOOP_APPEND ||
            (node->kind == LOOP_WORKSPACE && kernel->arrays.items[node->array].extent))
            return false;
    }
    return loop->execution.distinct || (loop_invariant_update(kernel, loop) && !gathers(kernel, &nodes));
}

static void vectorize_loop(void *context, const LoopNode *node, LoopBody *to) {
    const LoopKernel *kernel = context;
    LoopNode *copy = loop_with_body(kernel->arena, node, node->body);
    copy->execution.vector = node->kind == LOOP_FOR && can_be_vector(kernel, node);
    loop_append(kernel->arena, to, copy);
}

// Where no command has made vectors, and updates are not atomic.
static void vectorize_leaf(void *context, const LoopNode *node, LoopBody *to) {
    const LoopKernel *kernel = context;
    const LoopBody nodes = loop_nodes(kernel->arena, node);
    bool excluded = node->kind != LOOP_LEAF;
    for (int64_t i = 0; i < nodes.count; i++)
        excluded = excluded || nodes.items[i]->execution.vector || nodes.items[i]->atomic;
    if (!excluded)
        node = loop_with_body(kernel->arena, node,
                              loop_rewrite(kernel->arena, &node->body, vectorize_loop, context));
    loop_append(kernel->arena, to, node);
}

const LoopKernel *loop_pass_vectors(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    kernel->body = loop_rewrite(kernel->arena, &before->body, vectorize_leaf, kernel);
    return kernel;
}
