// SPDX-License-Identifier: BSD-3-Clause
#include "loop/passes.h"

static const struct {
    const char *name;
    const LoopKernel *(*run)(const LoopKernel *kernel);
} passes[] = {
#define PASS(name) {#name, loop_pass_##name},
    LOOP_PASSES(PASS)
#undef PASS
};
enum { PASS_TOTAL = sizeof passes / sizeof *passes };

int loop_pass_count(void) {
    return PASS_TOTAL;
}

const char *loop_pass_name(int index) {
    return passes[index].name;
}

const LoopKernel *loop_run_passes(const LoopKernel *kernel, int count, const char **pass, const char **why) {
    *pass = "lowering";
    for (int i = 0; loop_verify(kernel, why); i++) {
        if (i == count)
            return kernel;
        *pass = passes[i].name;
        kernel = passes[i].run(kernel);
    }
    return NULL;
}

LoopKernel *loop_kernel_copy(const LoopKernel *kernel) {
    Arena *arena = kernel->arena;
    LoopKernel *copy = arena_copy(arena, kernel, sizeof *kernel);
    copy->vars.items = arena_copy(arena, kernel->vars.items, sizeof(LoopVar) * (size_t)kernel->vars.count);
    copy->vars.capacity = kernel->vars.count;
    copy->arrays.items =
        arena_copy(arena, kernel->arrays.items, sizeof(LoopArray) * (size_t)kernel->arrays.count);
    copy->arrays.capacity = kernel->arrays.count;
    return copy;
}

const LoopScope *loop_scope_at(const LoopScope *scope, int depth) {
    while (scope->depth > depth)
        scope = scope->outer;
    return scope;
}

int loop_depth_of(const IntExpr *expr, const int *depths) {
    if (expr->op == INT_VAR)
        return depths[expr->value];
    const int left = expr->left ? loop_depth_of(expr->left, depths) : 0;
    const int right = expr->right ? loop_depth_of(expr->right, depths) : 0;
    return left > right ? left : right;
}

bool loop_is_deeper(const LoopNode *node) {
    return node->kind == LOOP_FOR || node->kind == LOOP_WHILE || node->kind == LOOP_TEAM;
}
