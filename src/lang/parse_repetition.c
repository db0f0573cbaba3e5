// SPDX-License-Identifier: BSD-3-Clause
// Repetitions: `repeat N { statements }`, and `repeat N { statements } until EXPR < NUMBER`.
#include "lang/parser.h"

#include <string.h>

static bool is_until(const Token *token) {
    return token->kind == TOKEN_NAME && strcmp(token->text, "until") == 0;
}

// Index of the '<' of a condition; -1 where there is none up to the end of the statement.
static int64_t find_less(const Parser *parser) {
    const Token *tokens = parser->tokens.items;
    int64_t i = peek(parser) - tokens;
    while (tokens[i].kind != TOKEN_NEWLINE && tokens[i].kind != TOKEN_SEMICOLON &&
           tokens[i].kind != TOKEN_END && tokens[i].kind != TOKEN_CLOSE_BRACE) {
        if (tokens[i].kind == TOKEN_LESS)
            return i;
        i = tokens[i].match > i ? tokens[i].match + 1 : i + 1;
    }
    return -1;
}

static bool parse_limit(Parser *parser, const Expr **limit) {
    const Token *sign = peek(parser);
    const bool is_negative = accept(parser, TOKEN_MINUS);
    const Token *token = peek(parser);
    if (token->kind != TOKEN_INTEGER && token->kind != TOKEN_REAL)
        return expected(parser, "a number");
    take(parser);
    Expr *number = arena_new(parser->arena, Expr);
    *number = (Expr){.kind = EXPR_NUMBER,
                     .span = token->span,
                     .number = token->kind == TOKEN_INTEGER ? (double)token->integer : token->real,
                     .number_is_integer = token->kind == TOKEN_INTEGER,
                     .integer = token->integer};
    *limit = number;
    if (is_negative) {
        Expr *negated = arena_new(parser->arena, Expr);
        *negated = (Expr){.kind = EXPR_NEG, .span = span_join(sign->span, token->span), .left = number};
        *limit = negated;
    }
    return true;
}

static bool parse_condition(Parser *parser, const Assignment **until, const Expr **limit) {
    const int64_t less = find_less(parser);
    if (less < 0) {
        const Token *first = peek(parser);
        return diagnostics_error(
            parser->diagnostics, first->span,
            "expected a condition 'EXPR < NUMBER' after 'until', such as 'sqrt(r) < 1e-6'");
    }
    if (!parse_right_side(parser, less, until))
        return false;
    take(parser);
    return parse_limit(parser, limit);
}

static bool parse_count(Parser *parser, Integer *count) {
    if (peek(parser)->kind == TOKEN_OPEN_BRACE)
        return expected(parser, "how many times, at most, after 'repeat'");
    if (!parse_integer(parser, count))
        return false;
    const Token *open = peek(parser);
    if (is_until(open))
        return diagnostics_error(parser->diagnostics, open->span,
                                 "the condition is evaluated at the end of each round, and stands after the "
                                 "block: 'repeat N { ... } until EXPR < NUMBER'");
    if (open->kind != TOKEN_OPEN_BRACE)
        return expected(parser, "'{' and statements");
    return true;
}

static int depth_of(const Parser *parser) {
    int depth = 0;
    for (int r = parser->repetition; r >= 0; r = parser->build->repetitions.items[r].outer)
        depth++;
    return depth;
}

bool parse_repetition(Parser *parser) {
    const Token *keyword = take(parser);
    Integer count = {0};
    if (depth_of(parser) >= MAX_REPETITIONS)
        return diagnostics_error(parser->diagnostics, keyword->span,
                                 "repetitions are nested more than %d deep", MAX_REPETITIONS);
    if (!parse_count(parser, &count))
        return false;
    const Token *open = take(parser);
    if (open->match == NO_MATCH)
        diagnostics_error(parser->diagnostics, open->span, "this '{' is never closed by a '}'");
    const int64_t errors = parser->diagnostics->errors;
    const int outer = parser->repetition;
    const int own = build_repetition(parser->build, span_join(keyword->span, count.span), outer);
    parser->skip_newlines = false;
    parser->repetition = own;
    parse_statements(parser);
    parser->repetition = outer;
    if (!accept(parser, TOKEN_CLOSE_BRACE))
        return true;
    const Assignment *until = NULL;
    const Expr *limit = NULL;
    if (is_until(peek(parser))) {
        take(parser);
        if (!parse_condition(parser, &until, &limit))
            return false;
    }
    if (count.known && parser->diagnostics->errors == errors)
        build_repeated(parser->build, own, count.expr, until, limit);
    return true;
}
