// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/reductions.h"

#include "index/presence.h"
#include "index/summation.h"
#include "schedule/arguments.h"
#include "schedule/updates.h"

#include <string.h>

typedef struct {
    const Expr *reduction, *access; // and what takes its place
} Replaced;

typedef struct {
    Scheduler *scheduler;
    const Assignment *assignment;
    Array(const Assignment *) parts;
    Array(Replaced) replaced;
    bool failed;
} Extraction;

// Whether two expressions are equal, where variable `v` of the first is `ids[v]` of the second.
static bool is_same(const Expr *a, const Expr *b, const int *ids);

static bool is_same_access(const Access *a, const Access *b, const int *ids) {
    bool same = a->tensor == b->tensor;
    for (int m = 0; same && m < a->tensor->order; m++)
        same = ids[a->vars[m]] == b->vars[m];
    return same;
}

// Bound variables correspond in order.
static bool is_same_reduction(const Expr *a, const Expr *b, const int *ids) {
    int inside[MAX_VARS], from = 0, to = 0;
    if (a->reducer != b->reducer || __builtin_popcountll(a->bound) != __builtin_popcountll(b->bound))
        return false;
    memcpy(inside, ids, sizeof inside);
    for (VarSet left = a->bound; left; left &= left - 1) {
        from = __builtin_ctzll(left);
        while (!(b->bound >> to & 1))
            to++;
        inside[from] = to++;
    }
    return is_same(a->left, b->left, inside);
}

static bool is_same(const Expr *a, const Expr *b, const int *ids) {
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case EXPR_ACCESS:
        return is_same_access(a->access, b->access, ids);
    case EXPR_NUMBER:
        return number_equal(a, b);
    case EXPR_REDUCE:
        return is_same_reduction(a, b, ids);
    default:
        return a->function == b->function && is_same(a->left, b->left, ids) &&
               is_same(a->right, b->right, ids);
    }
}

static const Expr *find_replaced(const Extraction *it, const Expr *reduction) {
    int ids[MAX_VARS];
    for (int v = 0; v < MAX_VARS; v++)
        ids[v] = v;
    for (int64_t i = 0; i < it->replaced.count; i++)
        if (is_same(it->replaced.items[i].reduction, reduction, ids))
            return it->replaced.items[i].access;
    return NULL;
}

// Of the type that the statement computes in, but real if the expression is real. NULL after a diagnostic.
static const Access *make_workspace(Extraction *it, const Expr *reduction) {
    Arena *arena = it->scheduler->arena;
    const Assignment *assignment = it->assignment;
    const ElementType type = assignment_type(assignment);
    const VarSet vars = expr_vars(reduction);
    if (__builtin_popcountll(vars) > MAX_ORDER) {
        diagnostics_error(it->scheduler->diagnostics, reduction->span,
                          "this reduction has %d other variables, and a tensor has at most %d modes",
                          __builtin_popcountll(vars), MAX_ORDER);
        return NULL;
    }
    Tensor *workspace = arena_new(arena, Tensor);
    Access *access = arena_new(arena, Access);
    *workspace = (Tensor){
        .id = it->scheduler->symbols.tensor_count + (int)it->scheduler->workspaces.count,
        .name = workspace_name(it->scheduler, arena_printf(arena, "%s_%s", reducer_names[reduction->reducer],
                                                           assignment->lhs->tensor->name)),
        .span = reduction->span,
        .type = type_info(expr_type(reduction))->is_complex ? type : type_component(type)};
    *access = (Access){.tensor = workspace, .span = reduction->span};
    for (VarSet left = vars; left; left &= left - 1) {
        const int v = __builtin_ctzll(left), mode = workspace->order++;
        workspace->extents[mode] = assignment->vars[v].extent;
        workspace->extent_spans[mode] = reduction->span;
        workspace->levels[mode] = level_type_dense();
        workspace->mode_order[mode] = mode;
        access->vars[mode] = v;
        access->var_spans[mode] = reduction->span;
    }
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(arena, it->scheduler->workspaces, workspace);
    return access;
}

// Where operands are sparse, zeros count in all reductions but sums.
static const Expr *combined(const Extraction *it, Reducer reducer, const Expr *rhs) {
    return reducer == REDUCER_SUM
               ? rhs
               : expr_with_zeros(it->scheduler->arena, rhs, assignment_type(it->assignment));
}

static void add_part(Extraction *it, const Access *lhs, Reducer reducer, bool accumulate, const Expr *rhs,
                     bool whole) {
    Assignment *part = arena_copy(it->scheduler->arena, it->assignment, sizeof *part);
    part->lhs = lhs;
    part->reducer = reducer;
    part->accumulate = accumulate;
    part->whole = whole;
    part->rhs = rhs;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(it->scheduler->arena, it->parts, part);
}

// Whether the terms of a sum would be summed over different variables one by one.
static bool is_one_term(const Expr *body, Reducer reducer, VarSet summed) {
    return reducer != REDUCER_SUM || sum_is_mixed(body, summed, NULL);
}

static const Expr *extract(Extraction *it, const Expr *expr);

static const Expr *extract_reduction(Extraction *it, const Expr *reduction) {
    const Expr *known = find_replaced(it, reduction);
    if (known)
        return known;
    const Expr *body = combined(it, reduction->reducer, extract(it, reduction->left));
    const Access *access = it->failed ? NULL : make_workspace(it, reduction);
    if (!access) {
        it->failed = true;
        return reduction;
    }
    add_part(it, access, reduction->reducer, false, body,
             is_one_term(body, reduction->reducer, reduction->bound));
    Expr *by = arena_new(it->scheduler->arena, Expr);
    *by = (Expr){.kind = EXPR_ACCESS, .span = reduction->span, .access = access};
    array_push(it->scheduler->arena, it->replaced, (Replaced){reduction, by});
    return by;
}

// The expression with workspaces in place of reductions; itself where there is none.
static const Expr *extract(Extraction *it, const Expr *expr) {
    if (!expr)
        return NULL;
    if (expr->kind == EXPR_REDUCE)
        return extract_reduction(it, expr);
    const Expr *left = extract(it, expr->left), *right = extract(it, expr->right);
    if (left == expr->left && right == expr->right)
        return expr;
    Expr *copy = arena_copy(it->scheduler->arena, expr, sizeof *expr);
    copy->left = left;
    copy->right = right;
    return copy;
}

// Whether the statement can compute the reduction `rhs` itself, without a workspace: its right side, or the
// operand of one that it computes already, by `reducer`. It can if
// - it combines nothing around it, over other variables or with the old value, or that by the same reducer;
// - the left side holds what it combines, which may be complex;
// - it is a sum, or indices leave out no elements of the left side, which would be zero.
// For sums it says what assignment_summand (index/summation.h) leaves out.
static bool is_made_by_statement(const Assignment *assignment, const Expr *rhs, Reducer reducer) {
    if (rhs->kind != EXPR_REDUCE || assignment_is_update(assignment))
        return false;
    if (rhs->reducer != REDUCER_SUM && !assignment->accumulate && assignment_window(assignment))
        return false;
    const bool combines =
        rhs != assignment->rhs || assignment->accumulate || (expr_vars(rhs) & ~access_vars(assignment->lhs));
    return (!combines || rhs->reducer == reducer) &&
           reducer_takes(rhs->reducer, assignment->lhs->tensor->type);
}

const Cin *schedule_reductions(Scheduler *scheduler, const Assignment *statement) {
    const Assignment *written = schedule_replaced(scheduler, statement),
                     *assignment = schedule_update(scheduler, written);
    Extraction it = {.scheduler = scheduler, .assignment = assignment};
    if (!assignment)
        return NULL;
    const Expr *rhs = assignment->rhs;
    Reducer reducer = assignment->reducer;
    bool whole = assignment->whole;
    while (is_made_by_statement(assignment, rhs, reducer)) {
        reducer = rhs->reducer;
        rhs = rhs->left;
        whole = is_one_term(rhs, reducer, ~access_vars(assignment->lhs));
    }
    rhs = combined(&it, reducer, extract(&it, rhs));
    if (it.failed)
        return NULL;
    if (rhs == written->rhs)
        return cin_create(scheduler->arena, written);
    add_part(&it, assignment->lhs, reducer, assignment->accumulate, rhs, whole);
    return cin_create_parts(scheduler->arena, written, it.parts.items, (int)it.parts.count);
}
