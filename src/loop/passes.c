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

typedef struct {
    bool *changed; // by variable: bound inside
    bool *local;   // by array: a workspace inside
    int updates;
    const LoopNode *update;
    bool other; // something is done that is no accumulation
} Updates;

static void find_updates(void *context, const LoopNode *node) {
    Updates *updates = context;
    if (node->var >= 0)
        updates->changed[node->var] = true;
    if (node->kind == LOOP_WORKSPACE)
        updates->local[node->array] = true;
    if (node->array >= 0 && updates->local[node->array])
        return;
    updates->other = updates->other || node->kind == LOOP_CALL || node->kind == LOOP_STORE;
    if (node->kind == LOOP_ACCUMULATE) {
        updates->updates++;
        updates->update = node;
    }
}

static bool is_changed(const Updates *updates, const IntExpr *expr) {
    if (expr->op == INT_VAR)
        return updates->changed[expr->value];
    return (expr->left && is_changed(updates, expr->left)) ||
           (expr->right && is_changed(updates, expr->right));
}

static bool is_in(const LoopBody *body, const LoopNode *node) {
    for (int64_t i = 0; i < body->count; i++)
        if (body->items[i] == node)
            return true;
    return false;
}

const LoopNode *loop_invariant_update(const LoopKernel *kernel, const LoopNode *loop) {
    Updates updates = {.changed = arena_array(kernel->arena, bool, kernel->vars.count + 1),
                       .local = arena_array(kernel->arena, bool, kernel->arrays.count + 1)};
    find_updates(&updates, loop);
    loop_visit(&loop->body, find_updates, &updates);
    const bool one = !updates.other && updates.updates == 1 && updates.update->position;
    if (!one || is_changed(&updates, updates.update->position))
        return NULL;
    const bool sparse = kernel->arrays.items[updates.update->array].sparse;
    return !sparse || is_in(&loop->body, updates.update) ? updates.update : NULL;
}

bool loop_has_loop(const LoopBody *body) {
    for (int64_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == LOOP_FOR || body->items[i]->kind == LOOP_WHILE ||
            loop_has_loop(&body->items[i]->body))
            return true;
    return false;
}
