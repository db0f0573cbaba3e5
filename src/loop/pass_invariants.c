// SPDX-License-Identifier: BSD-3-Clause
// Moves definitions out of the loops of a leaf that do not change them, and quotients of params to the
// beginning of the kernel: a C compiler may not move a division out of a loop that possibly has no
// iterations.
#include "loop/passes.h"

#include <inttypes.h>

typedef struct {
    LoopKernel *kernel;
    int *depths; // by variable: of the scope that it is bound in; 0: outside of the leaf
    Array(const IntExpr *) quotients;
    Array(int) names; // of them, as variables
} Hoist;

static bool is_quotient(const IntExpr *expr) {
    return (expr->op == INT_CEIL_DIV || expr->op == INT_FLOOR_DIV) && int_is_closed(expr);
}

// A param, a quotient or a number as a part of a name; NULL for what is none of them.
static const char *word(const Hoist *hoist, const IntExpr *expr) {
    const LoopKernel *kernel = hoist->kernel;
    switch (expr->op) {
    case INT_PARAM:
        return kernel->params[expr->value];
    case INT_VAR:
        return kernel->vars.items[expr->value].name;
    case INT_CONST:
        return expr->value >= 0 ? arena_printf(kernel->arena, "%" PRId64, expr->value) : NULL;
    default:
        return NULL;
    }
}

static const IntExpr *name_quotients(void *context, const IntExpr *expr);

// "n_per_gx"
static const IntExpr *name_quotient(Hoist *hoist, const IntExpr *expr) {
    Arena *arena = hoist->kernel->arena;
    for (int64_t i = 0; i < hoist->quotients.count; i++)
        if (int_equal(hoist->quotients.items[i], expr))
            return int_var(arena, hoist->names.items[i]);
    const IntExpr *left = name_quotients(hoist, expr->left), *right = name_quotients(hoist, expr->right);
    const char *over = word(hoist, left), *under = word(hoist, right);
    const char *name =
        over && under && left->op != INT_CONST ? arena_printf(arena, "%s_per_%s", over, under) : "quotient";
    const int var = loop_add_var(
        hoist->kernel, (LoopVar){.name = name, .type = VALUE_TYPE_INDEX, .stem_array = -1, .stem_var = -1});
    const IntExpr *value =
        left == expr->left && right == expr->right ? expr : int_op(arena, expr->op, left, right);
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(arena, hoist->quotients, expr);
    array_push(arena, hoist->names, var);
    loop_append(arena, &hoist->kernel->body, loop_let(arena, var, value_index(arena, value)));
    return int_var(arena, var);
}

static const IntExpr *name_quotients(void *context, const IntExpr *expr) {
    Hoist *hoist = context;
    if (is_quotient(expr))
        return name_quotient(hoist, expr);
    if (!expr->left)
        return expr;
    const IntExpr *left = name_quotients(hoist, expr->left), *right = name_quotients(hoist, expr->right);
    return left == expr->left && right == expr->right ? expr
                                                      : int_op(hoist->kernel->arena, expr->op, left, right);
}

static LoopBody named_in(Hoist *hoist, const LoopBody *body) {
    Arena *arena = hoist->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = loop_map_ints(arena, body->items[i], name_quotients, hoist);
        loop_append(arena, &result, loop_with_body(arena, node, named_in(hoist, &node->body)));
    }
    return result;
}

static void hoist_body(Hoist *hoist, const LoopBody *body, const LoopScope *scope) {
    Arena *arena = hoist->kernel->arena;
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_LET) {
            const bool moves = node->value->kind == VALUE_INDEX;
            const int depth = moves ? loop_depth_of(node->value->index, hoist->depths) : scope->depth;
            hoist->depths[node->var] = depth;
            loop_append(arena, loop_scope_at(scope, depth)->body, node);
            continue;
        }
        LoopBody inner = {0};
        const LoopScope inside = {scope, scope->depth + loop_is_deeper(node), &inner};
        if (node->var >= 0)
            hoist->depths[node->var] = loop_bound_depth(node, inside.depth);
        hoist_body(hoist, &node->body, &inside);
        loop_append(arena, scope->body, loop_with_body(arena, node, inner));
    }
}

static void hoist_leaf(void *context, const LoopNode *node, LoopBody *to) {
    Hoist *hoist = context;
    Arena *arena = hoist->kernel->arena;
    if (node->kind != LOOP_LEAF) {
        loop_append(arena, to, node);
        return;
    }
    LoopBody body = {0};
    const LoopScope scope = {NULL, 0, &body};
    hoist_body(hoist, &node->body, &scope);
    loop_append(arena, to, loop_with_body(arena, node, body));
}

const LoopKernel *loop_pass_invariants(const LoopKernel *before) {
    Hoist hoist = {.kernel = loop_kernel_copy(before)};
    LoopKernel *kernel = hoist.kernel;
    kernel->body = (LoopBody){0};
    const LoopBody named = named_in(&hoist, &before->body); // appends the quotients
    hoist.depths = arena_array(kernel->arena, int, kernel->vars.count);
    const LoopBody body = loop_rewrite(kernel->arena, &named, hoist_leaf, &hoist);
    for (int64_t i = 0; i < body.count; i++)
        loop_append(kernel->arena, &kernel->body, body.items[i]);
    return kernel;
}
