// SPDX-License-Identifier: BSD-3-Clause
// Assignments in tensor index notation: the two sides, the mark between them, and the ranges behind them.
#include "lang/parse_assignment.h"

#include "lang/check.h"

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
