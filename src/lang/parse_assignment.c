// SPDX-License-Identifier: BSD-3-Clause
// Assignments in tensor index notation.
#include "lang/check.h"
#include "lang/parser.h"

#include <inttypes.h>
#include <string.h>

// Where a variable indexes a mode alone whose extent differs from that of the first.
typedef struct {
    const Access *access;
    int mode, var;
} Differing;

typedef struct {
    Parser *parser;
    Assignment *assignment;
    bool failed;
    bool has_too_many_variables; // which is diagnosed once
    // The first occurrence of each variable, which gives its extent; NULL: there is none yet.
    const Access *first_access[MAX_VARS];
    int first_mode[MAX_VARS];
    VarSet bound, in_scope; // variables of explicit reductions, and of those around what is parsed
    VarSet used, plain;     // that index something; that index a mode alone
    Ranges ranges;
    int differing_count;
    Differing differing[MAX_VARS];
} AssignmentState;

static bool parse_expression(AssignmentState *state, const Expr **expr);

static void fail(AssignmentState *state) {
    state->failed = true;
}

// Its index; -1 after a diagnostic.
static int add_variable(AssignmentState *state, SourceVar var) {
    Assignment *assignment = state->assignment;
    if (assignment->var_count < MAX_VARS) {
        assignment->vars[assignment->var_count] = var;
        return assignment->var_count++;
    }
    if (!state->has_too_many_variables)
        diagnostics_error(state->parser->diagnostics, var.span, "a statement has at most %d index variables",
                          MAX_VARS);
    state->has_too_many_variables = true;
    fail(state);
    return -1;
}

// A variable that has no extent yet; -1 after a diagnostic.
static int new_variable(AssignmentState *state, const Token *name) {
    return add_variable(state, (SourceVar){.name = name->text, .span = name->span});
}

// The variable that a name stands for here, -1 where there is none: that of the innermost reduction around
// which binds it, or one that none binds.
static int visible_variable(const AssignmentState *state, const char *name) {
    int found = -1;
    for (int v = 0; v < state->assignment->var_count; v++) {
        const VarSet bit = (VarSet)1 << v;
        if (!state->assignment->vars[v].index && strcmp(state->assignment->vars[v].name, name) == 0 &&
            ((state->in_scope & bit) || (found < 0 && !(state->bound & bit))))
            found = v;
    }
    return found;
}

// Index of the variable, which is new if nothing before has this name; -1 after a diagnostic.
static int find_variable(AssignmentState *state, const Token *name) {
    int v = visible_variable(state, name->text);
    if (v < 0)
        v = new_variable(state, name);
    if (v >= 0)
        state->used |= (VarSet)1 << v;
    return v;
}

// Skips an index that is not a name, and diagnoses it.
static bool bad_index(AssignmentState *state) {
    Parser *parser = state->parser;
    const Token *begin = peek(parser), *end = begin;
    TokenKind kind = begin->kind;
    if (kind == TOKEN_NAME && peek_second(parser)->kind == TOKEN_NAME) {
        take(parser);
        return expected(parser, "',' or ')'");
    }
    while (kind != TOKEN_COMMA && kind != TOKEN_CLOSE_PAREN) {
        if (kind == TOKEN_BAD || kind == TOKEN_NEWLINE || kind == TOKEN_SEMICOLON || kind == TOKEN_END ||
            kind == TOKEN_CLOSE_BRACE || kind == TOKEN_ASSIGN || kind == TOKEN_ADD_ASSIGN)
            return expected(parser, "',' or ')'");
        skip_brackets(parser);
        end = &parser->tokens.items[parser->at - 1];
        kind = peek(parser)->kind;
    }
    fail(state);
    if (begin == peek(parser))
        return expected(parser, "an index variable");
    diagnostics_error(parser->diagnostics, span_join(begin->span, end->span),
                      "an index is a variable, or a sum of variables times integers, as 2 * i + 1");
    return true;
}

// Whether the next index is an expression that parse_index reads or diagnoses.
static bool looks_computed(const Parser *parser) {
    const Token *tokens = parser->tokens.items;
    int depth = 0;
    for (int64_t i = parser->at;; i++) {
        const TokenKind kind = tokens[i].kind;
        if (depth == 0 && (kind == TOKEN_COMMA || kind == TOKEN_CLOSE_PAREN))
            return i > parser->at;
        depth += (kind == TOKEN_OPEN_PAREN) - (kind == TOKEN_CLOSE_PAREN);
        const bool is_operand = kind == TOKEN_NAME || kind == TOKEN_INTEGER;
        if (is_operand && (is_keyword(tokens[i].text) || tokens[i + 1].kind == TOKEN_OPEN_PAREN ||
                           tokens[i + 1].kind == TOKEN_NAME || tokens[i + 1].kind == TOKEN_INTEGER))
            return false;
        if (!is_operand && kind != TOKEN_OPEN_PAREN && kind != TOKEN_CLOSE_PAREN && kind != TOKEN_PLUS &&
            kind != TOKEN_MINUS && kind != TOKEN_STAR && kind != TOKEN_SLASH && kind != TOKEN_NEWLINE)
            return false;
    }
}

static bool is_param(const Parser *parser, const Token *name) {
    Name declared;
    return build_find(parser->build, name->text, &declared) && declared.kind == NAME_PARAM;
}

typedef struct {
    int count;
    const Token *names[MAX_ORDER]; // of indices that are one variable; NULL otherwise
    Integer values[MAX_ORDER];     // of the others; without an expression where it has been diagnosed
} Indices;

static bool parse_one_index(AssignmentState *state, const Token **name, Integer *value) {
    Parser *parser = state->parser;
    const Token *token = peek(parser);
    const TokenKind after = peek_second(parser)->kind;
    if (token->kind == TOKEN_NAME && (after == TOKEN_COMMA || after == TOKEN_CLOSE_PAREN) &&
        !is_param(parser, token))
        return expect_name(parser, "an index variable", name);
    if (!looks_computed(parser))
        return bad_index(state);
    if (!parse_index(parser, value))
        return false;
    if (!value->known) {
        value->expr = NULL;
        fail(state);
    } else if (value->term_count == 1 && value->terms[0].value == 1 && value->expr->op == INT_CONST &&
               value->value == 0) {
        *name = value->terms[0].name;
    }
    return true;
}

// `(i, j)`, `()`, or nothing.
static bool parse_indices(AssignmentState *state, Indices *indices, Span *span) {
    Parser *parser = state->parser;
    if (peek(parser)->kind == TOKEN_BAD || peek(parser)->kind == TOKEN_OPEN_BRACE)
        return expected(parser, "'(' and indices");
    if (peek(parser)->kind != TOKEN_OPEN_PAREN)
        return true;
    List list = list_open(parser);
    while (list_next(&list)) {
        const Token *name = NULL;
        Integer value = {0};
        if (!parse_one_index(state, &name, &value))
            return false;
        if (indices->count < MAX_ORDER) {
            indices->names[indices->count] = name;
            indices->values[indices->count] = value;
        }
        indices->count++;
    }
    const bool closed = list_close(&list, "',' or ')'");
    *span = span_join(*span, list.span);
    return closed;
}

static bool wrong_count(AssignmentState *state, const Tensor *tensor, int count, Span span) {
    fail(state);
    if (tensor->order == 0)
        return diagnostics_error(state->parser->diagnostics, span, "'%s' is a scalar and takes no index",
                                 tensor->name);
    return diagnostics_error(state->parser->diagnostics, span, "'%s' has %d mode%s, but %d %s given here",
                             tensor->name, tensor->order, tensor->order == 1 ? "" : "s", count,
                             count == 1 ? "index is" : "indices are");
}

// The variable that an index determines: the one that it has determined before in a mode of the same extent.
static int find_index(AssignmentState *state, const AffineIndex *index, const IntExpr *extent, Span span) {
    Parser *parser = state->parser;
    const char *names[MAX_VARS];
    Text text = text_create(parser->arena);
    for (int v = 0; v < state->assignment->var_count; v++) {
        const SourceVar *var = &state->assignment->vars[v];
        if (var->index && index_equal(var->index, index) && int_equal(var->extent, extent))
            return v;
        names[v] = var->name;
    }
    index_print(index, (IntNames){.params = build_param_names(parser->build), .vars = names}, &text);
    return add_variable(state, (SourceVar){.name = text_string(&text),
                                           .span = span,
                                           .extent = extent,
                                           .index = arena_copy(parser->arena, index, sizeof *index)});
}

static void take_index(AssignmentState *state, Access *access, int mode, const Integer *value) {
    AffineIndex index = {.constant = value->expr};
    access->var_spans[mode] = value->span;
    for (int t = 0; t < value->term_count; t++) {
        const IndexTerm *term = &value->terms[t];
        const int v = find_variable(state, term->name);
        if (v < 0)
            return;
        int at = index.count++;
        for (; at > 0 && index.vars[at - 1] > v; at--) {
            index.vars[at] = index.vars[at - 1];
            index.coefficients[at] = index.coefficients[at - 1];
        }
        index.vars[at] = v;
        index.coefficients[at] = term->coefficient;
    }
    const int v = find_index(state, &index, access->tensor->extents[mode], value->span);
    if (v < 0)
        return;
    access->vars[mode] = v;
    access->indices[mode] = state->assignment->vars[v].index;
}

// A variable with a range may index modes of different extents, as the range says how far it runs, and so may
// one with an index such as i + 1, which stays inside of all of them: then it is an index there. So it is
// where it stands on the left side again.
static void take_variable(AssignmentState *state, Access *access, int mode, const Token *name, bool on_left) {
    Parser *parser = state->parser;
    const IntExpr *extent = access->tensor->extents[mode];
    const int known = state->assignment->var_count, v = find_variable(state, name);
    access->var_spans[mode] = name->span;
    if (v < 0)
        return;
    const Access *first = state->first_access[v];
    const IntExpr *known_extent = first ? first->tensor->extents[state->first_mode[v]] : extent;
    const bool has_range = ranges_find(&state->ranges, name->text) != NULL,
               differs = build_value(parser->build, known_extent) != build_value(parser->build, extent);
    if (differs && !has_range && state->differing_count < MAX_VARS)
        state->differing[state->differing_count++] = (Differing){access, mode, v};
    if (differs || (has_range && !int_equal(known_extent, extent)) || (on_left && v < known)) {
        const Integer alone = {.expr = int_const(parser->arena, 0),
                               .span = name->span,
                               .term_count = 1,
                               .terms = {{name, int_const(parser->arena, 1), 1}}};
        take_index(state, access, mode, &alone);
        return;
    }
    access->vars[mode] = v;
    state->plain |= (VarSet)1 << v;
    if (first)
        return;
    state->first_access[v] = access;
    state->first_mode[v] = mode;
    state->assignment->vars[v].extent = extent;
}

// Modes of different extents that a variable without an index such as i + 1 and without a range indexes
// alone.
static void check_differing(AssignmentState *state) {
    const Assignment *assignment = state->assignment;
    for (int d = 0; d < state->differing_count; d++) {
        const Differing *differing = &state->differing[d];
        bool has_index = false;
        for (int k = 0; k < assignment->var_count; k++) {
            const AffineIndex *index = assignment->vars[k].index;
            has_index |=
                index && index_vars(index) >> differing->var & 1 &&
                (index->count > 1 || !int_equal(index->constant, int_const(state->parser->arena, 0)) ||
                 !int_equal(index->coefficients[0], int_const(state->parser->arena, 1)));
        }
        if (!has_index)
            state->failed |=
                !check_extent(state->parser->build, assignment->vars[differing->var].name,
                              state->first_access[differing->var], state->first_mode[differing->var],
                              differing->access, differing->mode);
    }
}

// The access, or NULL after a diagnostic of what is wrong about it.
static const Access *make_access(AssignmentState *state, const Token *name, const Indices *indices, Span span,
                                 bool on_left) {
    Parser *parser = state->parser;
    if (function_by_name(name->text)) {
        fail(state);
        diagnostics_error(parser->diagnostics, name->span, "'%s' is a function, not a tensor", name->text);
        return NULL;
    }
    Name declared;
    if (!resolve_name(parser, name, NAME_TENSOR, &declared)) {
        fail(state);
        return NULL;
    }
    const Tensor *tensor = declared.tensor;
    if (indices->count != tensor->order) {
        wrong_count(state, tensor, indices->count, span);
        return NULL;
    }
    Access *access = arena_new(parser->arena, Access);
    access->tensor = tensor;
    access->span = span;
    for (int d = 0; d < tensor->order; d++)
        if (indices->names[d])
            take_variable(state, access, d, indices->names[d], on_left);
        else if (indices->values[d].expr)
            take_index(state, access, d, &indices->values[d]);
    return access;
}

// Diagnoses a name that is a param or an index variable. False for any other name.
static bool is_other_name(AssignmentState *state, const Token *name) {
    Parser *parser = state->parser;
    Name declared;
    const bool found = build_find(parser->build, name->text, &declared);
    if (found && declared.kind == NAME_PARAM && !declared.failed) {
        diagnostics_error(parser->diagnostics, name->span,
                          "'%s' is a param, and params do not stand in expressions: declare a scalar, as "
                          "'tensor %s_value: f64', and give its value as an input",
                          name->text, name->text);
        return true;
    }
    if (found)
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
    fail(state);
    diagnostics_error(state->parser->diagnostics, span,
                      "'%s' is a function of %s, %s(%s), but %d %s given here", function->name,
                      function->arity == 1 ? "one argument" : "two arguments", function->name,
                      function->arguments, count, count == 1 ? "is" : "are");
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
    if (peek(parser)->kind == TOKEN_OPEN_PAREN && !build_find(parser->build, name->text, &declared) &&
        looks_called(parser)) {
        skip_brackets(parser);
        unknown_function(state, name);
        return true;
    }
    if (peek(parser)->kind != TOKEN_OPEN_PAREN && is_other_name(state, name)) {
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

// Variables that reductions bind get names of their own: those that others have as well, with a number.
static void name_bound_variables(AssignmentState *state) {
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

static bool parse_expression(AssignmentState *state, const Expr **expr) {
    Parser *parser = state->parser;
    if (!count_nesting(parser))
        return false;
    bool ok = parse_chain(state, expr, TOKEN_PLUS, TOKEN_MINUS, EXPR_ADD, EXPR_SUB, parse_product);
    parser->nesting--;
    return ok;
}

// Whether the next token and a '=' directly behind it are one mark.
static bool is_before_assign(const Parser *parser) {
    return peek_second(parser)->kind == TOKEN_ASSIGN && peek_second(parser)->adjacent;
}

// Whether the next token is `*`, `max` or `min` of `*=`, `max=` or `min=`.
static bool is_reducing_mark(const Parser *parser, Reducer *reducer) {
    if (!is_before_assign(parser))
        return false;
    *reducer = REDUCER_PROD;
    return peek(parser)->kind == TOKEN_STAR ||
           (peek(parser)->kind == TOKEN_NAME && reducer_by_name(peek(parser)->text, reducer) &&
            (*reducer == REDUCER_MAX || *reducer == REDUCER_MIN));
}

// `=`, `+=`, `*=`, `max=` or `min=`; false for anything else.
static bool parse_mark(Parser *parser, Assignment *assignment) {
    if (is_reducing_mark(parser, &assignment->reducer)) {
        take(parser);
        assignment->accumulate = assignment->whole = true;
    } else {
        assignment->reducer = REDUCER_SUM;
        assignment->accumulate = peek(parser)->kind == TOKEN_ADD_ASSIGN;
        if (peek(parser)->kind != TOKEN_ASSIGN && !assignment->accumulate)
            return false;
    }
    take(parser);
    return true;
}

static bool parse_sides(AssignmentState *state, const Token *target) {
    Parser *parser = state->parser;
    Assignment *assignment = state->assignment;
    Indices indices = {0};
    Span span = target->span;
    if (!parse_ranges(parser, &state->ranges) || !parse_indices(state, &indices, &span))
        return false;
    const TokenKind mark = peek(parser)->kind;
    if ((mark == TOKEN_MINUS || mark == TOKEN_SLASH) && is_before_assign(parser))
        return diagnostics_error(parser->diagnostics,
                                 span_join(peek(parser)->span, peek_second(parser)->span),
                                 mark == TOKEN_MINUS ? "there is no '-='; to subtract, write '+= -(...)'"
                                                     : "there is no '/='; to divide, write '*= 1.0 / (...)'");
    if (!parse_mark(parser, assignment))
        return expected(parser, arena_printf(parser->arena, "'=' or '+=' after '%.40s%s'", target->text,
                                             indices.count ? "(...)" : ""));
    assignment->lhs = make_access(state, target, &indices, span, true);
    if (!parse_expression(state, &assignment->rhs))
        return false;
    assignment->span = span_join(span, assignment->rhs->span);
    if (parser->at == state->ranges.at) {
        assignment->span = span_join(span, parser->tokens.items[state->ranges.end - 1].span);
        parser->at = state->ranges.end;
        if (!state->failed && !ranges_add(parser, &state->ranges, assignment))
            fail(state);
    }
    check_differing(state);
    name_bound_variables(state);
    windows_name(parser, assignment);
    if (!state->failed && assignment_window(assignment))
        windows_settle(parser->arena, assignment, state->plain);
    return at_statement_end(parser) || expected(parser, "an operator or the end of the line");
}

// `tensro A(n): f64`
static bool is_misspelled_keyword(Parser *parser, const Token *name) {
    Reducer reducer;
    if (peek(parser)->kind != TOKEN_NAME || is_reducing_mark(parser, &reducer))
        return false;
    int64_t count;
    const char *const *words = keywords(&count);
    diagnostics_error(parser->diagnostics, name->span, "unknown declaration '%s'%s", name->text,
                      did_you_mean(parser->arena, name->text, "declarations", words, count));
    return true;
}

// `split(i, io, ii, 4)` outside of a schedule block
static bool is_stray_command(Parser *parser, const Token *name) {
    const Token *open = peek(parser);
    Name declared;
    if (open->kind != TOKEN_OPEN_PAREN || open->match == NO_MATCH ||
        (build_find(parser->build, name->text, &declared) && declared.kind == NAME_TENSOR))
        return false;
    const Token *after = &parser->tokens.items[open->match + 1];
    if (after->kind != TOKEN_NEWLINE && after->kind != TOKEN_SEMICOLON && after->kind != TOKEN_END &&
        after->kind != TOKEN_CLOSE_BRACE)
        return false;
    diagnostics_error(parser->diagnostics, name->span,
                      "expected a declaration or a statement; a command such as '%s' stands in a block "
                      "'schedule T { ... }'",
                      name->text);
    return true;
}

bool parse_assignment(Parser *parser) {
    const Token *target;
    if (!expect_name(parser, "a declaration or a statement", &target))
        return false;
    if (is_misspelled_keyword(parser, target) || is_stray_command(parser, target))
        return false;
    AssignmentState state = {.parser = parser, .assignment = arena_new(parser->arena, Assignment)};
    parser->nesting = parser->operations = 0;
    const bool ok = parse_sides(&state, target);
    build_statement(parser->build, target->text, ok && !state.failed ? state.assignment : NULL, target->span);
    return ok;
}

bool parse_right_side(Parser *parser, int64_t end, const Assignment **assignment) {
    AssignmentState state = {.parser = parser, .assignment = arena_new(parser->arena, Assignment)};
    parser->nesting = parser->operations = 0;
    *assignment = NULL;
    if (!parse_expression(&state, &state.assignment->rhs))
        return false;
    check_differing(&state);
    name_bound_variables(&state);
    state.assignment->span = state.assignment->rhs->span;
    if (peek(parser) != &parser->tokens.items[end])
        return expected(parser, "',' or an operator");
    if (!state.failed && check_assignment(parser->build, state.assignment))
        *assignment = state.assignment;
    return true;
}
