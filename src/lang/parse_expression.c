// SPDX-License-Identifier: BSD-3-Clause
// Right sides: operators, numbers, calls of functions and explicit reductions.
#include "lang/parse_assignment.h"

#include <string.h>

// Makes the value of a param of the name. False for any other name.
static bool take_param(const AssignmentState *state, const Token *name, Expr *expr) {
    Parser *parser = state->parser;
    Name declared;
    if (!build_find(parser->build, name->text, &declared) || declared.kind != NAME_PARAM || declared.failed)
        return false;
    *expr = (Expr){.kind = EXPR_NUMBER,
                   .span = name->span,
                   .number_is_integer = true,
                   .param = int_param(parser->arena, declared.param),
                   .param_name = name->text};
    return true;
}

// Diagnoses a name that is an index variable. False for any other name.
static bool refuse_variable(AssignmentState *state, const Token *name) {
    Parser *parser = state->parser;
    Name declared;
    if (build_find(parser->build, name->text, &declared))
        return false;
    for (int v = 0; v < state->assignment->var_count; v++) {
        if (!state->assignment->vars[v].index && strcmp(state->assignment->vars[v].name, name->text) == 0) {
            diagnostics_error(parser->diagnostics, name->span,
                              "'%s' is an index variable; it can index a tensor but has no value of its own",
                              name->text);
            return true;
        }
    }
    return false;
}

// Whether the next parentheses contain arguments of a function rather than indices of a tensor.
static bool looks_called(const Parser *parser) {
    const Token *tokens = parser->tokens.items;
    int64_t last = peek(parser)->match;
    bool names = false, values = false;
    for (int64_t i = parser->at + 1; i < last; i++) {
        Name declared;
        const bool is_name = tokens[i].kind == TOKEN_NAME;
        names |= is_name;
        values |=
            tokens[i].kind == TOKEN_OPEN_PAREN ||
            (is_name && build_find(parser->build, tokens[i].text, &declared) && declared.kind == NAME_TENSOR);
    }
    return last != NO_MATCH && last > parser->at + 1 && (values || !names);
}

static void unknown_function(AssignmentState *state, const Token *name) {
    Parser *parser = state->parser;
    Array(const char *) names = {0};
    for (int i = 0; i < function_count(); i++)
        array_push(parser->arena, names, function_at(i)->name);
    fail(state);
    Reducer reducer;
    if (reducer_by_name(name->text, &reducer)) {
        diagnostics_error(parser->diagnostics, name->span,
                          "'%s' reduces over variables that it lists: %s({i}, x(i))", name->text, name->text);
        return;
    }
    diagnostics_error(parser->diagnostics, name->span, "unknown function '%s'%s", name->text,
                      did_you_mean(parser->arena, name->text, "functions", names.items, names.count));
}

static void wrong_argument_count(AssignmentState *state, const Function *function, int count, Span span) {
    Reducer reducer;
    const bool reduces = count == 1 && reducer_by_name(function->name, &reducer);
    fail(state);
    diagnostics_error(state->parser->diagnostics, span,
                      "'%s' is a function of %s, %s(%s), but %d %s given here%s", function->name,
                      function->arity == 1 ? "one argument" : "two arguments", function->name,
                      function->arguments, count, count == 1 ? "is" : "are",
                      reduces ? arena_printf(state->parser->arena,
                                             "; over the values of i it is %s({i}, x(i))", function->name)
                              : "");
}

// `(a)`, `(a, b)`
static bool parse_call(AssignmentState *state, const Token *name, const Function *function, Expr *expr) {
    Parser *parser = state->parser;
    const Expr *arguments[2] = {NULL, NULL};
    int count = 0;
    if (peek(parser)->kind != TOKEN_OPEN_PAREN) {
        fail(state);
        diagnostics_error(parser->diagnostics, name->span, "'%s' is a function: %s(%s)", name->text,
                          name->text, function->arguments);
        return true;
    }
    if (!count_operation(parser, name->span))
        return false;
    List list = list_open(parser);
    while (list_next(&list)) {
        const Expr *argument;
        if (!parse_expression(state, &argument))
            return false;
        if (count < 2)
            arguments[count] = argument;
        count++;
    }
    if (!list_close(&list, "',', ')' or an operator"))
        return false;
    *expr = (Expr){.kind = EXPR_CALL,
                   .span = span_join(name->span, list.span),
                   .function = function,
                   .left = arguments[0],
                   .right = arguments[1]};
    if (count != function->arity)
        wrong_argument_count(state, function, count, expr->span);
    return true;
}

static bool parse_access(AssignmentState *state, const Token *name, Expr *expr) {
    Parser *parser = state->parser;
    Name declared;
    const bool has_indices = peek(parser)->kind == TOKEN_OPEN_PAREN;
    if (has_indices && !build_find(parser->build, name->text, &declared) && looks_called(parser)) {
        skip_brackets(parser);
        unknown_function(state, name);
        return true;
    }
    if (!has_indices && take_param(state, name, expr))
        return true;
    if (!has_indices && refuse_variable(state, name)) {
        fail(state);
        return true;
    }
    Indices indices = {0};
    Span span = name->span;
    if (!parse_indices(state, &indices, &span))
        return false;
    expr->kind = EXPR_ACCESS;
    expr->span = span;
    expr->access = make_access(state, name, &indices, span, false);
    return true;
}

// Binds a name that a reduction lists.
static void bind_variable(AssignmentState *state, const Token *name, Expr *expr) {
    Name declared;
    if (build_find(state->parser->build, name->text, &declared) && declared.kind == NAME_PARAM) {
        fail(state);
        diagnostics_error(state->parser->diagnostics, name->span,
                          "'%s' is a param; a reduction is over index variables", name->text);
        return;
    }
    for (VarSet left = expr->bound; left; left &= left - 1) {
        if (strcmp(state->assignment->vars[__builtin_ctzll(left)].name, name->text) != 0)
            continue;
        fail(state);
        diagnostics_error(state->parser->diagnostics, name->span, "'%s' appears twice in the list",
                          name->text);
        return;
    }
    // Reductions that are not inside of each other have the same variable.
    int v = state->assignment->var_count - 1;
    while (v >= 0 && (!((state->bound & ~state->in_scope) >> v & 1) ||
                      strcmp(state->assignment->vars[v].name, name->text) != 0))
        v--;
    if (v < 0)
        v = new_variable(state, name);
    if (v >= 0)
        expr->bound |= (VarSet)1 << v;
}

// `({i, j}, E)`
static bool parse_reduction(AssignmentState *state, const Token *name, Reducer reducer, Expr *expr) {
    Parser *parser = state->parser;
    bool outside;
    if (!count_operation(parser, name->span))
        return false;
    *expr = (Expr){.kind = EXPR_REDUCE, .reducer = reducer};
    enter_brackets(parser, &outside);
    List list = list_open(parser);
    while (list_next(&list)) {
        const Token *variable;
        if (!expect_name(parser, "an index variable", &variable))
            return false;
        bind_variable(state, variable, expr);
    }
    if (!list_close(&list, "',' or '}'") || !expect(parser, TOKEN_COMMA, "',' and what is reduced"))
        return false;
    if (!expr->bound && !state->failed) {
        fail(state);
        diagnostics_error(parser->diagnostics, list.span, "expected the variables that '%s' reduces over",
                          name->text);
    }
    const VarSet around = state->in_scope;
    state->bound |= expr->bound;
    state->in_scope |= expr->bound;
    const bool ok = parse_expression(state, &expr->left);
    state->in_scope = around;
    expr->span = span_join(name->span, peek(parser)->span);
    if (!ok || !leave_brackets(parser, outside, TOKEN_CLOSE_PAREN, "')' or an operator"))
        return false;
    for (VarSet left = expr->bound; left; left &= left - 1) {
        const int v = __builtin_ctzll(left);
        if (state->used >> v & 1 || state->failed)
            continue;
        fail(state);
        diagnostics_error(parser->diagnostics, state->assignment->vars[v].span,
                          "'%s' indexes nothing in this reduction", state->assignment->vars[v].name);
    }
    return true;
}

void name_bound_variables(AssignmentState *state) {
    Assignment *assignment = state->assignment;
    for (VarSet left = state->bound; left; left &= left - 1) {
        const int v = __builtin_ctzll(left);
        const char *stem = assignment->vars[v].name, *name = stem;
        for (int number = 2, other = 0; other < assignment->var_count; other++) {
            const bool named = other < v || !(state->bound >> other & 1);
            if (other == v || !named || strcmp(assignment->vars[other].name, name) != 0)
                continue;
            name = arena_printf(state->parser->arena, "%s_%d", stem, number++);
            other = -1;
        }
        assignment->vars[v].name = name;
    }
}

static bool parse_named(AssignmentState *state, Expr *expr) {
    const Token *name;
    Reducer reducer;
    if (!expect_name(state->parser, "a tensor or a number", &name))
        return false;
    if (reducer_by_name(name->text, &reducer) && peek(state->parser)->kind == TOKEN_OPEN_PAREN &&
        peek_second(state->parser)->kind == TOKEN_OPEN_BRACE)
        return parse_reduction(state, name, reducer, expr);
    const Function *function = function_by_name(name->text);
    return function ? parse_call(state, name, function, expr) : parse_access(state, name, expr);
}

static bool parse_parentheses(AssignmentState *state, const Expr **expr) {
    Parser *parser = state->parser;
    bool outside;
    Span span = peek(parser)->span;
    enter_brackets(parser, &outside);
    if (!parse_expression(state, expr))
        return false;
    // A copy, whose span includes the parentheses.
    Expr *inner = arena_copy(parser->arena, *expr, sizeof **expr);
    inner->span = span_join(span, peek(parser)->span);
    *expr = inner;
    return leave_brackets(parser, outside, TOKEN_CLOSE_PAREN, "')' or an operator");
}

static bool parse_operand(AssignmentState *state, const Expr **result) {
    Parser *parser = state->parser;
    const Token *token = peek(parser);
    if (token->kind == TOKEN_OPEN_PAREN)
        return parse_parentheses(state, result);
    Expr *expr = arena_new(parser->arena, Expr);
    *result = expr;
    expr->span = token->span;
    expr->kind = EXPR_NUMBER;
    switch (token->kind) {
    case TOKEN_NAME:
        return parse_named(state, expr);
    case TOKEN_INTEGER:
    case TOKEN_REAL:
    case TOKEN_IMAGINARY:
        take(parser);
        expr->number_is_imaginary = token->kind == TOKEN_IMAGINARY;
        expr->number_is_integer = token->kind == TOKEN_INTEGER;
        expr->integer = token->integer;
        expr->number = token->kind == TOKEN_INTEGER ? (double)token->integer : token->real;
        return true;
    case TOKEN_MINUS: {
        if (!count_nesting(parser))
            return false;
        take(parser);
        bool ok = parse_operand(state, &expr->left);
        parser->nesting--;
        expr->kind = EXPR_NEG;
        if (ok)
            expr->span = span_join(token->span, expr->left->span);
        return ok;
    }
    case TOKEN_NEWLINE:
        return diagnostics_error(
            parser->diagnostics, token->span,
            "expected a tensor, a number or '(', found end of line (a statement continues on the "
            "next line only inside parentheses)");
    default:
        return expected(parser, "a tensor, a number or '('");
    }
}

// `left op right op ...` where next_level parses an operand and `first` and `second` are the operators.
static bool parse_chain(AssignmentState *state, const Expr **result, TokenKind first, TokenKind second,
                        ExprKind first_kind, ExprKind second_kind,
                        bool (*next_level)(AssignmentState *, const Expr **)) {
    Parser *parser = state->parser;
    if (!next_level(state, result))
        return false;
    while (peek(parser)->kind == first || peek(parser)->kind == second) {
        const Token *mark = take(parser);
        if (!count_operation(parser, mark->span))
            return false;
        Expr *expr = arena_new(parser->arena, Expr);
        expr->kind = mark->kind == first ? first_kind : second_kind;
        expr->left = *result;
        if (!next_level(state, &expr->right))
            return false;
        expr->span = span_join(expr->left->span, expr->right->span);
        *result = expr;
    }
    return true;
}

static bool parse_product(AssignmentState *state, const Expr **expr) {
    return parse_chain(state, expr, TOKEN_STAR, TOKEN_SLASH, EXPR_MUL, EXPR_DIV, parse_operand);
}

bool parse_expression(AssignmentState *state, const Expr **expr) {
    Parser *parser = state->parser;
    if (!count_nesting(parser))
        return false;
    bool ok = parse_chain(state, expr, TOKEN_PLUS, TOKEN_MINUS, EXPR_ADD, EXPR_SUB, parse_product);
    parser->nesting--;
    return ok;
}
