// SPDX-License-Identifier: BSD-3-Clause
// The work of loops that threads share: the iterations inside, as far as they are known before the loop. Few
// are not worth a team of threads.
#include "loop/passes.h"

typedef struct {
    LoopKernel *kernel;
    bool *bound; // by variable
} Threads;

static bool is_known(const Threads *threads, const IntExpr *expr) {
    if (expr->op == INT_VAR)
        return threads->bound[expr->value];
    return (!expr->left || is_known(threads, expr->left)) && (!expr->right || is_known(threads, expr->right));
}

// The factors of `count` that are known, multiplied to `work`.
static const IntExpr *multiply(const Threads *threads, const IntExpr *work, const IntExpr *count) {
    if (count->op == INT_MUL)
        return multiply(threads, multiply(threads, work, count->left), count->right);
    return is_known(threads, count) ? int_op(threads->kernel->arena, INT_MUL, work, count) : work;
}

static const IntExpr *work_of(const Threads *threads, const LoopNode *node, const IntExpr *work) {
    if (node->kind == LOOP_FOR)
        work = multiply(threads, work, node->upper);
    if (node->count)
        work = multiply(threads, work, node->count);
    for (int64_t i = 0; i < node->body.count; i++)
        work = work_of(threads, node->body.items[i], work);
    return work;
}

static LoopBody walk(Threads *threads, const LoopBody *body, bool in_team) {
    Arena *arena = threads->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        LoopNode *copy = arena_copy(arena, node, sizeof *node);
        const bool is_team = node->kind == LOOP_TEAM;
        if (is_team || (node->execution.thread && !in_team))
            copy->execution.work = work_of(threads, node, int_const(arena, 1));
        if (node->var >= 0)
            threads->bound[node->var] = true;
        for (int d = 0; d < node->dim_count; d++)
            if (node->coordinates[d] >= 0)
                threads->bound[node->coordinates[d]] = true;
        copy->body = walk(threads, &node->body, in_team || is_team);
        if (node->kind == LOOP_FOR)
            threads->bound[node->var] = false;
        loop_append(arena, &result, copy);
    }
    for (int64_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == LOOP_LET)
            threads->bound[body->items[i]->var] = false;
    return result;
}

const LoopKernel *loop_pass_threads(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    Threads threads = {kernel, arena_array(kernel->arena, bool, kernel->vars.count)};
    kernel->body = walk(&threads, &before->body, false);
    return kernel;
}
