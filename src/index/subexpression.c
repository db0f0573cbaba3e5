// SPDX-License-Identifier: BSD-3-Clause
#include "index/subexpression.h"

#include "index/summation.h"

typedef Array(const Expr *) Factors;

// The context of an expression.
typedef struct {
    bool linear;   // the right side depends on it linearly
    bool additive; // it is a sum of additive terms of the statement, not part of one
    VarSet beside; // variables of the other factors of its term
} ExprPlace;

// The variables that all addends have.
static VarSet common_vars(const Expr *expr) {
    VarSet common = 0;
    sum_is_mixed(expr, ~(VarSet)0, &common);
    return common;
}

static void add_factors(Arena *arena, const Expr *expr, Factors *factors) {
    if (expr->kind != EXPR_MUL) {
        // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
        array_push(arena, *factors, expr);
        return;
    }
    add_factors(arena, expr->left, factors);
    add_factors(arena, expr->right, factors);
}

// Whether two expressions are equal up to the order of factors and of two summands.
static bool expr_equal(Arena *arena, const Expr *a, const Expr *b);

// Whether all of `some` are in `all`, as often as in `some`; removes them there and puts `by` in the place of
// the first.
static bool take_factors(Arena *arena, const Factors *some, Factors *all, const Expr *by) {
    bool *taken = arena_array(arena, bool, all->count);
    for (int64_t i = 0; i < some->count; i++) {
        int64_t k = 0;
        while (k < all->count && (taken[k] || !expr_equal(arena, some->items[i], all->items[k])))
            k++;
        if (k == all->count)
            return false;
        taken[k] = true;
    }
    int64_t left = 0;
    for (int64_t k = 0; k < all->count; k++) {
        if (!taken[k])
            all->items[left++] = all->items[k];
        else if (by)
            all->items[left++] = by;
        if (taken[k])
            by = NULL;
    }
    all->count = left;
    return true;
}

static bool expr_equal(Arena *arena, const Expr *a, const Expr *b) {
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case EXPR_ACCESS:
        return access_equal(a->access, b->access);
    case EXPR_NUMBER:
        return number_equal(a, b);
    case EXPR_MUL: {
        Factors some = {0}, all = {0};
        add_factors(arena, a, &some);
        add_factors(arena, b, &all);
        return some.count == all.count && take_factors(arena, &some, &all, NULL);
    }
    case EXPR_ADD:
        if (expr_equal(arena, a->left, b->right) && expr_equal(arena, a->right, b->left))
            return true;
        break;
    case EXPR_CALL:
        if (a->function != b->function)
            return false;
        break;
    case EXPR_REDUCE:
        if (a->reducer != b->reducer || a->bound != b->bound)
            return false;
        break;
    default:
        break;
    }
    return expr_equal(arena, a->left, b->left) && expr_equal(arena, a->right, b->right);
}

static bool may_replace(Replacement *replacement, ExprPlace place) {
    const VarSet summed = expr_vars(replacement->part) & ~replacement->kept;
    const VarSet outside = summed & (place.linear ? replacement->left | place.beside : summed);
    // A term without it is not summed over it; the workspace would be.
    const VarSet reduced = replacement->kept & ~replacement->left;
    const VarSet partly = reduced & expr_vars(replacement->part) & ~common_vars(replacement->part);
    replacement->outside |= outside;
    replacement->partly |= place.additive && !outside ? partly : 0;
    if (outside || (place.additive && partly))
        return false;
    replacement->count++;
    return true;
}

static ExprPlace beside_factor(ExprPlace place, const Expr *factor) {
    place.beside |= expr_vars(factor);
    place.additive = false;
    return place;
}

static const Expr *product(Arena *arena, const Expr *whole, const Factors *factors) {
    const Expr *result = factors->items[0];
    for (int64_t i = 1; i < factors->count; i++) {
        Expr *step = arena_new(arena, Expr);
        *step = (Expr){.kind = EXPR_MUL, .span = whole->span, .left = result, .right = factors->items[i]};
        result = step;
    }
    return result;
}

// The product without the factors of the part; `expr` itself where it lacks one of them.
static const Expr *replace_factors(Replacement *replacement, const Expr *expr, ExprPlace place) {
    Arena *arena = replacement->arena;
    Factors some = {0}, all = {0};
    add_factors(arena, replacement->part, &some);
    add_factors(arena, expr, &all);
    if (some.count >= all.count || !take_factors(arena, &some, &all, replacement->by))
        return expr;
    for (int64_t i = 0; i < all.count; i++)
        if (all.items[i] != replacement->by)
            place = beside_factor(place, all.items[i]);
    return may_replace(replacement, place) ? product(arena, expr, &all) : expr;
}

static ExprPlace left_place(const Replacement *replacement, const Expr *expr, ExprPlace place) {
    if (expr->kind == EXPR_MUL)
        return beside_factor(place, expr->right);
    if (expr->kind == EXPR_DIV) {
        place = beside_factor(place, expr->right);
        place.linear &= !replacement->truncates;
    }
    if (expr->kind == EXPR_CALL)
        place.linear = place.additive = false;
    return place;
}

static ExprPlace right_place(const Expr *expr, ExprPlace place) {
    if (expr->kind == EXPR_MUL)
        return beside_factor(place, expr->left);
    if (expr->kind == EXPR_DIV || expr->kind == EXPR_CALL)
        place.linear = place.additive = false;
    return place;
}

static const Expr *replace(Replacement *replacement, const Expr *expr, ExprPlace place) {
    if (!expr)
        return NULL;
    if (expr_equal(replacement->arena, expr, replacement->part))
        return may_replace(replacement, place) ? replacement->by : expr;
    if (expr->kind == EXPR_MUL && replacement->part->kind == EXPR_MUL) {
        const Expr *replaced = replace_factors(replacement, expr, place);
        if (replaced != expr)
            return replace(replacement, replaced, place);
    }
    const Expr *left = replace(replacement, expr->left, left_place(replacement, expr, place));
    const Expr *right = replace(replacement, expr->right, right_place(expr, place));
    if (left == expr->left && right == expr->right)
        return expr;
    Expr *result = arena_copy(replacement->arena, expr, sizeof *expr);
    result->left = left;
    result->right = right;
    return result;
}

const Expr *expr_replace(Replacement *replacement, const Expr *expr) {
    replacement->count = 0;
    replacement->outside = replacement->partly = 0;
    return replace(replacement, expr,
                   (ExprPlace){.linear = !replacement->whole, .additive = !replacement->whole});
}

const Expr *expr_with_vars(Arena *arena, const Expr *expr, const int *ids) {
    if (!expr)
        return NULL;
    Expr *result = arena_copy(arena, expr, sizeof *expr);
    result->bound = 0;
    for (VarSet left = expr->bound; left; left &= left - 1)
        result->bound |= (VarSet)1 << ids[__builtin_ctzll(left)];
    result->left = expr_with_vars(arena, expr->left, ids);
    result->right = expr_with_vars(arena, expr->right, ids);
    if (expr->kind != EXPR_ACCESS)
        return result;
    Access *access = arena_copy(arena, expr->access, sizeof *access);
    for (int m = 0; m < access->tensor->order; m++)
        access->vars[m] = ids[access->vars[m]];
    result->access = access;
    return result;
}
