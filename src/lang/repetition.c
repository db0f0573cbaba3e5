// SPDX-License-Identifier: BSD-3-Clause
#include "base/integer.h"
#include "lang/check.h"
#include "lang/program.h"

#include <inttypes.h>
#include <string.h>

int program_repetition_at(const Program *program, int statement, int outer) {
    for (int r = 0; r < program->repetition_count; r++)
        if (program->repetitions[r].first == statement && program->repetitions[r].outer == outer)
            return r;
    return -1;
}

static bool is_in(const Repetition *repetition, int statement) {
    return repetition->first <= statement && statement < repetition->last;
}

int program_outermost(const Program *program, int statement) {
    for (int r = 0; r < program->repetition_count; r++)
        if (is_in(&program->repetitions[r], statement))
            return r;
    return -1;
}

int program_innermost(const Program *program, int statement) {
    int innermost = -1;
    for (int r = 0; r < program->repetition_count; r++)
        if (is_in(&program->repetitions[r], statement))
            innermost = r;
    return innermost;
}

int64_t repetition_count(const Repetition *repetition, const int64_t *params) {
    int64_t count = 0;
    int_eval(repetition->count, params, NULL, &count);
    return max_i64(count, 0);
}

int64_t program_executions(const Program *program, int statement, const int64_t *params) {
    int64_t count = 1;
    for (int r = program_innermost(program, statement); r >= 0; r = program->repetitions[r].outer)
        count = saturated_mul(count, repetition_count(&program->repetitions[r], params));
    return count;
}

double repetition_limit(const Repetition *repetition) {
    const Expr *limit = repetition->limit;
    return limit->kind == EXPR_NEG ? -limit->left->number : limit->number;
}

static void print_count(const Program *program, const Repetition *repetition, Text *to) {
    text_append(to, "repeat ");
    int_print(repetition->count, (IntNames){.params = program->param_names}, to);
}

void repetition_print_begin(const Program *program, const Repetition *repetition, Text *to) {
    print_count(program, repetition, to);
    text_append(to, " {");
}

void repetition_print_condition(const Repetition *repetition, Text *to) {
    expr_print(repetition->until->rhs, NULL, to);
    text_append(to, " < ");
    expr_print(repetition->limit, NULL, to);
}

static void print_until(const Repetition *repetition, Text *to) {
    if (!repetition->until)
        return;
    text_append(to, " until ");
    repetition_print_condition(repetition, to);
}

void repetition_print_end(const Repetition *repetition, Text *to) {
    text_append(to, "}");
    print_until(repetition, to);
}

void repetition_print(const Program *program, const Repetition *repetition, Text *to) {
    print_count(program, repetition, to);
    print_until(repetition, to);
}

typedef struct {
    ProgramBuilder *builder;
    const Repetition *repetition;
    bool ok;
} Condition;

static void check_scalar(void *context, const Access *access) {
    Condition *condition = context;
    Diagnostics *diagnostics = condition->builder->diagnostics;
    const Tensor *tensor = access->tensor;
    bool assigned = false;
    for (int s = 0; s < condition->repetition->last; s++) {
        const BuiltStatement *statement = &condition->builder->statements.items[s];
        const Assignment *assignment = statement->statement.assignment; // NULL: a mistake in it was reported
        assigned |= assignment          ? assignment->lhs->tensor == tensor
                    : statement->target ? strcmp(statement->target, tensor->name) == 0
                                        : false;
    }
    if (tensor->order > 0)
        condition->ok =
            diagnostics_error(diagnostics, access->span,
                              "'%s' has indices, but a condition is of scalars: assign what is to "
                              "be compared to one",
                              tensor->name);
    else if (!assigned)
        condition->ok = diagnostics_error(
            diagnostics, access->span,
            "no statement up to the end of the repetition assigns '%s'; a condition is of computed scalars",
            tensor->name);
}

static bool check_condition(ProgramBuilder *builder, const Repetition *repetition) {
    const Expr *expr = repetition->until->rhs;
    Condition condition = {builder, repetition, true};
    expr_accesses(expr, check_scalar, &condition);
    if (condition.ok && type_info(expr_type(expr))->is_complex)
        return diagnostics_error(builder->diagnostics, expr->span,
                                 "complex numbers have no order; compare 'abs(...)'");
    return condition.ok;
}

bool check_repetition(ProgramBuilder *builder, const Repetition *repetition) {
    const int64_t count = build_value(builder, repetition->count);
    if (repetition->first == repetition->last)
        return diagnostics_error(builder->diagnostics, repetition->span,
                                 "there is no statement between the braces that could be repeated");
    if (count < 0)
        return diagnostics_error(builder->diagnostics, repetition->span,
                                 "statements cannot be repeated %" PRId64 " times", count);
    return !repetition->until || check_condition(builder, repetition);
}
