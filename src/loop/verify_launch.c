// SPDX-License-Identifier: BSD-3-Clause
// Races for workspaces in a launch, which an execution of one thread after the other does not show.
#include "loop/loop.h"

typedef struct {
    const LoopKernel *kernel;
    bool *read, *written;   // by array: in a loop over threads since the last barrier
    bool *read_and_written; // by array: in memory of the device, and written as well as read by the launch
    int blocks;             // loops over blocks around
    unsigned *of_blocks;    // by variable: a bit for each of these loops that determines it
    const char *what;       // NULL while all is well
    int array;
} Races;

static bool is_over_threads(const LoopNode *node) {
    return node->execution.unit != GPU_NONE && node->execution.unit != GPU_BLOCK;
}

static void fail(Races *races, const char *what, int array) {
    if (races->what)
        return;
    races->what = what;
    races->array = array;
}

// Elements that threads of a block share.
static bool is_shared(const Races *races, int array) {
    const LoopArray *of = &races->kernel->arrays.items[array];
    return of->extent && (of->shared || !of->local);
}

static bool *flags(const Races *races) {
    return arena_array(races->kernel->arena, bool, races->kernel->arrays.count + 1);
}

static unsigned blocks_of(const Races *races, const IntExpr *expr) {
    return (expr->op == INT_VAR ? races->of_blocks[expr->value] : 0) |
           (expr->left ? blocks_of(races, expr->left) : 0) |
           (expr->right ? blocks_of(races, expr->right) : 0);
}

static void check_own(Races *races, int array, const IntExpr *position) {
    if (races->read_and_written[array] && blocks_of(races, position) != (1u << races->blocks) - 1)
        fail(races, "blocks share a workspace that they write and read", array);
}

static void define(Races *races, const LoopNode *node) {
    if (node->kind == LOOP_LET && node->value->kind == VALUE_INDEX)
        races->of_blocks[node->var] = blocks_of(races, node->value->index);
}

// Which workspaces a node reads and writes.
static void add_uses(Races *races, const LoopNode *node, bool *read, bool *written) {
    const ValueList values = loop_values(races->kernel->arena, node);
    for (int64_t v = 0; v < values.count; v++) {
        const Value *value = values.items[v];
        if (value->kind != VALUE_LOAD || !is_shared(races, value->array))
            continue;
        read[value->array] = true;
        check_own(races, value->array, value->index);
    }
    if ((node->kind == LOOP_STORE || node->kind == LOOP_ACCUMULATE) && is_shared(races, node->array)) {
        written[node->array] = true;
        check_own(races, node->array, node->position);
    }
}

static void visit_threads(Races *races, const LoopNode *loop) {
    const LoopBody nodes = loop_nodes(races->kernel->arena, loop);
    bool *read = flags(races), *written = flags(races);
    for (int64_t n = 0; n < nodes.count; n++) {
        define(races, nodes.items[n]);
        add_uses(races, nodes.items[n], read, written);
        if (nodes.items[n] != loop && nodes.items[n]->execution.barrier)
            fail(races, "threads wait for each other in iterations of some of them", -1);
    }
    for (int a = 0; a < (int)races->kernel->arrays.count; a++) {
        if ((read[a] && races->written[a]) || (written[a] && (races->read[a] || races->written[a])))
            fail(races, "threads do not wait for each other between uses of a workspace", a);
        races->read[a] = !loop->execution.barrier && (races->read[a] || read[a]);
        races->written[a] = !loop->execution.barrier && (races->written[a] || written[a]);
    }
}

static void visit(Races *races, const LoopBody *body);

// Iterations of blocks use distinct elements of what is not a block's own, or update them atomically.
static void forget_distinct(const Races *races) {
    for (int64_t a = 0; a < races->kernel->arrays.count; a++)
        if (!races->read_and_written[a] && !races->kernel->arrays.items[a].shared)
            races->read[a] = races->written[a] = false;
}

// Twice where there are iterations, as an iteration follows another; and there may be none.
static void visit_inside(Races *races, const LoopNode *node) {
    const bool *read = races->read, *written = races->written;
    const bool loops = node->kind == LOOP_FOR || node->kind == LOOP_WHILE;
    const bool blocks = node->execution.unit == GPU_BLOCK;
    races->read = flags(races);
    races->written = flags(races);
    for (int64_t a = 0; a < races->kernel->arrays.count; a++) {
        races->read[a] = read[a];
        races->written[a] = written[a];
    }
    if (blocks)
        races->of_blocks[node->var] = 1u << races->blocks++;
    visit(races, &node->body);
    if (blocks)
        forget_distinct(races);
    if (loops)
        visit(races, &node->body);
    races->blocks -= blocks;
    for (int64_t a = 0; a < races->kernel->arrays.count; a++) {
        races->read[a] = races->read[a] || read[a];
        races->written[a] = races->written[a] || written[a];
    }
}

static void visit(Races *races, const LoopBody *body) {
    for (int64_t i = 0; i < body->count && !races->what; i++) {
        define(races, body->items[i]);
        if (is_over_threads(body->items[i]))
            visit_threads(races, body->items[i]);
        else if (body->items[i]->body.count > 0)
            visit_inside(races, body->items[i]);
    }
}

const char *loop_verify_launch(const LoopKernel *kernel, const LoopNode *launch, int *array) {
    Races races = {.kernel = kernel, .array = -1};
    bool *read = flags(&races), *written = flags(&races);
    races.read = flags(&races);
    races.written = flags(&races);
    races.read_and_written = flags(&races);
    races.of_blocks = arena_array(kernel->arena, unsigned, kernel->vars.count + 1);
    const LoopBody nodes = loop_nodes(kernel->arena, launch);
    for (int64_t n = 0; n < nodes.count; n++)
        add_uses(&races, nodes.items[n], read, written);
    for (int64_t a = 0; a < kernel->arrays.count; a++)
        races.read_and_written[a] = read[a] && written[a] && !kernel->arrays.items[a].shared;
    visit(&races, &launch->body);
    *array = races.array;
    return races.what;
}
