// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/updates.h"

#include "index/summation.h"

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
    Expr *reduction = arena_new(ahead->arena, Expr);
    *reduction = (Expr){
        .kind = EXPR_REDUCE, .span = term->span, .reducer = assignment->reducer, .bound = vars, .left = term};
    return reduction;
}

static const Expr *terms_ahead(const Ahead *ahead, const Expr *expr) {
    if (!is_of_terms(expr) || ahead->assignment->whole)
        return term_ahead(ahead, expr);
    return with_operands(ahead->arena, expr, terms_ahead(ahead, expr->left),
                         expr->right ? terms_ahead(ahead, expr->right) : NULL);
}

static const Expr *sum_of(Arena *arena, const Expr *left, const Expr *right) {
    Expr *sum = arena_new(arena, Expr);
    *sum = (Expr){.kind = EXPR_ADD, .span = right->span, .left = left, .right = right};
    return sum;
}

const Assignment *schedule_added(Scheduler *scheduler, const Assignment *assignment) {
    if (!tensor_is_sparse(assignment->lhs->tensor) || assignment->accumulate ||
        !(direct_of(assignment, assignment->rhs).sparse || summed(assignment, assignment->rhs)))
        return assignment;
    bool adds = false;
    const Expr *rest = without_old(scheduler->arena, assignment, assignment->rhs, false, &adds);
    if (!rest || !adds || expr_access_of(rest, assignment->lhs->tensor))
        return assignment;
    Assignment *added = arena_copy(scheduler->arena, assignment, sizeof *assignment);
    added->accumulate = true;
    added->rhs = rest;
    return added;
}

// Elements stay where they are, so that nothing but the left side itself says which there are.
static const Assignment *update_entries(Scheduler *scheduler, const Assignment *assignment) {
    const char *name = assignment->lhs->tensor->name;
    const Direct direct = direct_of(assignment, assignment->rhs);
    const VarSet sums = summed(assignment, assignment->rhs);
    if (direct.sparse || sums || !direct.reads_target) {
        diagnostics_error(
            scheduler->diagnostics, direct.sparse ? direct.sparse->span : assignment->rhs->span,
            direct.sparse
                ? "an update of '%s', which is sparse, keeps its entries, and this operand may have others"
                : "an update of '%s', which is sparse, is computed entry by entry, and this is not",
            name);
        diagnostics_note(scheduler->diagnostics, (Span){0},
                         sums && !direct.sparse ? "write sums as explicit reductions, as sum({k}, ...), or "
                                                  "assign to a second tensor and copy that into '%s'"
                                                : "assign to a second tensor and copy that into '%s'",
                         name);
        return NULL;
    }
    if (!assignment->accumulate)
        return assignment;
    Assignment *stored = arena_copy(scheduler->arena, assignment, sizeof *assignment);
    Expr *old = arena_new(scheduler->arena, Expr);
    *old = (Expr){.kind = EXPR_ACCESS, .span = assignment->lhs->span, .access = assignment->lhs};
    stored->rhs = sum_of(scheduler->arena, old, assignment->rhs);
    stored->accumulate = false;
    return stored;
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
        return update_entries(scheduler, assignment);
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
