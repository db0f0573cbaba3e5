// SPDX-License-Identifier: BSD-3-Clause
// Splits the position of an element into what the innermost loop changes and what it does not, which becomes
// a definition outside of the loops that do not change it.
#include "loop/hoist.h"
#include "loop/passes.h"

// A position as a sum of terms.
typedef struct {
    const IntExpr *sum; // NULL while empty
    int terms;
    bool computes; // some term is more than a number or a variable
} Part;

static void add_term(Arena *arena, Part *part, const IntExpr *term, bool negative) {
    const IntExpr *before = part->sum ? part->sum : int_const(arena, 0);
    part->sum = int_op(arena, negative ? INT_SUB : INT_ADD, before, term);
    part->terms++;
    part->computes = part->computes || term->left;
}

static void split(const LoopHoist *hoist, const IntExpr *expr, bool negative, Part *fixed, Part *moving) {
    if (expr->op == INT_ADD || expr->op == INT_SUB) {
        split(hoist, expr->left, negative, fixed, moving);
        split(hoist, expr->right, negative != (expr->op == INT_SUB), fixed, moving);
    } else if (expr->op != INT_CONST || expr->value != 0) {
        const bool is_fixed =
            expr->op != INT_CONST && loop_depth_of(expr, hoist->depths) < hoist->scope->depth;
        add_term(hoist->kernel->arena, is_fixed ? fixed : moving, expr, negative);
    }
}

static const IntExpr *split_position(LoopHoist *hoist, int array, const IntExpr *position) {
    Arena *arena = hoist->kernel->arena;
    if (!position || hoist->scope->depth == 0)
        return position;
    Part fixed = {0}, moving = {0};
    split(hoist, position, false, &fixed, &moving);
    // The difference of two variables costs as little as a sum of two.
    if (!fixed.computes && (moving.sum || fixed.terms < 2))
        return position;
    const LoopVar at = {.name = "at", .type = VALUE_TYPE_INDEX, .stem_array = array, .stem_var = -1};
    const IntExpr *base = int_var(arena, loop_define(hoist, loop_depth_of(fixed.sum, hoist->depths), at,
                                                     value_index(arena, fixed.sum)));
    return moving.sum ? int_op(arena, INT_ADD, base, moving.sum) : base;
}

static const Value *split_value(void *context, const Value *value) {
    LoopHoist *hoist = context;
    if (value->kind != VALUE_LOAD && value->kind != VALUE_ADDRESS)
        return value;
    Value *copy = arena_copy(hoist->kernel->arena, value, sizeof *value);
    copy->index = split_position(hoist, value->array, value->index);
    return copy;
}

static const LoopNode *split_node(LoopHoist *hoist, const LoopNode *node) {
    Arena *arena = hoist->kernel->arena;
    LoopNode *copy = arena_copy(arena, loop_map_values(arena, node, split_value, hoist), sizeof *node);
    copy->position = split_position(hoist, node->array, node->position);
    return copy;
}

const LoopKernel *loop_pass_addresses(const LoopKernel *before) {
    return loop_hoist(before, split_node);
}
