// SPDX-License-Identifier: BSD-3-Clause
// An element that some loops update over and over is summed in a local variable, and updated once after them
// (scalar replacement: Callahan, Carr, Kennedy 1990). Threads and lanes each have a sum of their own.
#include "loop/passes.h"

typedef struct {
    LoopKernel *kernel;
    int sum, array;      // the current sum, and the array that is updated
    int64_t array_count; // without sums
    bool *elements;      // by array: whether it has an element that is updated
} Sums;

// The update that a loop makes of one element only, and that its threads may share; NULL where it does
// something else, where threads or blocks make updates of their own, and where a team has partial results.
static const LoopNode *update_of(const Sums *sums, const LoopNode *loop) {
    const LoopNode *update = loop_invariant_update(sums->kernel, loop);
    const LoopBody nodes = loop_nodes(sums->kernel->arena, loop);
    for (int64_t i = 0; update && i < nodes.count; i++) {
        const LoopExecution *execution = &nodes.items[i]->execution;
        if (nodes.items[i]->kind == LOOP_TEAM || execution->unit != GPU_NONE ||
            (execution->thread && (execution->distinct || update->atomic)))
            return NULL;
    }
    return update;
}

static bool updates(Arena *arena, const LoopNode *loop, int array) {
    const LoopBody nodes = loop_nodes(arena, loop);
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->kind == LOOP_ACCUMULATE && nodes.items[i]->array == array)
            return true;
    return false;
}

static void add_to_sum(void *context, const LoopNode *node, LoopBody *to) {
    const Sums *sums = context;
    LoopNode *copy = arena_copy(sums->kernel->arena, node, sizeof *node);
    if (node->kind == LOOP_ACCUMULATE && node->array == sums->array) {
        copy->array = sums->sum;
        copy->position = NULL;
        copy->atomic = false;
    }
    if (node->kind == LOOP_FOR && updates(sums->kernel->arena, node, sums->sum))
        loop_add_sum(sums->kernel->arena, copy, sums->sum);
    loop_append(sums->kernel->arena, to, copy);
}

static LoopBody sum_body(Sums *sums, const LoopBody *body, bool in_team);

// Takes away the store before a loop, with nothing but definitions between, that sets to zero what it
// updates. Whether there is one.
static bool take_zero(Arena *arena, const LoopNode *update, LoopBody *body) {
    int64_t at = body->count - 1;
    while (at >= 0 && body->items[at]->kind == LOOP_LET)
        at--;
    const LoopNode *node = at >= 0 ? body->items[at] : NULL;
    if (!node || node->kind != LOOP_STORE || node->array != update->array ||
        !int_equal(node->position, update->position) ||
        !value_equal(node->value, value_zero(arena, node->value->type)))
        return false;
    for (body->count--; at < body->count; at++)
        body->items[at] = body->items[at + 1];
    return true;
}

// A sum of nothing, the loop, and the update with the sum, which becomes a store
// where the element is set to zero before the loop.
static void append_summed(Sums *sums, const LoopNode *loop, const LoopNode *update, LoopBody *to) {
    LoopKernel *kernel = sums->kernel;
    Arena *arena = kernel->arena;
    const int type = update->value->type;
    const bool is_zero = take_zero(arena, update, to);
    sums->elements[update->array] = true;
    sums->array = update->array;
    const int sum = sums->sum =
        loop_add_array(kernel, (LoopArray){.name = reducer_names[kernel->arrays.items[update->array].reducer],
                                           .type = (ElementType)type,
                                           .written = true,
                                           .scalar = true,
                                           .reducer = kernel->arrays.items[update->array].reducer});
    LoopNode *workspace = loop_node(arena, LOOP_WORKSPACE);
    workspace->array = sum;
    loop_append(arena, to, workspace);
    LoopBody body = {0};
    loop_append(arena, &body, loop);
    const LoopBody summed = loop_rewrite(arena, &body, add_to_sum, sums);
    loop_append(arena, to,
                loop_with_body(arena, summed.items[0], sum_body(sums, &summed.items[0]->body, false)));
    LoopNode *last = arena_copy(arena, update, sizeof *update);
    last->value = value_element(arena, VALUE_LOAD, type, sum, NULL);
    last->count = NULL;
    if (is_zero) {
        last->kind = LOOP_STORE;
        last->atomic = false;
    }
    if (is_zero || !kernel->arrays.items[update->array].sparse) {
        loop_append(arena, to, last);
        return;
    }
    LoopNode *any = loop_node(arena, LOOP_IF);
    any->value = value_less(arena, loop->lower, loop->upper);
    loop_append(arena, &any->body, last);
    loop_append(arena, to, any);
}

static void make_atomic(void *context, const LoopNode *node, LoopBody *to) {
    const Sums *sums = context;
    LoopNode *copy = arena_copy(sums->kernel->arena, node, sizeof *node);
    copy->atomic |= node->kind == LOOP_ACCUMULATE && sums->kernel->arrays.items[node->array].sparse;
    loop_append(sums->kernel->arena, to, copy);
}

// An element of a sparse array that only some iterations update has no sum, as it may be missing: threads
// that share these iterations update it atomically.
static LoopBody without_sum(Sums *sums, const LoopNode *node, bool in_team) {
    const bool races = node->kind == LOOP_FOR && node->execution.thread && !node->execution.distinct;
    const LoopBody body = sum_body(sums, &node->body, in_team || node->kind == LOOP_TEAM);
    return races && !in_team ? loop_rewrite(sums->kernel->arena, &body, make_atomic, sums) : body;
}

static LoopBody sum_body(Sums *sums, const LoopBody *body, bool in_team) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const LoopNode *update = node->kind == LOOP_FOR ? update_of(sums, node) : NULL;
        if (update)
            append_summed(sums, node, update, &result);
        else
            loop_append(sums->kernel->arena, &result,
                        loop_with_body(sums->kernel->arena, node, without_sum(sums, node, in_team)));
    }
    return result;
}

static void sum_leaf(void *context, const LoopNode *node, LoopBody *to) {
    Sums *sums = context;
    if (node->kind != LOOP_LEAF) {
        loop_append(sums->kernel->arena, to, node);
        return;
    }
    sums->elements = arena_array(sums->kernel->arena, bool, sums->array_count);
    const LoopNode *leaf = loop_with_body(sums->kernel->arena, node, sum_body(sums, &node->body, false));
    loop_append(sums->kernel->arena, to,
                loop_where_present(sums->kernel, leaf, sums->elements, sums->array_count));
}

const LoopKernel *loop_pass_sums(const LoopKernel *before) {
    Sums sums = {.kernel = loop_kernel_copy(before), .array_count = before->arrays.count};
    sums.kernel->body = loop_rewrite(before->arena, &before->body, sum_leaf, &sums);
    return sums.kernel;
}
