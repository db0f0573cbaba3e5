// SPDX-License-Identifier: BSD-3-Clause
#include "lang/parser.h"

#include <string.h>

// Index of the next token that counts.
static int64_t significant(const Parser *parser, int64_t at) {
    while (parser->skip_newlines && parser->tokens.items[at].kind == TOKEN_NEWLINE)
        at++;
    return at;
}

static bool has_stopped(const Parser *parser) {
    return parser->stopped || parser->diagnostics->errors >= MAX_ERRORS;
}

bool stop(Parser *parser, Span span, const char *what, int most) {
    parser->stopped = true;
    return diagnostics_error(parser->diagnostics, span, "a program has at most %d %s", most, what);
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
    return kind == TOKEN_NEWLINE || kind == TOKEN_SEMICOLON || kind == TOKEN_END;
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

// Where the bracket is never closed, a newline ends the statement all the same.
void enter_brackets(Parser *parser, bool *outside) {
    *outside = parser->skip_newlines;
    parser->skip_newlines = take(parser)->match != NO_MATCH;
}

bool leave_brackets(Parser *parser, bool outside, TokenKind closing, const char *what) {
    bool closed = expect(parser, closing, what);
    parser->skip_newlines = outside;
    return closed;
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

const Name *find_name(const Parser *parser, const char *name) {
    for (int64_t i = 0; i < parser->names.count; i++)
        if (strcmp(parser->names.items[i].name, name) == 0)
            return &parser->names.items[i];
    return NULL;
}

static const char *const kind_names[] = {
    [NAME_PARAM] = "param", [NAME_MACHINE] = "machine", [NAME_TENSOR] = "tensor"};

bool declare_name(Parser *parser, const Token *token, NameKind kind, int index, bool failed) {
    if (kind == NAME_TENSOR && function_by_name(token->text))
        return diagnostics_error(parser->diagnostics, token->span,
                                 "'%s' is a function; choose another name for the tensor", token->text);
    const Name *old = find_name(parser, token->text);
    if (old) {
        if (old->span.line == 0)
            return diagnostics_error(parser->diagnostics, token->span,
                                     "'%s' is built in: the number of processes; choose another name",
                                     token->text);
        diagnostics_error(parser->diagnostics, token->span,
                          "'%s' is already declared as a %s; choose another name", token->text,
                          kind_names[old->kind]);
        diagnostics_note(parser->diagnostics, old->span, "it is declared here");
        return false;
    }
    if (parser->names.count > MAX_NAMES)
        return stop(parser, token->span, "declarations", MAX_NAMES);
    Name name = {token->text, token->span, kind, failed, index};
    array_push(parser->arena, parser->names, name);
    return true;
}

const char *suggestion(Parser *parser, const char *name, const char *label, const char *const *candidates,
                       int64_t count) {
    enum { MOST = 12 };
    const char *close = closest_name(name, candidates, count);
    if (close)
        return arena_printf(parser->arena, " (did you mean '%s'?)", close);
    if (count == 0)
        return arena_printf(parser->arena, " (%s: none)", label);
    Text list = text_create(parser->arena);
    text_printf(&list, " (%s:", label);
    for (int64_t i = 0; i < count && i < MOST; i++)
        text_printf(&list, " %s", candidates[i]);
    text_append(&list, count > MOST ? " ...)" : ")");
    return text_string(&list);
}

// The line of a declaration of this name further down, 0 where there is none.
static int32_t declared_later(const Parser *parser, const char *name, NameKind kind) {
    const Token *tokens = parser->tokens.items;
    for (int64_t i = parser->at; i + 1 < parser->tokens.count; i++)
        if (token_begins_declaration(tokens, i) && strcmp(tokens[i].text, kind_names[kind]) == 0 &&
            strcmp(tokens[i + 1].text, name) == 0)
            return tokens[i].span.line;
    return 0;
}

int resolve_name(Parser *parser, const Token *token, NameKind kind) {
    const Name *name = find_name(parser, token->text);
    if (name && name->failed)
        return -1;
    if (name && name->kind == kind)
        return name->index;
    int32_t later = declared_later(parser, token->text, kind);
    Array(const char *) candidates = {0};
    for (int64_t i = 0; i < parser->names.count; i++)
        if (parser->names.items[i].kind == kind)
            array_push(parser->arena, candidates, parser->names.items[i].name);
    if (name)
        diagnostics_error(parser->diagnostics, token->span, "'%s' is a %s, not a %s", token->text,
                          kind_names[name->kind], kind_names[kind]);
    else if (later)
        diagnostics_error(parser->diagnostics, token->span,
                          "%s '%s' is declared further down, on line %d; a declaration comes before its use",
                          kind_names[kind], token->text, later);
    else
        diagnostics_error(
            parser->diagnostics, token->span, "unknown %s '%s'%s", kind_names[kind], token->text,
            suggestion(parser, token->text, arena_printf(parser->arena, "%ss", kind_names[kind]),
                       candidates.items, candidates.count));
    return -1;
}
