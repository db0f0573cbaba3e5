// SPDX-License-Identifier: BSD-3-Clause
// Moves definitions out of the loops of a leaf that do not change them, and quotients of params to the
// beginning of the kernel: a C compiler may not move a division out of a loop that possibly has no
// iterations.
#include "loop/hoist.h"
#include "loop/passes.h"

#include <inttypes.h>

// A param, a quotient or a number as a part of a name; NULL for what is none of them.
static const char *word(const LoopKernel *kernel, const IntExpr *expr) {
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

// The variable of a quotient of params, "n_per_gx": its definition is in the kernel that is being made.
static const IntExpr *name_quotient(LoopKernel *kernel, const IntExpr *expr) {
    for (int64_t i = 0; i < kernel->body.count; i++)
        if (int_equal(kernel->body.items[i]->value->index, expr))
            return int_var(kernel->arena, kernel->body.items[i]->var);
    const char *over = word(kernel, expr->left), *under = word(kernel, expr->right);
    const char *name = over && under && expr->left->op != INT_CONST
                           ? arena_printf(kernel->arena, "%s_per_%s", over, under)
                           : "quotient";
    return loop_append_let(kernel, &kernel->body, name, -1, value_index(kernel->arena, expr));
}

static const IntExpr *name_quotients(void *context, const IntExpr *expr) {
    LoopKernel *kernel = context;
    if (!expr->left)
        return expr;
    const IntExpr *named = int_with_operands(kernel->arena, expr, name_quotients(kernel, expr->left),
                                             name_quotients(kernel, expr->right));
    const bool divides = expr->op == INT_CEIL_DIV || expr->op == INT_FLOOR_DIV;
    return divides && int_is_closed(expr) ? name_quotient(kernel, named) : named;
}

static LoopBody named_in(LoopKernel *kernel, const LoopBody *body) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = loop_map_ints(kernel->arena, body->items[i], name_quotients, kernel);
        loop_append(kernel->arena, &result,
                    loop_with_body(kernel->arena, node, named_in(kernel, &node->body)));
    }
    return result;
}

const LoopKernel *loop_pass_invariants(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    kernel->body = (LoopBody){0};
    loop_append_all(kernel->arena, &kernel->body, named_in(kernel, &before->body)); // after the quotients
    return loop_hoist(kernel, NULL);
}
