// SPDX-License-Identifier: BSD-3-Clause
#include "lang/parser.h"

#include <string.h>

// Index of the next token; newlines inside brackets are skipped.
static int64_t significant(const Parser *parser, int64_t at) {
    while (parser->skip_newlines && parser->tokens.items[at].kind == TOKEN_NEWLINE)
        at++;
    return at;
}

static bool has_stopped(const Parser *parser) {
    return parser->build->stopped || parser->diagnostics->errors >= MAX_ERRORS;
}

const Token *peek(const Parser *parser) {
    if (has_stopped(parser))
        return &parser->tokens.items[parser->tokens.count - 1];
    return &parser->tokens.items[significant(parser, parser->at)];
}

const Token *peek_second(const Parser *parser) {
    int64_t at = significant(parser, parser->at);
    if (at + 1 < parser->tokens.count)
        at = significant(parser, at + 1);
    return &parser->tokens.items[at];
}

const Token *take(Parser *parser) {
    const Token *token = peek(parser);
    parser->at = token - parser->tokens.items;
    if (token->kind != TOKEN_END)
        parser->at++;
    return token;
}

bool accept(Parser *parser, TokenKind kind) {
    if (peek(parser)->kind != kind)
        return false;
    take(parser);
    return true;
}

bool expected(Parser *parser, const char *what) {
    const Token *found = peek(parser);
    if (found->kind != TOKEN_BAD && !has_stopped(parser))
        diagnostics_error(parser->diagnostics, found->span, "expected %s, found %s", what,
                          token_describe(found, parser->arena));
    return false;
}

bool expect(Parser *parser, TokenKind kind, const char *what) {
    return accept(parser, kind) || expected(parser, what);
}

bool at_statement_end(const Parser *parser) {
    TokenKind kind = peek(parser)->kind;
    return kind == TOKEN_NEWLINE || kind == TOKEN_SEMICOLON || kind == TOKEN_END ||
           (kind == TOKEN_CLOSE_BRACE && parser->repetition >= 0);
}

bool expect_name(Parser *parser, const char *what, const Token **name) {
    const Token *token = peek(parser);
    if (token->kind != TOKEN_NAME)
        return expected(parser, what);
    if (is_keyword(token->text))
        return diagnostics_error(parser->diagnostics, token->span, "expected %s, but '%s' is a reserved word",
                                 what, token->text);
    *name = take(parser);
    return true;
}

// If the bracket is never closed, a newline ends the statement nevertheless.
void enter_brackets(Parser *parser, bool *outside) {
    *outside = parser->skip_newlines;
    parser->skip_newlines = take(parser)->match != NO_MATCH;
}

bool leave_brackets(Parser *parser, bool outside, TokenKind closing, const char *what) {
    bool closed = expect(parser, closing, what);
    parser->skip_newlines = outside;
    return closed;
}

List list_open(Parser *parser) {
    const Token *open = peek(parser);
    List list = {.parser = parser,
                 .span = open->span,
                 .closing = open->kind == TOKEN_OPEN_BRACE ? TOKEN_CLOSE_BRACE : TOKEN_CLOSE_PAREN};
    enter_brackets(parser, &list.outside);
    return list;
}

bool list_next(List *list) {
    const bool first = !list->begun;
    list->begun = true;
    return first ? list->not_empty || peek(list->parser)->kind != list->closing
                 : accept(list->parser, TOKEN_COMMA);
}

bool list_close(List *list, const char *what) {
    list->span = span_join(list->span, peek(list->parser)->span);
    return leave_brackets(list->parser, list->outside, list->closing, what);
}

void skip_brackets(Parser *parser) {
    const Token *token = take(parser);
    if (token->match > parser->at)
        parser->at = token->match + 1;
}

void recover(Parser *parser, int64_t start) {
    const Token *tokens = parser->tokens.items;
    int64_t i = start, mistake = parser->at;
    parser->skip_newlines = false;
    while (tokens[i].kind != TOKEN_END && !(i > start && token_begins_declaration(tokens, i))) {
        TokenKind kind = tokens[i].kind;
        bool ends = kind == TOKEN_NEWLINE || kind == TOKEN_SEMICOLON ||
                    (kind == TOKEN_CLOSE_BRACE && tokens[i].match != NO_MATCH);
        if (i > start && i >= mistake && ends)
            break;
        i = tokens[i].match > i ? tokens[i].match + 1 : i + 1;
    }
    parser->at = i;
}

// The line of a declaration of this name further down, 0 where there is none.
static int32_t declared_later(const Parser *parser, const char *name, NameKind kind) {
    const Token *tokens = parser->tokens.items;
    for (int64_t i = parser->at; i + 1 < parser->tokens.count; i++)
        if (token_begins_declaration(tokens, i) && strcmp(tokens[i].text, name_kinds[kind]) == 0 &&
            strcmp(tokens[i + 1].text, name) == 0)
            return tokens[i].span.line;
    return 0;
}

bool resolve_name(Parser *parser, const Token *token, NameKind kind, Name *name) {
    const bool found = build_find(parser->build, token->text, name);
    if (found && name->failed)
        return false;
    if (found && name->kind == kind)
        return true;
    const int32_t later = declared_later(parser, token->text, kind);
    if (found)
        return diagnostics_error(parser->diagnostics, token->span, "'%s' is a %s, not a %s", token->text,
                                 name_kinds[name->kind], name_kinds[kind]);
    if (later)
        return diagnostics_error(parser->diagnostics, token->span,
                                 "%s '%s' is declared later, on line %d; a declaration comes before its use",
                                 name_kinds[kind], token->text, later);
    const NameArray names = build_names(parser->build, kind, parser->arena);
    const char **candidates = arena_array(parser->arena, const char *, names.count);
    for (int64_t i = 0; i < names.count; i++)
        candidates[i] = names.items[i].name;
    return diagnostics_error(
        parser->diagnostics, token->span, "unknown %s '%s'%s", name_kinds[kind], token->text,
        did_you_mean(parser->arena, token->text, arena_printf(parser->arena, "%ss", name_kinds[kind]),
                     candidates, names.count));
}

bool count_operation(Parser *parser, Span span) {
    return ++parser->operations <= MAX_OPERATIONS ||
           diagnostics_error(parser->diagnostics, span, "an expression has more than %d operators",
                             MAX_OPERATIONS);
}

bool count_nesting(Parser *parser) {
    return ++parser->nesting <= MAX_NESTING ||
           diagnostics_error(parser->diagnostics, peek(parser)->span,
                             "an expression is nested more than %d deep", MAX_NESTING);
}
