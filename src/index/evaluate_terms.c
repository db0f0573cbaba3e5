// SPDX-License-Identifier: BSD-3-Clause
#include "index/evaluate_terms.h"

#include "index/presence.h"
#include "index/summation.h"

static VarSet all_vars(const Expr *expr) {
    if (expr->kind == EXPR_ACCESS)
        return access_vars(expr->access);
    const VarSet vars = (expr->left ? all_vars(expr->left) : 0) | (expr->right ? all_vars(expr->right) : 0);
    return expr->kind == EXPR_REDUCE ? vars & ~expr->bound : vars;
}

static const Expr *operation(Arena *arena, ExprKind kind, const Expr *left, const Expr *right) {
    Expr *expr = arena_new(arena, Expr);
    expr->kind = kind;
    expr->left = left;
    expr->right = right;
    return expr;
}

// Adds to the addend that is summed over the same variables, where there is one.
static void push(Arena *arena, Addends *addends, Addend addend) {
    for (int64_t i = 0; i < addends->count; i++) {
        Addend *old = &addends->items[i];
        if (old->summed != addend.summed)
            continue;
        old->expr =
            operation(arena, old->negative == addend.negative ? EXPR_ADD : EXPR_SUB, old->expr, addend.expr);
        return;
    }
    array_push(arena, *addends, addend);
}

// Appends the additive terms of `expr`; those inside a product, a quotient or a function are no terms.
static void expand(Arena *arena, const Expr *expr, VarSet reducible, bool negative, Addends *addends) {
    switch (expr->kind) {
    case EXPR_NEG:
        expand(arena, expr->left, reducible, !negative, addends);
        return;
    case EXPR_ADD:
    case EXPR_SUB:
        expand(arena, expr->left, reducible, negative, addends);
        expand(arena, expr->right, reducible, negative != (expr->kind == EXPR_SUB), addends);
        return;
    default:
        push(arena, addends, (Addend){negative, all_vars(expr) & reducible, expr});
    }
}

bool addends_keep_old(const Assignment *assignment) {
    return assignment->accumulate || (assignment_window(assignment) && assignment_is_update(assignment));
}

Addends evaluate_terms(Arena *arena, const Assignment *written) {
    // Where a sparse left side has no element, that counts as zero.
    const bool counts_zeros = written->reducer != REDUCER_SUM && tensor_is_sparse(written->lhs->tensor);
    const Assignment *assignment = counts_zeros ? assignment_stored(arena, written) : written;
    Addends addends = {0};
    const VarSet reducible = ~access_vars(assignment->lhs);
    const Expr *rhs = assignment_summand(assignment);
    const bool whole = assignment->whole || rhs != assignment->rhs;
    if (assignment->reducer != REDUCER_SUM)
        rhs = expr_with_zeros(arena, rhs, assignment_type(assignment));
    if (whole)
        push(arena, &addends, (Addend){false, all_vars(rhs) & reducible, rhs});
    else
        expand(arena, rhs, reducible, false, &addends);
    if (addends_keep_old(assignment)) {
        Expr *old = arena_new(arena, Expr);
        old->kind = EXPR_ACCESS;
        old->access = assignment->lhs;
        if (whole || assignment_window(assignment))
            array_push(arena, addends, ((Addend){false, 0, old})); // a term of its own
        else
            push(arena, &addends, (Addend){false, 0, old});
    }
    return addends;
}
