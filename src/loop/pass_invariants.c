// SPDX-License-Identifier: BSD-3-Clause
// Moves definitions out of the loops of a leaf that do not change them, and quotients of params to the
// beginning of the kernel: a C compiler may not move a division out of a loop that possibly has no
// iterations.
#include "loop/hoist.h"
#include "loop/passes.h"

#include <inttypes.h>

typedef struct {
    LoopKernel *kernel;
    Array(const IntExpr *) values;
    Array(int) names; // of them, as variables
} Quotients;

static bool is_quotient(const IntExpr *expr) {
    return (expr->op == INT_CEIL_DIV || expr->op == INT_FLOOR_DIV) && int_is_closed(expr);
}

// A param, a quotient or a number as a part of a name; NULL for what is none of them.
static const char *word(const Quotients *quotients, const IntExpr *expr) {
    const LoopKernel *kernel = quotients->kernel;
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
static const IntExpr *name_quotient(Quotients *quotients, const IntExpr *expr) {
    Arena *arena = quotients->kernel->arena;
    for (int64_t i = 0; i < quotients->values.count; i++)
        if (int_equal(quotients->values.items[i], expr))
            return int_var(arena, quotients->names.items[i]);
    const IntExpr *left = name_quotients(quotients, expr->left),
                  *right = name_quotients(quotients, expr->right);
    const char *over = word(quotients, left), *under = word(quotients, right);
    const char *name =
        over && under && left->op != INT_CONST ? arena_printf(arena, "%s_per_%s", over, under) : "quotient";
    const int var =
        loop_add_var(quotients->kernel,
                     (LoopVar){.name = name, .type = VALUE_TYPE_INDEX, .stem_array = -1, .stem_var = -1});
    const IntExpr *value =
        left == expr->left && right == expr->right ? expr : int_op(arena, expr->op, left, right);
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(arena, quotients->values, expr);
    array_push(arena, quotients->names, var);
    loop_append(arena, &quotients->kernel->body, loop_let(arena, var, value_index(arena, value)));
    return int_var(arena, var);
}

static const IntExpr *name_quotients(void *context, const IntExpr *expr) {
    Quotients *quotients = context;
    if (is_quotient(expr))
        return name_quotient(quotients, expr);
    if (!expr->left)
        return expr;
    const IntExpr *left = name_quotients(quotients, expr->left),
                  *right = name_quotients(quotients, expr->right);
    return left == expr->left && right == expr->right
               ? expr
               : int_op(quotients->kernel->arena, expr->op, left, right);
}

static LoopBody named_in(Quotients *quotients, const LoopBody *body) {
    Arena *arena = quotients->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = loop_map_ints(arena, body->items[i], name_quotients, quotients);
        loop_append(arena, &result, loop_with_body(arena, node, named_in(quotients, &node->body)));
    }
    return result;
}

const LoopKernel *loop_pass_invariants(const LoopKernel *before) {
    Quotients quotients = {.kernel = loop_kernel_copy(before)};
    LoopKernel *kernel = quotients.kernel;
    kernel->body = (LoopBody){0};
    loop_append_all(kernel->arena, &kernel->body, named_in(&quotients, &before->body)); // after the quotients
    return loop_hoist(kernel, NULL);
}
