// SPDX-License-Identifier: BSD-3-Clause
// An element that some loops update over and over is summed in a local variable, and updated once after them
// (scalar replacement: Callahan, Carr, Kennedy 1990). Threads and lanes each have a sum of their own.
#include "loop/passes.h"

typedef struct {
    LoopKernel *kernel;
    int sum;   // the array of the sum in hand; -1: none yet
    int array; // the one that is updated
} Sums;

typedef struct {
    bool distinct; // threads make updates of their own
    bool any;      // threads are at work
    bool blocked;  // something that a sum cannot go around
} ThreadsInside;

static void inspect_threads(void *context, const LoopNode *node) {
    ThreadsInside *inside = context;
    inside->any = inside->any || node->execution.thread;
    inside->distinct = inside->distinct || (node->execution.thread && node->execution.distinct);
    inside->blocked = inside->blocked || node->kind == LOOP_TEAM || node->kind == LOOP_WORKSPACE;
}

// The update that a loop makes of one element only, and that its threads may share; NULL where it does
// something else.
static const LoopNode *update_of(const Sums *sums, const LoopNode *loop) {
    const LoopNode *update = loop_invariant_update(sums->kernel, loop);
    ThreadsInside inside = {0};
    inspect_threads(&inside, loop);
    loop_visit(&loop->body, inspect_threads, &inside);
    return !update || inside.distinct || inside.blocked || (inside.any && update->atomic) ? NULL : update;
}

static void add_to_sum(void *context, const LoopNode *node, LoopBody *to) {
    const Sums *sums = context;
    LoopNode *copy = arena_copy(sums->kernel->arena, node, sizeof *node);
    if (node->kind == LOOP_ACCUMULATE) {
        copy->array = sums->sum;
        copy->position = NULL;
        copy->atomic = false;
    }
    if (node->kind == LOOP_FOR)
        loop_add_sum(sums->kernel->arena, copy, sums->sum);
    loop_append(sums->kernel->arena, to, copy);
}

// A sum of nothing, the loop, and the update with the sum.
static void append_summed(Sums *sums, const LoopNode *loop, const LoopNode *update, LoopBody *to) {
    LoopKernel *kernel = sums->kernel;
    Arena *arena = kernel->arena;
    const int type = update->value->type;
    sums->array = update->array;
    sums->sum = loop_add_array(
        kernel, (LoopArray){.name = "sum", .type = (ElementType)type, .written = true, .scalar = true});
    LoopNode *workspace = loop_node(arena, LOOP_WORKSPACE);
    workspace->array = sums->sum;
    loop_append(arena, to, workspace);
    LoopBody body = {0};
    loop_append(arena, &body, loop);
    const LoopBody summed = loop_rewrite(arena, &body, add_to_sum, sums);
    loop_append(arena, to, summed.items[0]);
    LoopNode *last = arena_copy(arena, update, sizeof *update);
    last->value = value_element(arena, VALUE_LOAD, type, sums->sum, NULL);
    last->count = NULL;
    loop_append(arena, to, last);
}

static LoopBody sum_body(Sums *sums, const LoopBody *body) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const LoopNode *update = node->kind == LOOP_FOR ? update_of(sums, node) : NULL;
        if (update)
            append_summed(sums, node, update, &result);
        else
            loop_append(sums->kernel->arena, &result,
                        loop_with_body(sums->kernel->arena, node, sum_body(sums, &node->body)));
    }
    return result;
}

// Where there is no iteration there may be no element to add a sum of nothing to.
static const Value *with_element(const Sums *sums, const Value *condition) {
    Arena *arena = sums->kernel->arena;
    const int count = condition->kind == VALUE_AND ? condition->operand_count : 1;
    const Value **operands = arena_array(arena, const Value *, count + 1);
    for (int i = 0, at = 0; i < count; i++) {
        operands[at++] = condition->kind == VALUE_AND ? condition->operands[i] : condition;
        if (i == 0)
            operands[at++] = value_element(arena, VALUE_PRESENT, VALUE_TYPE_CONDITION, sums->array, NULL);
    }
    return value_list(arena, VALUE_AND, VALUE_TYPE_CONDITION, NULL, count + 1, operands);
}

static void has_team(void *context, const LoopNode *node) {
    bool *team = context;
    *team = *team || node->kind == LOOP_TEAM;
}

static void sum_leaf(void *context, const LoopNode *node, LoopBody *to) {
    Sums *sums = context;
    if (node->kind != LOOP_LEAF) {
        loop_append(sums->kernel->arena, to, node);
        return;
    }
    sums->sum = -1;
    LoopNode *leaf = loop_with_body(sums->kernel->arena, node, sum_body(sums, &node->body));
    bool team = false; // says itself that there is an element
    loop_visit(&node->body, has_team, &team);
    if (sums->sum >= 0 && !team)
        leaf->value = with_element(sums, node->value);
    loop_append(sums->kernel->arena, to, leaf);
}

const LoopKernel *loop_pass_sums(const LoopKernel *before) {
    Sums sums = {.kernel = loop_kernel_copy(before)};
    sums.kernel->body = loop_rewrite(before->arena, &before->body, sum_leaf, &sums);
    return sums.kernel;
}
