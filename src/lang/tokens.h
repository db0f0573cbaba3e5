// SPDX-License-Identifier: BSD-3-Clause
// Tokens: names, numbers and marks of a program text, each with its place. Brackets are matched before
// parsing, so that a bracket that is never closed does not affect the statements after it.
#ifndef DISTAL_LANG_TOKENS_H
#define DISTAL_LANG_TOKENS_H

#include "base/diagnostic.h"

typedef enum {
    TOKEN_END,     // of the text
    TOKEN_NEWLINE, // between brackets too; the parser skips it there
    TOKEN_SEMICOLON,
    TOKEN_NAME,
    TOKEN_INTEGER,
    TOKEN_REAL,
    TOKEN_IMAGINARY, // 2i
    TOKEN_OPEN_PAREN,
    TOKEN_CLOSE_PAREN,
    TOKEN_OPEN_BRACE,
    TOKEN_CLOSE_BRACE,
    TOKEN_COMMA,
    TOKEN_COLON,
    TOKEN_ASSIGN,
    TOKEN_ADD_ASSIGN,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_STAR,
    TOKEN_SLASH,
    TOKEN_ARROW,
    TOKEN_DOT,
    TOKEN_TILDE,
    TOKEN_LESS,
    TOKEN_BAD, // has been diagnosed
} TokenKind;

enum { NO_MATCH = -1 };

typedef struct {
    TokenKind kind;
    Span span;
    const char *text; // of names and numbers, NUL-terminated; else where it begins
    int64_t integer;  // of TOKEN_INTEGER
    double real;      // of TOKEN_REAL and TOKEN_IMAGINARY
    int64_t match;    // of brackets: index of the token that it pairs with, or NO_MATCH
    bool adjacent;    // follows the token before it without a space
} Token;

typedef struct {
    int64_t count; // the last one is TOKEN_END
    const Token *items;
} Tokens;

// The words that begin a declaration, which cannot name anything else; *count is set.
const char *const *keywords(int64_t *count);
bool is_keyword(const char *name);

// Characters that cannot be part of a program are diagnosed and become TOKEN_BAD.
Tokens tokenize(Arena *arena, const char *text, Diagnostics *diagnostics);
// The same for a text that begins at that line and column of the source of the diagnostics.
Tokens tokenize_at(Arena *arena, const char *text, int32_t line, int32_t column, Diagnostics *diagnostics);

// Whether a declaration begins at this token: a keyword at the start of a statement, and then a name, or,
// after `repeat`, a number or a parenthesis.
bool token_begins_declaration(const Token *tokens, int64_t index);

// For messages: "'name'", "'->'", "end of line".
const char *token_describe(const Token *token, Arena *arena);

#endif
