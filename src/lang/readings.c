// SPDX-License-Identifier: BSD-3-Clause
#include "lang/readings.h"

#include "index/subexpression.h"
#include "index/summation.h"

#include <string.h>

typedef struct {
    const Expr *sum, *access; // a sum that is computed before, and the access that replaces it
} Ahead;

typedef struct {
    const ReadingScope *scope;
    const Assignment *assignment;
    Reading reading;
    VarSet left; // variables of the left side
    bool failed;
    Array(Ahead) ahead;
    Text declarations, statements;
} Rewriting;

static const char *fresh_name(const Rewriting *it) {
    const char *name = "t";
    for (int64_t number = it->ahead.count + 1;; number++) {
        bool taken = !it->scope->is_free(it->scope->context, name);
        for (int64_t i = 0; i < it->ahead.count; i++)
            taken |= strcmp(it->ahead.items[i].access->access->tensor->name, name) == 0;
        if (!taken)
            return name;
        name = arena_printf(it->scope->arena, "t%lld", (long long)number);
    }
}

// Of the type that the statement computes in, but real if the sum is real.
static Tensor *make_tensor(const Rewriting *it, const Expr *sum, VarSet vars, int *ids) {
    Tensor *tensor = arena_new(it->scope->arena, Tensor);
    const ElementType type = assignment_type(it->assignment);
    tensor->name = fresh_name(it);
    tensor->type = type_info(expr_type(sum))->is_complex ? type : type_component(type);
    for (int v = 0; v < it->assignment->var_count; v++) {
        if (!(vars >> v & 1))
            continue;
        if (tensor->order == MAX_ORDER)
            return NULL;
        ids[tensor->order] = v;
        tensor->extents[tensor->order++] = it->assignment->vars[v].extent;
    }
    return tensor;
}

static void print_ahead(Rewriting *it, const Assignment *ahead) {
    const Tensor *tensor = ahead->lhs->tensor;
    text_printf(&it->declarations, "tensor %s", tensor->name);
    for (int d = 0; d < tensor->order; d++) {
        text_append(&it->declarations, d ? ", " : "(");
        int_print(tensor->extents[d], it->scope->names, &it->declarations);
    }
    text_printf(&it->declarations, "%s: %s; ", tensor->order ? ")" : "", type_info(tensor->type)->name);
    assignment_print(ahead, &it->statements);
    text_append(&it->statements, "; ");
}

// An access to a tensor into which a separate statement computes the sum.
static const Expr *compute_ahead(Rewriting *it, const Expr *sum, VarSet vars) {
    Arena *arena = it->scope->arena;
    for (int64_t i = 0; i < it->ahead.count; i++)
        if (expr_equal(arena, it->ahead.items[i].sum, sum))
            return it->ahead.items[i].access;
    Access *access = arena_new(arena, Access);
    access->tensor = make_tensor(it, sum, vars, access->vars);
    if (!access->tensor) {
        it->failed = true;
        return sum;
    }
    Assignment *ahead = arena_copy(arena, it->assignment, sizeof *ahead);
    ahead->lhs = access;
    ahead->rhs = sum;
    ahead->accumulate = false;
    print_ahead(it, ahead);
    Expr *expr = arena_new(arena, Expr);
    *expr = (Expr){.kind = EXPR_ACCESS, .span = sum->span, .access = access};
    array_push(arena, it->ahead, (Ahead){sum, expr});
    return expr;
}

typedef enum { AT_TOP, IN_TERM, IN_SUM } Position; // IN_SUM: of a term, below another sum

static const Expr *rewrite(Rewriting *it, const Expr *expr, Position position) {
    if (!expr || expr->kind == EXPR_ACCESS || expr->kind == EXPR_NUMBER)
        return expr;
    const bool whole_sum = expr_is_sum(expr) && position == IN_TERM;
    if (it->reading == READ_TERM_SUMMED && whole_sum && sum_is_mixed(expr, ~it->left, NULL))
        return compute_ahead(it, expr, expr_vars(expr));
    Position below = IN_TERM;
    if (expr->kind == EXPR_NEG)
        below = position;
    else if (expr_is_sum(expr))
        below = position == AT_TOP ? AT_TOP : IN_SUM;
    Expr *result = arena_copy(it->scope->arena, expr, sizeof *expr);
    result->left = rewrite(it, expr->left, below);
    result->right = rewrite(it, expr->right, below);
    VarSet common;
    if (it->reading == READ_ADDENDS_SUMMED && whole_sum && sum_is_mixed(result, ~it->left, &common))
        return compute_ahead(it, result, (expr_vars(result) & it->left) | common);
    return result;
}

const char *reading_print(const ReadingScope *scope, const Assignment *assignment, Reading reading) {
    Rewriting it = {.scope = scope,
                    .assignment = assignment,
                    .reading = reading,
                    .left = access_vars(assignment->lhs),
                    .declarations = text_create(scope->arena),
                    .statements = text_create(scope->arena)};
    Assignment rewritten = *assignment;
    rewritten.rhs = rewrite(&it, assignment->rhs, AT_TOP);
    assignment_print(&rewritten, &it.statements);
    text_append(&it.declarations, text_string(&it.statements));
    return it.failed ? NULL : text_string(&it.declarations);
}
