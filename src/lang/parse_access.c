// SPDX-License-Identifier: BSD-3-Clause
// Accesses of tensors, their indices, and the index variables of a statement.
#include "lang/check.h"
#include "lang/parse_assignment.h"

#include <string.h>

// Its index; -1 after a diagnostic.
static int add_variable(AssignmentState *state, SourceVar var) {
    Assignment *assignment = state->assignment;
    if (assignment->var_count < MAX_VARS) {
        assignment->vars[assignment->var_count] = var;
        return assignment->var_count++;
    }
    if (!state->has_too_many_variables)
        diagnostics_error(state->parser->diagnostics, var.span, TOO_MANY_VARS, MAX_VARS);
    state->has_too_many_variables = true;
    fail(state);
    return -1;
}

int new_variable(AssignmentState *state, const Token *name) {
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

bool parse_indices(AssignmentState *state, Indices *indices, Span *span) {
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

static bool is_constant(const IntExpr *expr, int64_t value) {
    return expr->op == INT_CONST && expr->value == value;
}

// Whether the left side has the variable in this mode as an index, since it has it in a mode before as well.
static bool is_index_on_left(const AssignmentState *state, const Access *access, int mode, int v) {
    const Access *left = state->assignment->lhs;
    if (!left || left->tensor != access->tensor || !left->indices[mode])
        return false;
    const AffineIndex *index = left->indices[mode];
    return index->count == 1 && index->vars[0] == v && is_constant(index->coefficients[0], 1) &&
           is_constant(index->constant, 0);
}

// A variable with a range may index modes of different extents, as the range says how far it runs, and so may
// one with an index such as i + 1, which stays inside of all of them: then it is an index there. So it is
// where it stands on the left side again, and where the right side reads that.
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
    if (differs || (has_range && !int_equal(known_extent, extent)) || (on_left && v < known) ||
        is_index_on_left(state, access, mode, v)) {
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

void check_differing(AssignmentState *state) {
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

const Access *make_access(AssignmentState *state, const Token *name, const Indices *indices, Span span,
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
