// SPDX-License-Identifier: BSD-3-Clause
#include "index/summation.h"

bool expr_is_sum(const Expr *expr) {
    return expr->kind == EXPR_ADD || expr->kind == EXPR_SUB;
}

void sum_addends(const Expr *sum, void (*visit)(void *context, const Expr *addend), void *context) {
    if (expr_is_sum(sum)) {
        sum_addends(sum->left, visit, context);
        sum_addends(sum->right, visit, context);
    } else if (sum->kind == EXPR_NEG) {
        sum_addends(sum->left, visit, context);
    } else {
        visit(context, sum);
    }
}

typedef struct {
    VarSet any, all;
} AddendVars;

static void combine(void *context, const Expr *addend) {
    AddendVars *vars = context;
    vars->any |= expr_vars(addend);
    vars->all &= expr_vars(addend);
}

bool sum_is_mixed(const Expr *sum, VarSet summed, VarSet *common) {
    AddendVars vars = {.all = ~(VarSet)0};
    sum_addends(sum, combine, &vars);
    if (common)
        *common = vars.all & summed;
    return (vars.any & summed) != (vars.all & summed);
}

// `inside`: the expression is part of a product, a quotient or a call.
static const Expr *find_mixed(const Expr *expr, VarSet *summed, bool inside) {
    if (!expr)
        return NULL;
    if (inside && expr_is_sum(expr) && sum_is_mixed(expr, *summed, NULL))
        return expr;
    VarSet within = *summed & ~expr->bound;
    inside |= !expr_is_sum(expr) && expr->kind != EXPR_NEG;
    const Expr *found = find_mixed(expr->left, &within, inside);
    if (!found)
        found = find_mixed(expr->right, &within, inside);
    *summed = found ? within : *summed;
    return found;
}

const Expr *expr_mixed_sum(const Expr *expr, VarSet left, VarSet *summed) {
    VarSet within = ~left;
    const Expr *found = find_mixed(expr, &within, false);
    if (summed)
        *summed = within;
    return found;
}

const Expr *expr_reduced(Arena *arena, const Expr *expr, Reducer reducer, VarSet bound) {
    Expr *reduction = arena_new(arena, Expr);
    *reduction =
        (Expr){.kind = EXPR_REDUCE, .span = expr->span, .reducer = reducer, .bound = bound, .left = expr};
    return reduction;
}

const Expr *assignment_summand(const Assignment *assignment) {
    const Expr *expr = assignment->rhs;
    const bool replaced = tensor_is_sparse(assignment->lhs->tensor) && !assignment->accumulate;
    while (expr->kind == EXPR_REDUCE && expr->reducer == REDUCER_SUM && assignment->reducer == REDUCER_SUM &&
           (replaced || !assignment_is_update(assignment)))
        expr = expr->left;
    return expr;
}

const Assignment *assignment_stored(Arena *arena, const Assignment *assignment) {
    const Access *lhs = assignment->lhs;
    if (!assignment->accumulate)
        return assignment;
    Assignment *stored = arena_copy(arena, assignment, sizeof *assignment);
    Expr *old = arena_new(arena, Expr), *rhs = arena_new(arena, Expr);
    *old = (Expr){.kind = EXPR_ACCESS, .span = lhs->span, .access = lhs};
    *rhs = (Expr){.kind = EXPR_ADD, .span = assignment->rhs->span, .left = old, .right = assignment->rhs};
    if (assignment->reducer != REDUCER_SUM) {
        const VarSet summed = expr_vars(assignment->rhs) & ~access_vars(lhs);
        rhs->kind = assignment->reducer == REDUCER_PROD ? EXPR_MUL : EXPR_CALL;
        rhs->function = rhs->kind == EXPR_CALL ? function_by_name(reducer_names[assignment->reducer]) : NULL;
        rhs->right = summed ? expr_reduced(arena, assignment->rhs, assignment->reducer, summed) : rhs->right;
    }
    stored->rhs = rhs;
    stored->accumulate = stored->whole = false;
    stored->reducer = REDUCER_SUM;
    return stored;
}
