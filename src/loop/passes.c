// SPDX-License-Identifier: BSD-3-Clause
#include "loop/passes.h"

enum { FOR_HOST = 1, FOR_GPU = 2, FOR_ANY = FOR_HOST | FOR_GPU };
static const struct {
    const char *name;
    int where;
    const LoopKernel *(*run)(const LoopKernel *kernel);
} passes[] = {
#define PASS(name, where) {#name, FOR_##where, loop_pass_##name},
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
        if (passes[i].where & (kernel->gpu ? FOR_GPU : FOR_HOST))
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

static bool is_in(const LoopBody *body, const LoopNode *node) {
    for (int64_t i = 0; i < body->count; i++)
        if (body->items[i] == node)
            return true;
    return false;
}

const LoopNode *loop_invariant_update(const LoopKernel *kernel, const LoopNode *loop) {
    const LoopBody nodes = loop_nodes(kernel->arena, loop);
    int *inside = arena_array(kernel->arena, int, kernel->vars.count + 1);
    bool *local = arena_array(kernel->arena, bool, kernel->arrays.count + 1);
    const LoopNode *update = NULL;
    for (int64_t i = 0; i < nodes.count; i++) {
        const LoopNode *node = nodes.items[i];
        if (node->var >= 0)
            inside[node->var] = 1;
        if (node->kind == LOOP_WORKSPACE)
            local[node->array] = true;
        if (node->array >= 0 && local[node->array])
            continue;
        if (node->kind == LOOP_CALL || node->kind == LOOP_STORE || (node->kind == LOOP_ACCUMULATE && update))
            return NULL;
        if (node->kind == LOOP_ACCUMULATE)
            update = node;
    }
    if (!update || !update->position || loop_depth_of(update->position, inside) > 0)
        return NULL;
    const bool sparse = kernel->arrays.items[update->array].sparse;
    return !sparse || is_in(&loop->body, update) ? update : NULL;
}

static bool has_operand(const Value *condition, const Value *operand) {
    bool found = value_equal(condition, operand);
    for (int i = 0; condition->kind == VALUE_AND && i < condition->operand_count; i++)
        found = found || value_equal(condition->operands[i], operand);
    return found;
}

const LoopNode *loop_where_present(const LoopKernel *kernel, const LoopNode *leaf, const bool *arrays,
                                   int64_t array_count) {
    Arena *arena = kernel->arena;
    const Value *condition = leaf->value;
    const int count = condition->kind == VALUE_AND ? condition->operand_count : 1;
    const Value **operands = arena_array(arena, const Value *, count + array_count);
    int at = 0;
    for (int i = 0; i < count; i++)
        operands[at++] = condition->kind == VALUE_AND ? condition->operands[i] : condition;
    const LoopBody nodes = loop_nodes(arena, leaf);
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->kind == LOOP_TEAM)
            return leaf;
    for (int a = 0; a < (int)array_count; a++) {
        const Value *present = value_element(arena, VALUE_PRESENT, VALUE_TYPE_CONDITION, a, NULL);
        if (arrays[a] && !kernel->arrays.items[a].scalar && !kernel->arrays.items[a].extent &&
            !has_operand(condition, present))
            operands[at++] = present;
    }
    if (at == count)
        return leaf;
    LoopNode *copy = arena_copy(arena, leaf, sizeof *leaf);
    copy->value = value_list(arena, VALUE_AND, VALUE_TYPE_CONDITION, NULL, at, operands);
    return copy;
}

bool loop_has_loop(const LoopBody *body) {
    for (int64_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == LOOP_FOR || body->items[i]->kind == LOOP_WHILE ||
            loop_has_loop(&body->items[i]->body))
            return true;
    return false;
}

const LoopNode *loop_hoist_definitions(Arena *arena, const LoopNode *node, LoopBody *to) {
    LoopBody inside = {0};
    if (node->kind != LOOP_TEAM)
        return node;
    for (int64_t i = 0; i < node->body.count; i++) {
        const LoopNode *of = node->body.items[i];
        loop_append(arena, of->kind == LOOP_LET && inside.count == 0 ? to : &inside, of);
    }
    return loop_with_body(arena, node, inside);
}

const LoopLevelArray *loop_level_arrays(const LoopKernel *kernel) {
    LoopLevelArray *arrays = arena_array(kernel->arena, LoopLevelArray, kernel->arrays.count);
    for (int64_t i = 0; i < kernel->body.count; i++) {
        const LoopBody nodes = loop_nodes(kernel->arena, kernel->body.items[i]);
        for (int64_t n = 0; n < nodes.count; n++)
            for (int a = 0; a < nodes.items[n]->view_array_count; a++) {
                const LoopViewArray *array = &nodes.items[n]->view_arrays[a];
                arrays[array->array] = (LoopLevelArray){array->kind, nodes.items[n]->array, array->level};
            }
    }
    return arrays;
}
