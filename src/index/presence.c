// SPDX-License-Identifier: BSD-3-Clause
#include "index/presence.h"

#include <complex.h>
#include <math.h>

static bool is_complex(const Expr *expr) {
    return expr && type_info(expr_type(expr))->is_complex;
}

// The value of a function whose arguments are these.
static double _Complex called(const Expr *call, double _Complex left, double _Complex right) {
    const Function *function = call->function;
    const bool two = call->right != NULL;
    if (is_complex(call->left) || is_complex(call->right))
        return two ? function->complex_of_two(left, right) : function->complex_value(left);
    return two ? function->real_of_two(creal(left), creal(right)) : function->real(creal(left));
}

static double _Complex quotient(double _Complex left, double _Complex right, ElementType type) {
    if (!type_info(type)->is_integer)
        return left / right;
    return right == 0 ? 0 : trunc(creal(left) / creal(right));
}

// The value of an expression without accesses; false where it has one.
static bool constant_value(const Expr *expr, ElementType type, double _Complex *value) {
    double _Complex left = 0, right = 0;
    if (expr->kind == EXPR_ACCESS || expr->kind == EXPR_REDUCE || expr->param ||
        (expr->left && !constant_value(expr->left, type, &left)) ||
        (expr->right && !constant_value(expr->right, type, &right)))
        return false;
    switch (expr->kind) {
    case EXPR_ADD:
        *value = left + right;
        return true;
    case EXPR_SUB:
        *value = left - right;
        return true;
    case EXPR_MUL:
        *value = left * right;
        return true;
    case EXPR_DIV:
        *value = quotient(left, right, type);
        return true;
    case EXPR_NEG:
        *value = -left;
        return true;
    case EXPR_CALL:
        *value = called(expr, left, right);
        return true;
    default:
        *value = expr->number_is_integer ? (double)expr->integer : expr->number;
        *value = expr->number_is_imaginary ? __builtin_complex(0.0, expr->number) : *value;
        return true;
    }
}

// A function is present where its arguments are, as far as it is zero where they are not.
static Presence call_presence(const Expr *call, ElementType type) {
    double _Complex left = 0, right = 0;
    const bool left_constant = constant_value(call->left, type, &left);
    if (!call->right)
        return !left_constant && called(call, 0, 0) == 0 ? PRESENT_LEFT : PRESENT_ALWAYS;
    const bool right_constant = constant_value(call->right, type, &right);
    // What is no constant is zero where it is not present.
    if ((left_constant && right_constant) ||
        called(call, left_constant ? left : 0, right_constant ? right : 0) != 0)
        return PRESENT_ALWAYS;
    return left_constant ? PRESENT_RIGHT : right_constant ? PRESENT_LEFT : PRESENT_EITHER;
}

Presence expr_presence(const Expr *expr, ElementType type) {
    switch (expr->kind) {
    case EXPR_ACCESS:
        return tensor_is_sparse(expr->access->tensor) || expr->access->tensor->partial ? PRESENT_STORED
                                                                                       : PRESENT_ALWAYS;
    case EXPR_ADD:
    case EXPR_SUB:
        return PRESENT_EITHER;
    case EXPR_MUL:
        return PRESENT_BOTH;
    case EXPR_DIV:
        // An integer divided by zero is zero; a real number is not.
        return type_info(type)->is_integer || expr_is_always_present(expr->right, type) ? PRESENT_LEFT
                                                                                        : PRESENT_ALWAYS;
    case EXPR_NEG:
        return PRESENT_LEFT;
    case EXPR_CALL:
        return call_presence(expr, type);
    default:
        return PRESENT_ALWAYS;
    }
}

bool expr_is_always_present(const Expr *expr, ElementType type) {
    switch (expr_presence(expr, type)) {
    case PRESENT_ALWAYS:
        return true;
    case PRESENT_STORED:
        return false;
    case PRESENT_LEFT:
        return expr_is_always_present(expr->left, type);
    case PRESENT_RIGHT:
        return expr_is_always_present(expr->right, type);
    case PRESENT_BOTH:
        return expr_is_always_present(expr->left, type) && expr_is_always_present(expr->right, type);
    default:
        return expr_is_always_present(expr->left, type) || expr_is_always_present(expr->right, type);
    }
}

double expr_share(const Expr *expr, ElementType type, double (*stored)(void *context, const Access *access),
                  void *context) {
    const Presence presence = expr_presence(expr, type);
    if (presence == PRESENT_ALWAYS)
        return 1;
    if (presence == PRESENT_STORED)
        return stored(context, expr->access);
    const double left = presence == PRESENT_RIGHT ? 1 : expr_share(expr->left, type, stored, context);
    const double right = presence == PRESENT_LEFT ? 1 : expr_share(expr->right, type, stored, context);
    if (left < 0 || right < 0)
        return -1;
    return presence == PRESENT_EITHER ? fmin(1, left + right) : left * right;
}

const Expr *expr_always_present_part(const Expr *expr, ElementType type) {
    switch (expr_presence(expr, type)) {
    case PRESENT_LEFT:
        return expr_always_present_part(expr->left, type);
    case PRESENT_RIGHT:
        return expr_always_present_part(expr->right, type);
    case PRESENT_EITHER:
        return expr_always_present_part(expr_is_always_present(expr->left, type) ? expr->left : expr->right,
                                        type);
    default:
        return expr;
    }
}

const Expr *expr_with_zeros(Arena *arena, const Expr *expr, ElementType type) {
    if (expr_is_always_present(expr, type))
        return expr;
    Expr *zero = arena_new(arena, Expr), *sum = arena_new(arena, Expr);
    *zero = (Expr){.kind = EXPR_NUMBER, .span = expr->span, .number_is_integer = true};
    *sum = (Expr){.kind = EXPR_ADD, .span = expr->span, .left = expr, .right = zero};
    return sum;
}
