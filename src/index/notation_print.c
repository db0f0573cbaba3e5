// SPDX-License-Identifier: BSD-3-Clause
// Index notation as text: as a program has it, so that it can be read back.
#include "index/notation.h"

#include <inttypes.h>

// Where a number or a coefficient that is one is negative, its magnitude, after a minus.
static const IntExpr *print_sign(const IntExpr *number, bool first, Text *to) {
    const bool negative = number->op == INT_CONST && number->value < 0;
    text_append(to, first ? (negative ? "-" : "") : negative ? " - " : " + ");
    return negative ? int_const(to->arena, -number->value) : number;
}

static void print_factor(const IntExpr *factor, IntNames names, Text *to) {
    text_append(to, int_is_primary(factor) ? "" : "(");
    int_print(factor, names, to);
    text_append(to, int_is_primary(factor) ? "" : ")");
}

void index_print(const AffineIndex *index, IntNames names, Text *to) {
    bool first = true;
    // "n - 1 - i" rather than "-i + n - 1"
    const bool leads = index->count > 0 && index->coefficients[0]->op == INT_CONST &&
                       index->coefficients[0]->value < 0 && index->constant->op != INT_CONST;
    if (leads || index->count == 0) {
        int_print(index->constant, names, to);
        first = false;
    }
    for (int i = 0; i < index->count; i++, first = false) {
        const IntExpr *factor = print_sign(index->coefficients[i], first, to);
        if (factor->op != INT_CONST || factor->value != 1) {
            print_factor(factor, names, to);
            text_append(to, " * ");
        }
        text_append(to, names.vars[index->vars[i]]);
    }
    if (leads || index->count == 0 || (index->constant->op == INT_CONST && index->constant->value == 0))
        return;
    const IntExpr *constant = index->constant;
    if (constant->op == INT_SUB && constant->left->op == INT_CONST && constant->left->value == 0) {
        text_append(to, " - ");
        print_factor(constant->right, names, to);
        return;
    }
    int_print(print_sign(constant, false, to), names, to);
}

void access_print(const Access *access, const char *const *names, Text *to) {
    text_append(to, access->tensor->name);
    for (int mode = 0; mode < access->tensor->order; mode++)
        text_printf(to, "%s%s", mode == 0 ? "(" : ", ", names[access->vars[mode]]);
    if (access->tensor->order > 0)
        text_append(to, ")");
}

// How tightly operators bind; nothing binds more than what needs no parentheses, such as an access.
enum { SUMS = 1, PRODUCTS, NEGATED, PRIMARY };
static const int precedences[] = {[EXPR_ACCESS] = PRIMARY, [EXPR_NUMBER] = PRIMARY, [EXPR_ADD] = SUMS,
                                  [EXPR_SUB] = SUMS,       [EXPR_MUL] = PRODUCTS,   [EXPR_DIV] = PRODUCTS,
                                  [EXPR_NEG] = NEGATED,    [EXPR_CALL] = PRIMARY,   [EXPR_REDUCE] = PRIMARY};

static void print_operand(const Expr *expr, int at_least, const char *const *names, Text *to) {
    const bool parentheses = precedences[expr->kind] < at_least;
    text_append(to, parentheses ? "(" : "");
    expr_print(expr, names, to);
    text_append(to, parentheses ? ")" : "");
}

// "max({i, j}, B(i, j))"
static void print_reduction(const Expr *expr, const char *const *names, Text *to) {
    const char *separator = "({";
    text_append(to, reducer_names[expr->reducer]);
    for (int v = 0; v < MAX_VARS; v++) {
        if (!(expr->bound >> v & 1))
            continue;
        text_printf(to, "%s%s", separator, names[v]);
        separator = ", ";
    }
    text_append(to, "}, ");
    expr_print(expr->left, names, to);
    text_append(to, ")");
}

void expr_print(const Expr *expr, const char *const *names, Text *to) {
    static const char *const infix[] = {
        [EXPR_ADD] = " + ", [EXPR_SUB] = " - ", [EXPR_MUL] = " * ", [EXPR_DIV] = " / "};
    switch (expr->kind) {
    case EXPR_ACCESS:
        access_print(expr->access, names, to);
        return;
    case EXPR_NUMBER:
        if (expr->param)
            text_append(to, expr->param_name);
        else if (expr->number_is_integer)
            text_printf(to, "%" PRId64, expr->integer);
        else if (!expr->number_is_imaginary)
            text_append_real_literal(to, expr->number);
        else {
            text_append_real(to, expr->number, false);
            text_append(to, "i");
        }
        return;
    case EXPR_NEG:
        text_append(to, "-");
        print_operand(expr->left, NEGATED, names, to);
        return;
    case EXPR_CALL:
        text_printf(to, "%s(", expr->function->name);
        expr_print(expr->left, names, to);
        if (expr->right) {
            text_append(to, ", ");
            expr_print(expr->right, names, to);
        }
        text_append(to, ")");
        return;
    case EXPR_REDUCE:
        print_reduction(expr, names, to);
        return;
    default:
        print_operand(expr->left, precedences[expr->kind], names, to);
        text_append(to, infix[expr->kind]);
        print_operand(expr->right, precedences[expr->kind] + 1, names, to);
    }
}

const char *assignment_mark(bool accumulate, Reducer reducer) {
#define SPACED(NAME, name, mark) " " mark " ",
    static const char *const marks[] = {REDUCERS(SPACED)};
#undef SPACED
    return accumulate ? marks[reducer] : " = ";
}

void assignment_print(const Assignment *assignment, Text *to) {
    const char *names[MAX_VARS] = {0};
    for (int v = 0; v < assignment->var_count; v++)
        names[v] = assignment->vars[v].name;
    access_print(assignment->lhs, names, to);
    text_append(to, assignment_mark(assignment->accumulate, assignment->reducer));
    expr_print(assignment->rhs, names, to);
    const char *before = " for ";
    for (int v = 0; v < assignment->var_count; v++) {
        if (!assignment->vars[v].first)
            continue;
        text_printf(to, "%s%s", before, names[v]);
        before = ", ";
    }
}
