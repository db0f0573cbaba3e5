// SPDX-License-Identifier: BSD-3-Clause
// Launches of a team: blocks, warps and threads that would add to the same elements add to copies, which are
// in memory of the GPU, and are added up after all of them. Which copy one has follows from its number among
// those of its loop, as it has the iterations that are as many apart as there are.
#include "loop/launches.h"

// Neighbouring threads add to neighbouring elements of memory: to copies of an element, or elements of a
// copy.
static bool threads_have_copies(const Launches *launches, const LoopNode *team) {
    const LoopBody nodes = loop_nodes(launches->arena, team);
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->execution.copies && nodes.items[i]->execution.unit == GPU_THREAD)
            return true;
    return false;
}

static const IntExpr *position_of(const Launches *launches, const IntExpr *element, const IntExpr *copy) {
    return launch_op(launches, INT_ADD, launch_op(launches, INT_MUL, element, launches->element_step),
                     launch_op(launches, INT_MUL, copy, launches->copy_step));
}

LoopBody launch_begin_team(Launches *launches, const LoopNode *team, LoopBody *to) {
    LoopKernel *kernel = launches->kernel;
    Arena *arena = launches->arena;
    const int own = team->own, type = (int)kernel->arrays.items[own].type;
    launches->team = team;
    launches->copies = loop_append_let(kernel, to, "copies", -1,
                                       value_element(arena, VALUE_COPIES, VALUE_TYPE_INDEX, own, NULL));
    const IntExpr *span = loop_append_let(kernel, to, "span", -1,
                                          value_element(arena, VALUE_SPAN, VALUE_TYPE_INDEX, own, NULL));
    LoopNode *at = launch_loop(launches, "at", launch_number(launches, 0), span, GPU_NONE, 0);
    LoopNode *copy = launch_loop(launches, "copy", launch_number(launches, 0), launches->copies, GPU_NONE, 0);
    const bool together = threads_have_copies(launches, team);
    launches->copy_step = together ? launch_number(launches, 1) : span;
    launches->element_step = together ? launches->copies : launch_number(launches, 1);
    const IntExpr *sum = launch_op(launches, INT_ADD, launch_op(launches, INT_MUL, launches->copies, span),
                                   launch_var(launches, at));
    at->step = copy->step = 1;
    at->execution.distinct = true;
    loop_append(arena, &copy->body,
                loop_update(arena, LOOP_ACCUMULATE, own, sum,
                            value_element(arena, VALUE_LOAD, type, own,
                                          position_of(launches, launch_var(launches, at),
                                                      launch_var(launches, copy)))));
    loop_append(arena, &at->body, copy);
    LoopBody sums = {0};
    loop_append(arena, &sums, at);
    return sums;
}

// The loops of a launch whose units have copies, outermost first, and how many units each has.
typedef struct {
    const Launches *launches;
    Array(const LoopNode *) loops;
    const IntExpr **counts;
} Copying;

static void find_loops(Copying *copying, const LoopBody *body) {
    for (int64_t i = 0; i < body->count; i++) {
        if (body->items[i]->execution.copies && body->items[i]->execution.unit != GPU_NONE)
            // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
            array_push(copying->launches->arena, copying->loops, body->items[i]);
        find_loops(copying, &body->items[i]->body);
    }
}

// What is known before the launch of the iterations that a loop has at most; NULL: nothing.
static const IntExpr *most_of(const Launches *launches, const IntExpr *extent, const bool *inside) {
    if (!launch_depends(extent, inside))
        return extent;
    if (extent->op != INT_MIN)
        return NULL;
    const IntExpr *left = most_of(launches, extent->left, inside),
                  *right = most_of(launches, extent->right, inside);
    return left && right ? launch_op(launches, INT_MIN, left, right) : left ? left : right;
}

static void count_units(const Copying *copying, LoopNode *launch, const bool *inside, LoopBody *to) {
    const Launches *launches = copying->launches;
    const IntExpr *left = launches->copies, *one = launch_number(launches, 1);
    for (int64_t i = copying->loops.count - 1; i >= 0; i--) {
        const LoopNode *loop = copying->loops.items[i];
        const bool blocks = loop->execution.unit == GPU_BLOCK;
        const IntExpr **units =
            blocks ? &launch->blocks[loop->execution.dim] : &launch->threads[loop->execution.dim];
        const IntExpr *extent = launch_op(launches, INT_SUB, loop->upper, loop->lower);
        const IntExpr *most = most_of(launches, launch_expanded(launches, extent), inside);
        const IntExpr *count = blocks ? launch_number(launches, GPU_SUM_BLOCKS) : *units;
        count = launch_op(launches, INT_MIN, count, left);
        count = launch_op(launches, INT_MAX, one, most ? launch_op(launches, INT_MIN, count, most) : count);
        *units = copying->counts[i] = launch_let(launches, to, blocks ? "blocks" : "threads", count);
        left = launch_op(launches, INT_FLOOR_DIV, left, copying->counts[i]);
    }
}

static const IntExpr *number_of_copy(const Copying *copying) {
    const Launches *launches = copying->launches;
    const IntExpr *number = launch_number(launches, 0);
    for (int64_t i = 0; i < copying->loops.count; i++) {
        const LoopNode *loop = copying->loops.items[i];
        const IntExpr *at = launch_op(launches, INT_SUB, launch_var(launches, loop), loop->lower);
        number = launch_op(launches, INT_ADD, launch_op(launches, INT_MUL, number, copying->counts[i]),
                           launch_op(launches, INT_MOD, at, copying->counts[i]));
    }
    return number;
}

static void use_copy(void *context, const LoopNode *node, LoopBody *to) {
    const Copying *copying = context;
    const Launches *launches = copying->launches;
    if (node->kind == LOOP_ACCUMULATE && node->array == launches->team->own) {
        LoopNode *copy = arena_copy(launches->arena, node, sizeof *node);
        copy->position = position_of(launches, node->position, number_of_copy(copying));
        node = copy;
    }
    loop_append(launches->arena, to, node);
}

void launch_with_copies(const Launches *launches, LoopNode *launch, const bool *inside, LoopBody *to) {
    Copying copying = {.launches = launches};
    find_loops(&copying, &launch->body);
    copying.counts = arena_array(launches->arena, const IntExpr *, copying.loops.count + 1);
    count_units(&copying, launch, inside, to);
    launch->body = loop_rewrite(launches->arena, &launch->body, use_copy, &copying);
}
