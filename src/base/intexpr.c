// SPDX-License-Identifier: BSD-3-Clause
#include "base/intexpr.h"

#include "base/integer.h"

#include <inttypes.h>
#include <stddef.h>

static const IntExpr *leaf(Arena *arena, IntOp op, int64_t value) {
    IntExpr *expr = arena_new(arena, IntExpr);
    expr->op = op;
    expr->value = value;
    return expr;
}

const IntExpr *int_const(Arena *arena, int64_t value) {
    return leaf(arena, INT_CONST, value);
}

const IntExpr *int_param(Arena *arena, int64_t index) {
    return leaf(arena, INT_PARAM, index);
}

const IntExpr *int_var(Arena *arena, int64_t id) {
    return leaf(arena, INT_VAR, id);
}

static bool apply(IntOp op, int64_t a, int64_t b, int64_t *value) {
    switch (op) {
    case INT_ADD:
        return checked_add(a, b, value);
    case INT_SUB:
        return checked_sub(a, b, value);
    case INT_MUL:
        return checked_mul(a, b, value);
    case INT_FLOOR_DIV:
        return b > 0 && (*value = floor_div(a, b), true);
    case INT_CEIL_DIV:
        return b > 0 && (*value = ceil_div(a, b), true);
    case INT_MOD:
        return b > 0 && (*value = floor_mod(a, b), true);
    case INT_MIN:
        *value = min_i64(a, b);
        return true;
    case INT_MAX:
        *value = max_i64(a, b);
        return true;
    default:
        return false;
    }
}

static bool is_const(const IntExpr *expr, int64_t value) {
    return expr->op == INT_CONST && expr->value == value;
}

const IntExpr *int_op(Arena *arena, IntOp op, const IntExpr *left, const IntExpr *right) {
    int64_t value;
    if (left->op == INT_CONST && right->op == INT_CONST && apply(op, left->value, right->value, &value))
        return int_const(arena, value);
    if ((op == INT_ADD || op == INT_SUB) && is_const(right, 0))
        return left;
    if (op == INT_ADD && is_const(left, 0))
        return right;
    if ((op == INT_MUL || op == INT_FLOOR_DIV || op == INT_CEIL_DIV) && is_const(right, 1))
        return left;
    if (op == INT_MUL && is_const(left, 1))
        return right;
    if (op == INT_MUL && (is_const(left, 0) || is_const(right, 0)))
        return int_const(arena, 0);
    if ((op == INT_MIN || op == INT_MAX) && int_equal(left, right))
        return left;
    IntExpr *expr = arena_new(arena, IntExpr);
    *expr = (IntExpr){op, 0, left, right};
    return expr;
}

const IntExpr *int_at_least_one(Arena *arena, const IntExpr *expr) {
    const IntExpr *least = expr->op == INT_MAX ? expr->left : expr;
    return least->op == INT_CONST && least->value >= 1 ? expr
                                                       : int_op(arena, INT_MAX, int_const(arena, 1), expr);
}

const IntExpr *int_with_operands(Arena *arena, const IntExpr *expr, const IntExpr *left,
                                 const IntExpr *right) {
    return left == expr->left && right == expr->right ? expr : int_op(arena, expr->op, left, right);
}

const IntExpr *int_copy(Arena *arena, const IntExpr *expr) {
    if (!expr)
        return NULL;
    IntExpr *copy = arena_copy(arena, expr, sizeof *expr);
    copy->left = int_copy(arena, expr->left);
    copy->right = int_copy(arena, expr->right);
    return copy;
}

bool int_equal(const IntExpr *a, const IntExpr *b) {
    if (a == b)
        return true;
    if (!a || !b || a->op != b->op || a->value != b->value)
        return false;
    return !a->left || (int_equal(a->left, b->left) && int_equal(a->right, b->right));
}

bool int_is_closed(const IntExpr *expr) {
    if (expr->op == INT_VAR)
        return false;
    return !expr->left || (int_is_closed(expr->left) && int_is_closed(expr->right));
}

bool int_eval(const IntExpr *expr, const int64_t *params, const int64_t *vars, int64_t *value) {
    switch (expr->op) {
    case INT_CONST:
        *value = expr->value;
        return true;
    case INT_PARAM:
        *value = params[expr->value];
        return true;
    case INT_VAR:
        *value = vars[expr->value];
        return true;
    default: {
        int64_t left, right;
        return int_eval(expr->left, params, vars, &left) && int_eval(expr->right, params, vars, &right) &&
               apply(expr->op, left, right, value);
    }
    }
}

// Loop variables, and what is made of them without subtraction, are never negative; params may be.
static bool is_never_negative(const IntExpr *expr) {
    switch (expr->op) {
    case INT_CONST:
        return expr->value >= 0;
    case INT_VAR:
        return true;
    case INT_PARAM:
    case INT_SUB:
        return false;
    case INT_MAX:
        return is_never_negative(expr->left) || is_never_negative(expr->right);
    default:
        return is_never_negative(expr->left) && is_never_negative(expr->right);
    }
}

// How tightly the outermost operator binds.
enum { SUM, PRODUCT, SIGN, PRIMARY };

static int precedence(const IntExpr *expr, bool c) {
    switch (expr->op) {
    case INT_CONST:
        return c && expr->value < 0 ? SIGN : PRIMARY;
    case INT_ADD:
    case INT_SUB:
        return SUM;
    case INT_MUL:
    case INT_MOD:
        return PRODUCT;
    case INT_FLOOR_DIV:
        return c && !is_never_negative(expr->left) ? PRIMARY : PRODUCT;
    default:
        return PRIMARY;
    }
}

bool int_is_primary(const IntExpr *expr) {
    return precedence(expr, true) == PRIMARY;
}

static void print_operand(const IntExpr *expr, int least, IntNames names, Text *to) {
    const bool brackets = precedence(expr, names.c) < least;
    text_append(to, brackets ? "(" : "");
    int_print(expr, names, to);
    text_append(to, brackets ? ")" : "");
}

static void print_operation(const IntExpr *expr, IntNames names, Text *to) {
    static const char *const symbols[] = {
        [INT_ADD] = "+", [INT_SUB] = "-", [INT_MUL] = "*", [INT_FLOOR_DIV] = "/", [INT_MOD] = "%"};
    const int own = precedence(expr, names.c);
    const bool negates =
        names.c && expr->op == INT_SUB && expr->left->op == INT_CONST && expr->left->value == 0;
    if (!negates) {
        print_operand(expr->left, own, names, to);
        text_append(to, " ");
    }
    text_printf(to, negates ? "%s" : "%s ", symbols[expr->op]);
    print_operand(expr->right, own + 1, names, to);
}

void int_print(const IntExpr *expr, IntNames names, Text *to) {
    static const char *const functions[] = {
        [INT_FLOOR_DIV] = "floor_div", [INT_CEIL_DIV] = "ceil_div", [INT_MIN] = "min", [INT_MAX] = "max"};
    if (expr->op == INT_CONST) {
        text_printf(to, "%" PRId64, expr->value);
    } else if (!expr->left) {
        text_append(to, (expr->op == INT_PARAM ? names.params : names.vars)[expr->value]);
    } else if (precedence(expr, names.c) < PRIMARY) {
        print_operation(expr, names, to);
    } else {
        text_printf(to, "%s(", functions[expr->op]);
        int_print(expr->left, names, to);
        text_append(to, ", ");
        int_print(expr->right, names, to);
        text_append(to, ")");
    }
}
