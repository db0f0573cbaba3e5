// SPDX-License-Identifier: BSD-3-Clause
#include "lang/readings.h"

#include "index/summation.h"

typedef struct {
    Arena *arena;
    Reading reading;
    VarSet left; // variables that are not summed over: those of the left side, and bound ones
} Rewriting;

static const Expr *with_operands(const Rewriting *it, const Expr *expr, const Expr *left, const Expr *right) {
    Expr *copy = arena_copy(it->arena, expr, sizeof *expr);
    copy->left = left;
    copy->right = right;
    return copy;
}

// The expression, summed over these variables.
static const Expr *summed_over(const Rewriting *it, const Expr *expr, VarSet vars) {
    Expr *sum = arena_new(it->arena, Expr);
    *sum =
        (Expr){.kind = EXPR_REDUCE, .span = expr->span, .reducer = REDUCER_SUM, .bound = vars, .left = expr};
    return vars ? sum : expr;
}

// The addends of a sum, each summed over its variables but those that all have.
static const Expr *sum_each(const Rewriting *it, const Expr *expr, VarSet common) {
    if (expr_is_sum(expr) || expr->kind == EXPR_NEG)
        return with_operands(it, expr, sum_each(it, expr->left, common),
                             expr->right ? sum_each(it, expr->right, common) : NULL);
    return summed_over(it, expr, expr_vars(expr) & ~it->left & ~common);
}

// What is inside of a term, with the addends of sums that differ in their variables summed.
static const Expr *sum_addends_inside(const Rewriting *it, const Expr *expr) {
    VarSet common;
    if (!expr)
        return NULL;
    const Rewriting within = {it->arena, it->reading, it->left | expr->bound};
    const Expr *inside = with_operands(it, expr, sum_addends_inside(&within, expr->left),
                                       sum_addends_inside(&within, expr->right));
    return expr_is_sum(expr) && sum_is_mixed(inside, ~it->left, &common) ? sum_each(it, inside, common)
                                                                         : inside;
}

// An expression that is a sum of terms of the statement.
static const Expr *rewrite(const Rewriting *it, const Expr *expr) {
    if (expr_is_sum(expr) || expr->kind == EXPR_NEG)
        return with_operands(it, expr, rewrite(it, expr->left),
                             expr->right ? rewrite(it, expr->right) : NULL);
    if (!expr_mixed_sum(expr, it->left, NULL))
        return expr;
    return it->reading == READ_TERM_SUMMED ? summed_over(it, expr, expr_vars(expr) & ~it->left)
                                           : sum_addends_inside(it, expr);
}

const char *reading_print(Arena *arena, const Assignment *assignment, Reading reading) {
    const Rewriting it = {arena, reading, access_vars(assignment->lhs)};
    Assignment rewritten = *assignment;
    rewritten.rhs = rewrite(&it, assignment->rhs);
    Text text = text_create(arena);
    assignment_print(&rewritten, &text);
    return text_string(&text);
}
