// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/updates.h"

#include "index/summation.h"
#include "schedule/arguments.h"

// What an expression reads outside of explicit reductions, which are computed before anything is written.
typedef struct {
    const Tensor *target;
    bool reads_target;
    const Access *sparse; // the first one of another tensor
} Direct;

static void find_direct(const Expr *expr, Direct *direct) {
    if (!expr || expr->kind == EXPR_REDUCE)
        return;
    if (expr->kind == EXPR_ACCESS) {
        const Tensor *tensor = expr->access->tensor;
        direct->reads_target = direct->reads_target || tensor == direct->target;
        if (tensor != direct->target && !direct->sparse && tensor_is_sparse(tensor))
            direct->sparse = expr->access;
    }
    find_direct(expr->left, direct);
    find_direct(expr->right, direct);
}

static Direct direct_of(const Assignment *assignment, const Expr *expr) {
    Direct direct = {.target = assignment->lhs->tensor};
    find_direct(expr, &direct);
    return direct;
}

static VarSet summed(const Assignment *assignment, const Expr *term) {
    return expr_vars(term) & ~access_vars(assignment->lhs);
}

static const Expr *with_operands(Arena *arena, const Expr *expr, const Expr *left, const Expr *right) {
    Expr *copy = arena_copy(arena, expr, sizeof *expr);
    copy->left = left;
    copy->right = right;
    return copy;
}

static bool is_of_terms(const Expr *expr) {
    return expr_is_sum(expr) || expr->kind == EXPR_NEG;
}

// The expression without an additive term that is the left side itself; NULL: nothing is left.
static const Expr *without_old(Arena *arena, const Assignment *assignment, const Expr *expr, bool negative,
                               bool *found) {
    if (*found)
        return expr;
    if (!is_of_terms(expr)) {
        *found = !negative && expr->kind == EXPR_ACCESS && access_equal(expr->access, assignment->lhs);
        return *found ? NULL : expr;
    }
    const bool minus = expr->kind == EXPR_NEG || expr->kind == EXPR_SUB;
    if (expr->kind == EXPR_NEG) {
        const Expr *inner = without_old(arena, assignment, expr->left, !negative, found);
        return inner ? with_operands(arena, expr, inner, NULL) : NULL;
    }
    const Expr *left = without_old(arena, assignment, expr->left, negative, found);
    const Expr *right = without_old(arena, assignment, expr->right, negative != minus, found);
    if (left && right)
        return with_operands(arena, expr, left, right);
    if (left || !minus)
        return left ? left : right;
    Expr *negated = arena_new(arena, Expr);
    *negated = (Expr){.kind = EXPR_NEG, .span = right->span, .left = right};
    return negated;
}

// Whether an additive term is not summed.
static bool has_elements(const Assignment *assignment, const Expr *expr) {
    if (!is_of_terms(expr))
        return !summed(assignment, expr);
    return has_elements(assignment, expr->left) || (expr->right && has_elements(assignment, expr->right));
}

typedef struct {
    Arena *arena;
    const Assignment *assignment;
    bool all_sums; // none of them is left to the nests of the left side
} Ahead;

static const Expr *term_ahead(const Ahead *ahead, const Expr *term) {
    const Assignment *assignment = ahead->assignment;
    const Direct direct = direct_of(assignment, term);
    const VarSet vars = summed(assignment, term);
    if (vars ? !direct.reads_target && !ahead->all_sums : !direct.sparse)
        return term;
    return expr_reduced(ahead->arena, term, assignment->reducer, vars);
}

static const Expr *terms_ahead(const Ahead *ahead, const Expr *expr) {
    if (!is_of_terms(expr) || ahead->assignment->whole)
        return term_ahead(ahead, expr);
    return with_operands(ahead->arena, expr, terms_ahead(ahead, expr->left),
                         expr->right ? terms_ahead(ahead, expr->right) : NULL);
}

// Keeps the entries of a sparse left side and adds others.
static const Assignment *as_added(Scheduler *scheduler, const Assignment *assignment) {
    bool adds = false;
    const Expr *rest = without_old(scheduler->arena, assignment, assignment->rhs, false, &adds);
    if (assignment->accumulate || !rest || !adds || expr_access_of(rest, assignment->lhs->tensor))
        return assignment;
    Assignment *added = arena_copy(scheduler->arena, assignment, sizeof *assignment);
    added->accumulate = true;
    added->rhs = rest;
    return added;
}

// Whether a sparse left side keeps its entries, at which nothing but its own elements is read that may lack
// some, and nothing is summed.
static bool keeps_entries(const Assignment *assignment) {
    const Direct direct = direct_of(assignment, assignment->rhs);
    return direct.reads_target && !direct.sparse && !summed(assignment, assignment->rhs);
}

// With `old` in place of the left side.
static const Expr *with_old(Arena *arena, const Expr *expr, const Tensor *target, const Tensor *old) {
    if (!expr || !expr_access_of(expr, target))
        return expr;
    if (expr->kind != EXPR_ACCESS)
        return with_operands(arena, expr, with_old(arena, expr->left, target, old),
                             with_old(arena, expr->right, target, old));
    Expr *copy = arena_copy(arena, expr, sizeof *expr);
    Access *access = arena_copy(arena, expr->access, sizeof *expr->access);
    access->tensor = old;
    copy->access = access;
    return copy;
}

// The workspace "old_A", or "old_A2" where that is taken, stored and placed as the left side is. Statements
// that assign the same tensor share it.
static const Tensor *old_workspace(Scheduler *scheduler, const Assignment *assignment) {
    for (int64_t w = 0; w < scheduler->workspaces.count; w++)
        if (scheduler->workspaces.items[w]->old_of == assignment->lhs->tensor)
            return scheduler->workspaces.items[w];
    Tensor *old = arena_copy(scheduler->arena, assignment->lhs->tensor, sizeof *old);
    old->name = workspace_name(scheduler, arena_printf(scheduler->arena, "old_%s", old->name));
    old->id = scheduler->symbols.tensor_count + (int)scheduler->workspaces.count;
    old->old_of = assignment->lhs->tensor;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(scheduler->arena, scheduler->workspaces, old);
    return old;
}

const Assignment *schedule_replaced(Scheduler *scheduler, const Assignment *assignment) {
    Arena *arena = scheduler->arena;
    const Tensor *target = assignment->lhs->tensor;
    if (!tensor_is_sparse(target))
        return assignment;
    const bool adds = assignment->reducer == REDUCER_SUM && !assignment_is_update(assignment);
    const Assignment *stored = adds ? assignment : assignment_stored(arena, assignment);
    if (!assignment_is_update(stored) || keeps_entries(stored))
        return stored;
    const Assignment *added = as_added(scheduler, stored);
    if (added != stored)
        return added;
    Assignment *replaced = arena_copy(arena, stored, sizeof *stored);
    replaced->rhs = with_old(arena, stored->rhs, target, old_workspace(scheduler, stored));
    return replaced;
}

// Where indices or ranges leave elements out, these stay as they are: they are not what a sum computed ahead
// of the rest is over nothing.
static bool check_window(Scheduler *scheduler, const Assignment *assignment, bool ahead) {
    const SourceVar *window = assignment_window(assignment);
    if (!window || !ahead)
        return true;
    diagnostics_error(
        scheduler->diagnostics, window->span,
        "the %s '%s' may leave out elements of '%s', which is not supported where a statement reads what "
        "it writes and sums",
        window->first ? "range" : "index", window->name, assignment->lhs->tensor->name);
    diagnostics_note(scheduler->diagnostics, (Span){0}, "assign the sum to a second tensor before");
    return false;
}

static int count_reductions(const Expr *expr) {
    return expr ? (expr->kind == EXPR_REDUCE) + count_reductions(expr->left) + count_reductions(expr->right)
                : 0;
}

const Assignment *schedule_update(Scheduler *scheduler, const Assignment *assignment) {
    Arena *arena = scheduler->arena;
    if (!assignment_is_update(assignment))
        return assignment;
    if (tensor_is_sparse(assignment->lhs->tensor))
        return assignment; // schedule_replaced leaves those that are made entry by entry
    Assignment *update = arena_copy(arena, assignment, sizeof *assignment);
    bool adds = false;
    if (!update->accumulate) {
        const Expr *rest = without_old(arena, assignment, assignment->rhs, false, &adds);
        update->accumulate = adds && rest;
        update->rhs = update->accumulate ? rest : assignment->rhs;
    }
    const Ahead ahead = {arena, update, !update->accumulate && !has_elements(update, update->rhs)};
    const int written = count_reductions(update->rhs);
    update->rhs = terms_ahead(&ahead, update->rhs);
    return check_window(scheduler, assignment, count_reductions(update->rhs) > written) ? update : NULL;
}
