// SPDX-License-Identifier: BSD-3-Clause
#include "loop/hoist.h"

#include "loop/passes.h"

static const LoopScope *scope_at(const LoopScope *scope, int depth) {
    while (scope->outer && scope->depth > depth)
        scope = scope->outer;
    return scope;
}

int loop_define(LoopHoist *hoist, int depth, LoopVar var, const Value *value) {
    LoopKernel *kernel = hoist->kernel;
    LoopBody *body = scope_at(hoist->scope, depth)->body;
    for (int64_t i = 0; i < hoist->definitions.count; i++) {
        const LoopDefinition *there = &hoist->definitions.items[i];
        const LoopVar *name = &kernel->vars.items[there->let->var];
        if (there->body == body && name->stem_array == var.stem_array && name->stem_var == var.stem_var &&
            value_equal(there->let->value, value))
            return there->let->var;
    }
    const LoopNode *let = loop_let(kernel->arena, loop_add_var(kernel, var), value);
    array_push(kernel->arena, hoist->definitions, (LoopDefinition){let, body, hoist->scope->body});
    loop_append(kernel->arena, body, let);
    return let->var;
}

// Nothing may be defined between collapsed loops, so what the outer ones bind counts as bound in the body of
// the last.
static int bound_depth(const LoopNode *node, int depth) {
    return node->execution.collapsed > 1 ? depth + node->execution.collapsed - 1 : depth;
}

// Copies of a body that a pass has made have the same definitions.
static bool is_defined(const LoopNode *let, const LoopScope *scope) {
    for (; scope; scope = scope->outer)
        for (int64_t i = 0; i < scope->body->count; i++) {
            const LoopNode *node = scope->body->items[i];
            if (node->kind == LOOP_LET && node->var == let->var && value_equal(node->value, let->value))
                return true;
        }
    return false;
}

static void hoist_body(LoopHoist *hoist, const LoopBody *body, const LoopScope *scope) {
    Arena *arena = hoist->kernel->arena;
    for (int64_t i = 0; i < body->count; i++) {
        hoist->scope = scope;
        const LoopNode *from = body->items[i];
        LoopNode *node = arena_copy(arena, hoist->rewrite ? hoist->rewrite(hoist, from) : from, sizeof *node);
        if (node->kind == LOOP_LET) {
            const bool moves = node->value->kind == VALUE_INDEX;
            const int depth = moves ? loop_depth_of(node->value->index, hoist->depths) : scope->depth;
            hoist->depths[node->var] = depth;
            if (!is_defined(node, scope_at(scope, depth)))
                loop_append(arena, scope_at(scope, depth)->body, node);
            continue;
        }
        const bool deeper = node->kind == LOOP_FOR || node->kind == LOOP_WHILE || node->kind == LOOP_TEAM;
        const LoopBody inner = node->body;
        const LoopScope inside = {scope, node, scope->depth + deeper, &node->body};
        node->body = (LoopBody){0};
        if (node->var >= 0)
            hoist->depths[node->var] = bound_depth(node, inside.depth);
        hoist_body(hoist, &inner, &inside);
        loop_append(arena, scope->body, node);
    }
}

static void hoist_leaf(void *context, const LoopNode *node, LoopBody *to) {
    LoopHoist *hoist = context;
    if (node->kind == LOOP_LEAF) {
        LoopNode *leaf = loop_with_body(hoist->kernel->arena, node, (LoopBody){0});
        const LoopScope scope = {NULL, leaf, 0, &leaf->body};
        hoist->definitions.count = 0;
        // A loop of the leaf before may be outside of this one.
        hoist->depths = arena_array(hoist->kernel->arena, int, hoist->kernel->vars.count + 1);
        hoist_body(hoist, &node->body, &scope);
        node = leaf;
    }
    loop_append(hoist->kernel->arena, to, node);
}

const LoopKernel *loop_hoist(const LoopKernel *before,
                             const LoopNode *(*rewrite)(LoopHoist *hoist, const LoopNode *node)) {
    LoopHoist hoist = {.kernel = loop_kernel_copy(before), .rewrite = rewrite};
    hoist.kernel->body = loop_rewrite(before->arena, &before->body, hoist_leaf, &hoist);
    return hoist.kernel;
}
