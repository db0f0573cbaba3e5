// SPDX-License-Identifier: BSD-3-Clause
#include "index/cin.h"

#include <inttypes.h>
#include <string.h>

// Appends ", n = 3, m = 4": the values of the params in the expression, each once.
static void print_params(const IntExpr *expr, const char *const *names, const int64_t *values, Text *to) {
    if (expr->op == INT_PARAM) {
        const char *param = arena_printf(to->arena, ", %s = ", names[expr->value]);
        if (!strstr(text_string(to), param))
            text_printf(to, "%s%" PRId64, param, values[expr->value]);
    }
    if (expr->left) {
        print_params(expr->left, names, values, to);
        print_params(expr->right, names, values, to);
    }
}

// "expected a number that is at least 1, but n / 4 is 0, where n = 3"
static bool refuse_number(const Relation *relation, const IntExpr *expr, const char *const *names,
                          const int64_t *values, Diagnostics *diagnostics) {
    Text text = text_create(diagnostics->arena), where = text_create(diagnostics->arena);
    int64_t number;
    int_print(expr, (IntNames){.params = names}, &text);
    if (int_eval(expr, values, NULL, &number))
        text_printf(&text, " is %" PRId64, number);
    else
        text_append(&text, " overflows 64 bits or divides by a number that is not positive");
    print_params(expr, names, values, &where);
    return diagnostics_error(diagnostics, relation->span,
                             "cannot %s: expected a number that is at least 1, but %s%s%s",
                             relation->kind->name, text_string(&text), expr->left ? ", where" : "",
                             expr->left ? text_string(&where) + 1 : "");
}

static bool check_params(const Expr *expr, const int64_t *values, Diagnostics *diagnostics) {
    if (!expr)
        return true;
    const int64_t value = expr->param ? values[expr->param->value] : 0;
    if (value < INT32_MIN || value > INT32_MAX)
        return diagnostics_error(diagnostics, expr->span,
                                 "'%s' is %" PRId64
                                 ", which does not fit into i32, the type that the statement computes in",
                                 expr->param_name, value);
    return check_params(expr->left, values, diagnostics) && check_params(expr->right, values, diagnostics);
}

bool cin_check_numbers(const Cin *cin, const char *const *names, const int64_t *values,
                       Diagnostics *diagnostics) {
    if (assignment_type(cin->assignment) == TYPE_I32 &&
        !check_params(cin->assignment->rhs, values, diagnostics))
        return false;
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        for (int n = 0; n < relation->kind->numbers; n++) {
            int64_t number;
            if (!int_eval(relation->numbers[n], values, NULL, &number) || number < 1)
                return refuse_number(relation, relation->numbers[n], names, values, diagnostics);
        }
    }
    return true;
}
