// SPDX-License-Identifier: BSD-3-Clause
#include "index/evaluate_terms.h"

enum { MAX_TERMS = 4096 };

static VarSet bit(int var) {
    return (VarSet)1 << var;
}

static VarSet vars_of_access(const Access *access) {
    VarSet vars = 0;
    for (int mode = 0; mode < access->tensor->order; mode++)
        vars |= bit(access->vars[mode]);
    return vars;
}

static VarSet all_vars(const Expr *expr) {
    if (expr->kind == EXPR_ACCESS)
        return vars_of_access(expr->access);
    return (expr->left ? all_vars(expr->left) : 0) | (expr->right ? all_vars(expr->right) : 0);
}

typedef struct {
    Arena *arena;
    VarSet reducible; // variables that the left side lacks
    bool too_many;
} Expansion;

typedef Array(VarSet) VarSets;

static void add_set(Arena *arena, VarSets *sets, VarSet set) {
    for (int64_t i = 0; i < sets->count; i++)
        if (sets->items[i] == set)
            return;
    array_push(arena, *sets, set);
}

// The different sets of variables that the terms of a full expansion of `expr` are summed over.
static VarSets summed_over(Expansion *expansion, const Expr *expr) {
    VarSets sets = {0};
    // A function is one factor, whatever its arguments are.
    if (expr->kind == EXPR_ACCESS || expr->kind == EXPR_NUMBER || expr->kind == EXPR_CALL) {
        add_set(expansion->arena, &sets, all_vars(expr) & expansion->reducible);
        return sets;
    }
    VarSets left = summed_over(expansion, expr->left);
    if (expr->kind == EXPR_NEG)
        return left;
    VarSets right = {0};
    if (expr->kind == EXPR_DIV)
        add_set(expansion->arena, &right, all_vars(expr->right) & expansion->reducible);
    else
        right = summed_over(expansion, expr->right);
    if (expr->kind == EXPR_ADD || expr->kind == EXPR_SUB) {
        for (int64_t i = 0; i < right.count; i++)
            add_set(expansion->arena, &left, right.items[i]);
        return left;
    }
    for (int64_t i = 0; i < left.count; i++)
        for (int64_t j = 0; j < right.count && sets.count <= MAX_TERMS; j++)
            add_set(expansion->arena, &sets, left.items[i] | right.items[j]);
    return sets;
}

static const Expr *operation(Arena *arena, ExprKind kind, const Expr *left, const Expr *right) {
    Expr *expr = arena_new(arena, Expr);
    expr->kind = kind;
    expr->left = left;
    expr->right = right;
    return expr;
}

// Adds to the addend that is summed over the same variables, where there is one.
static void push(Expansion *expansion, Addends *addends, Addend addend) {
    for (int64_t i = 0; i < addends->count; i++) {
        Addend *old = &addends->items[i];
        if (old->summed != addend.summed)
            continue;
        old->expr = operation(expansion->arena, old->negative == addend.negative ? EXPR_ADD : EXPR_SUB,
                              old->expr, addend.expr);
        return;
    }
    array_push(expansion->arena, *addends, addend);
    expansion->too_many |= addends->count > MAX_TERMS;
}

// Appends the addends of `expr`, multiplied out as far as they are summed over different variables.
static void expand(Expansion *expansion, const Expr *expr, bool negative, Addends *addends) {
    if (expansion->too_many)
        return;
    VarSets sets = summed_over(expansion, expr);
    if (sets.count == 1) {
        push(expansion, addends, (Addend){negative, sets.items[0], expr});
        return;
    }
    if (expr->kind == EXPR_NEG) {
        expand(expansion, expr->left, !negative, addends);
        return;
    }
    if (expr->kind == EXPR_ADD || expr->kind == EXPR_SUB) {
        expand(expansion, expr->left, negative, addends);
        expand(expansion, expr->right, negative != (expr->kind == EXPR_SUB), addends);
        return;
    }
    Addends left = {0}, right = {0};
    expand(expansion, expr->left, false, &left);
    if (expr->kind == EXPR_DIV)
        push(expansion, &right, (Addend){false, all_vars(expr->right) & expansion->reducible, expr->right});
    else
        expand(expansion, expr->right, false, &right);
    for (int64_t i = 0; i < left.count; i++)
        for (int64_t j = 0; j < right.count && !expansion->too_many; j++) {
            Addend l = left.items[i], r = right.items[j];
            push(expansion, addends,
                 (Addend){(negative != l.negative) != r.negative, l.summed | r.summed,
                          operation(expansion->arena, expr->kind, l.expr, r.expr)});
        }
}

bool evaluate_terms(Arena *arena, const Assignment *assignment, Addends *addends) {
    Expansion expansion = {.arena = arena, .reducible = ~vars_of_access(assignment->lhs)};
    expand(&expansion, assignment->rhs, false, addends);
    if (assignment->accumulate) {
        Expr *old = arena_new(arena, Expr);
        old->kind = EXPR_ACCESS;
        old->access = assignment->lhs;
        push(&expansion, addends, (Addend){false, 0, old});
    }
    return !expansion.too_many;
}
