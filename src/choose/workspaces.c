// SPDX-License-Identifier: BSD-3-Clause
#include "choose/workspaces.h"

#include "index/subexpression.h"

#include <string.h>

typedef struct {
    const Search *search;
    const Assignment *assignment;
    const DefaultSteps *steps;
    const Expr **expanded; // by step, over variables of the assignment
    bool failed;
} Expansion;

static const Expr *expand(Expansion *expansion, int64_t step, const Expr *expr);

// What the workspace stands for, of which a step before fills it.
static const Expr *expand_access(Expansion *expansion, int64_t step, const Expr *expr) {
    if (expr->access->tensor->id < expansion->search->program->tensor_count)
        return expr;
    for (int64_t s = 0; s < step; s++)
        if (strcmp(expansion->steps->items[s].command.args[3].name, expr->access->tensor->name) == 0)
            return expansion->expanded[s];
    expansion->failed = true;
    return expr;
}

static const Expr *expand(Expansion *expansion, int64_t step, const Expr *expr) {
    if (!expr || expr->kind == EXPR_ACCESS)
        return expr ? expand_access(expansion, step, expr) : NULL;
    Expr *copy = arena_copy(expansion->search->arena, expr, sizeof *copy);
    copy->left = expand(expansion, step, expr->left);
    copy->right = expand(expansion, step, expr->right);
    return copy;
}

// The expression of a step, over the variables of the assignment.
static const Expr *expand_step(Expansion *expansion, int64_t step) {
    const Assignment *written = expansion->steps->items[step].command.args[0].expression;
    int ids[MAX_VARS] = {0};
    for (int v = 0; v < written->var_count; v++) {
        int id = 0;
        while (id < expansion->assignment->var_count &&
               strcmp(expansion->assignment->vars[id].name, written->vars[v].name) != 0)
            id++;
        expansion->failed = expansion->failed || id == expansion->assignment->var_count;
        ids[v] = id;
    }
    if (expansion->failed)
        return written->rhs;
    return expand(expansion, step, expr_with_vars(expansion->search->arena, written->rhs, ids));
}

static Command with_expression(const Expansion *expansion, int64_t step) {
    Arena *arena = expansion->search->arena;
    Command command = expansion->steps->items[step].command;
    Arg *args = arena_copy(arena, command.args, sizeof(Arg) * (size_t)command.arg_count);
    Assignment *expression = arena_copy(arena, expansion->assignment, sizeof *expression);
    const char *names[MAX_VARS];
    Text text = text_create(arena);
    expression->lhs = NULL;
    expression->rhs = expansion->expanded[step];
    for (int v = 0; v < expression->var_count; v++)
        names[v] = expression->vars[v].name;
    expr_print(expression->rhs, names, &text);
    args[0].name = text_string(&text);
    args[0].expression = expression;
    command.args = args;
    return command;
}

void workspaces_write(const Search *search, SearchStatement *statement, const DefaultSteps *steps) {
    Expansion expansion = {.search = search,
                           .assignment = statement->statement->assignment,
                           .steps = steps,
                           .expanded = arena_array(search->arena, const Expr *, steps->count)};
    for (int64_t s = 0; s < steps->count && !expansion.failed; s++)
        expansion.expanded[s] = expand_step(&expansion, s);
    if (expansion.failed || steps->count == 0)
        return;
    Command *commands = arena_array(search->arena, Command, steps->count);
    for (int64_t s = 0; s < steps->count; s++)
        commands[steps->count - 1 - s] = with_expression(&expansion, s);
    statement->default_count = (int)steps->count;
    statement->defaults = commands;
}
