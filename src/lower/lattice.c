// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lattice.h"

#include "index/presence.h"

typedef struct {
    Arena *arena;
    ElementType type;
    int (*operand)(void *context, const Access *access);
    void *context;
} Sets;

static const Set *new_set(Arena *arena, SetKind kind, int operand, const Set *left, const Set *right) {
    Set *set = arena_new(arena, Set);
    *set = (Set){kind, operand, left, right};
    return set;
}

bool set_equal(const Set *a, const Set *b) {
    return a->kind == b->kind &&
           (a->kind == SET_ALL       ? true
            : a->kind == SET_OPERAND ? a->operand == b->operand
                                     : set_equal(a->left, b->left) && set_equal(a->right, b->right));
}

// Whether `part` is a term of `set`, an operation of `kind`.
static bool has_part(const Set *set, SetKind kind, const Set *part) {
    return set_equal(set, part) ||
           (set->kind == kind && (has_part(set->left, kind, part) || has_part(set->right, kind, part)));
}

// The intersection or union, simplified by absorption: a and (a or b) is a, a or (a and b) is a.
static const Set *combine(Arena *arena, SetKind kind, const Set *left, const Set *right) {
    const SetKind other = kind == SET_BOTH ? SET_EITHER : SET_BOTH;
    if (left->kind == SET_ALL)
        return kind == SET_BOTH ? right : left;
    if (right->kind == SET_ALL)
        return kind == SET_BOTH ? left : right;
    if (has_part(left, kind, right) || has_part(right, other, left))
        return left;
    if (has_part(right, kind, left) || has_part(left, other, right))
        return right;
    return new_set(arena, kind, -1, left, right);
}

static const Set *set(const Sets *sets, const Expr *expr) {
    int operand = -1;
    switch (expr_presence(expr, sets->type)) {
    case PRESENT_STORED:
        operand = sets->operand(sets->context, expr->access);
        break;
    case PRESENT_LEFT:
        return set(sets, expr->left);
    case PRESENT_RIGHT:
        return set(sets, expr->right);
    case PRESENT_BOTH:
        return combine(sets->arena, SET_BOTH, set(sets, expr->left), set(sets, expr->right));
    case PRESENT_EITHER:
        return combine(sets->arena, SET_EITHER, set(sets, expr->left), set(sets, expr->right));
    default:
        break;
    }
    return new_set(sets->arena, operand < 0 ? SET_ALL : SET_OPERAND, operand, NULL, NULL);
}

const Set *set_of(Arena *arena, const Expr *expr, ElementType type,
                  int (*operand)(void *context, const Access *access), void *context) {
    const Sets sets = {arena, type, operand, context};
    return set(&sets, expr);
}

bool set_mentions(const Set *set, int operand) {
    return set->kind == SET_OPERAND ? set->operand == operand
                                    : set->kind != SET_ALL && (set_mentions(set->left, operand) ||
                                                               set_mentions(set->right, operand));
}

bool set_requires(const Set *set, int operand) {
    switch (set->kind) {
    case SET_ALL:
        return false;
    case SET_OPERAND:
        return set->operand == operand;
    case SET_BOTH:
        return set_requires(set->left, operand) || set_requires(set->right, operand);
    default:
        return set_requires(set->left, operand) && set_requires(set->right, operand);
    }
}
