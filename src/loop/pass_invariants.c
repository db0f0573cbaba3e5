// SPDX-License-Identifier: BSD-3-Clause
// Moves definitions out of the loops of a leaf that do not change them, and quotients of params, and params
// as elements, to the beginning of the kernel: a C compiler does not move a division out of a loop that may
// have no iterations, and does not vectorize the conversion of a 64-bit integer.
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

// The variable whose definition as `value` is already in the kernel that is being made; -1: none.
static int find_defined(const LoopKernel *kernel, const Value *value) {
    for (int64_t i = 0; i < kernel->body.count; i++)
        if (value_equal(kernel->body.items[i]->value, value))
            return kernel->body.items[i]->var;
    return -1;
}

// The variable of a quotient of params, "n_per_gx".
static const IntExpr *name_quotient(LoopKernel *kernel, const IntExpr *expr) {
    const Value *value = value_index(kernel->arena, expr);
    const int defined = find_defined(kernel, value);
    if (defined >= 0)
        return int_var(kernel->arena, defined);
    const char *over = word(kernel, expr->left), *under = word(kernel, expr->right);
    const char *name = over && under && expr->left->op != INT_CONST
                           ? arena_printf(kernel->arena, "%s_per_%s", over, under)
                           : "quotient";
    return loop_append_let(kernel, &kernel->body, name, -1, value);
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

// The variable of a param as an element, "n_value"; other values as they are.
static const Value *name_element(void *context, const Value *value) {
    LoopKernel *kernel = context;
    if (value->kind != VALUE_CONVERT || value->type >= VALUE_TYPE_INDEX ||
        value->operands[0]->kind != VALUE_INDEX || value->operands[0]->index->op != INT_PARAM)
        return value;
    int var = find_defined(kernel, value);
    if (var < 0) {
        const char *name =
            arena_printf(kernel->arena, "%s_value", kernel->params[value->operands[0]->index->value]);
        var = loop_add_var(kernel,
                           (LoopVar){.name = name, .type = value->type, .stem_array = -1, .stem_var = -1});
        loop_append(kernel->arena, &kernel->body, loop_let(kernel->arena, var, value));
    }
    return value_var(kernel->arena, value->type, var);
}

static LoopBody named_in(LoopKernel *kernel, const LoopBody *body) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = loop_map_ints(kernel->arena, body->items[i], name_quotients, kernel);
        if (!kernel->gpu) // a thread of a GPU converts for itself
            node = loop_map_values(kernel->arena, node, name_element, kernel);
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
