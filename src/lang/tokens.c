// SPDX-License-Identifier: BSD-3-Clause
#include "lang/tokens.h"

#include "base/integer.h"
#include "lang/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
    const char *at, *line_start;
    int32_t column; // where the line starts, from 1
    int32_t line;
    bool after_space;
    int open_squares; // '[' without their ']'
    Array(Token) tokens;
} Lexer;

typedef Array(int64_t) IndexArray;

static const char *const marks[] = {
    [TOKEN_OPEN_PAREN] = "(", [TOKEN_CLOSE_PAREN] = ")", [TOKEN_OPEN_BRACE] = "{", [TOKEN_CLOSE_BRACE] = "}",
    [TOKEN_COMMA] = ",",      [TOKEN_COLON] = ":",       [TOKEN_ASSIGN] = "=",     [TOKEN_ADD_ASSIGN] = "+=",
    [TOKEN_PLUS] = "+",       [TOKEN_MINUS] = "-",       [TOKEN_STAR] = "*",       [TOKEN_SLASH] = "/",
    [TOKEN_ARROW] = "->",     [TOKEN_DOT] = ".",         [TOKEN_TILDE] = "~",      [TOKEN_BAD] = NULL,
    [TOKEN_SEMICOLON] = ";",  [TOKEN_LESS] = "<",
};

const char *const *keywords(int64_t *count) {
    static const char *const words[] = {"param", "machine", "tensor", "place", "schedule", "repeat"};
    *count = sizeof words / sizeof *words;
    return words;
}

bool is_keyword(const char *name) {
    int64_t count;
    const char *const *words = keywords(&count);
    for (int64_t i = 0; i < count; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

// Not <ctype.h>: that depends on the caller's locale, and the language does not.
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_control(char c) {
    return (unsigned char)c < ' ' || c == 0x7f;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

// The end of a line: LF, CR LF or CR.
static bool is_newline(char c) {
    return c == '\n' || c == '\r';
}

static Span span_of(const Lexer *lexer, const char *begin, const char *end) {
    return (Span){lexer->line, (int32_t)(begin - lexer->line_start) + lexer->column, (int32_t)(end - begin)};
}

static Token *push(Lexer *lexer, TokenKind kind, const char *end) {
    Token token = {.kind = kind,
                   .span = span_of(lexer, lexer->at, end),
                   .text = lexer->at,
                   .match = NO_MATCH,
                   .adjacent = !lexer->after_space};
    array_push(lexer->arena, lexer->tokens, token);
    lexer->at = end;
    lexer->after_space = false;
    return &lexer->tokens.items[lexer->tokens.count - 1];
}

static void push_name(Lexer *lexer) {
    const char *end = lexer->at;
    while (is_letter(*end) || is_digit(*end))
        end++;
    size_t length = (size_t)(end - lexer->at);
    Token *token = push(lexer, TOKEN_NAME, end);
    token->text = arena_string(lexer->arena, token->text, length);
    if (length > MAX_NAME_LENGTH) {
        diagnostics_error(lexer->diagnostics, token->span,
                          "this name has %zu characters; at most %d are allowed", length, MAX_NAME_LENGTH);
        token->kind = TOKEN_BAD;
    }
}

static const char *skip_digits(const char *at) {
    while (is_digit(*at))
        at++;
    return at;
}

static void set_integer(Lexer *lexer, Token *token) {
    errno = 0;
    token->integer = strtoll(token->text, NULL, 10);
    if (errno == 0)
        return;
    token->kind = TOKEN_BAD;
    diagnostics_error(lexer->diagnostics, token->span, "%.40s%s does not fit into 64 bits (largest: %lld)",
                      token->text, strlen(token->text) > 40 ? "..." : "", (long long)INT64_MAX);
}

static void set_real(Lexer *lexer, Token *token) {
    const char *end;
    token->real = text_parse_real(token->text, &end);
    if (token->real <= 1.7976931348623157e308)
        return;
    token->kind = TOKEN_BAD;
    diagnostics_error(lexer->diagnostics, token->span, "%.40s%s is too large for a 64-bit real number",
                      token->text, strlen(token->text) > 40 ? "..." : "");
}

static void push_number(Lexer *lexer) {
    const char *end = skip_digits(lexer->at);
    bool real = false;
    if (*end == '.') {
        real = true;
        end = skip_digits(end + 1);
    }
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1;
        if (*exponent == '+' || *exponent == '-')
            exponent++;
        if (is_digit(*exponent)) {
            real = true;
            end = skip_digits(exponent);
        }
    }
    const bool imaginary = *end == 'i';
    end += imaginary;
    const char *number_end = end;
    while (is_letter(*end) || is_digit(*end))
        end++;
    Token *token = push(lexer, imaginary ? TOKEN_IMAGINARY : real ? TOKEN_REAL : TOKEN_INTEGER, end);
    token->text = arena_string(lexer->arena, token->text, (size_t)(end - token->text));
    if (end > number_end) {
        diagnostics_error(
            lexer->diagnostics, token->span,
            "'%.40s' is neither a number nor a name (numbers: 2, 0.5, 1e-3, 2i; a name begins with a letter)",
            token->text);
        token->kind = TOKEN_BAD;
    } else if (real || imaginary) {
        set_real(lexer, token);
    } else {
        set_integer(lexer, token);
    }
}

// Square brackets around indices are one mistake, at the opening one.
static void push_square_bracket(Lexer *lexer) {
    const char mark = *lexer->at;
    Token *token = push(lexer, TOKEN_BAD, lexer->at + 1);
    if (mark == '[' || lexer->open_squares == 0)
        diagnostics_error(lexer->diagnostics, token->span,
                          "unexpected '%c'; indices are written in parentheses, B(i, j)", mark);
    lexer->open_squares += mark == '[' ? 1 : lexer->open_squares > 0 ? -1 : 0;
}

// A run of bytes that no token has is one mistake.
static void push_bad(Lexer *lexer) {
    const char *begin = lexer->at, *end = begin + 1;
    bool ascii = (unsigned char)*begin < 0x80;
    while (((unsigned char)*end < 0x80) == ascii && is_control(*end) == is_control(*begin) && *end &&
           !is_newline(*end) && !is_space(*end) && !is_letter(*end) && !is_digit(*end) &&
           !strchr("(){}[],:;=+-*/.~#<", *end))
        end++;
    Token *token = push(lexer, TOKEN_BAD, end);
    if (!ascii)
        diagnostics_error(lexer->diagnostics, token->span,
                          "only ASCII characters are allowed outside of comments");
    else if (is_control(*begin))
        diagnostics_error(lexer->diagnostics, token->span, "unexpected control character 0x%02x", *begin);
    else
        diagnostics_error(lexer->diagnostics, token->span, "unexpected '%.*s'%s",
                          (int)min_i64(end - begin, 40), begin,
                          *begin == '@' ? "; a product of matrices is written B(i, k) * C(k, j)" : "");
}

// `**` and `^`, which is how other languages write powers.
static void push_power(Lexer *lexer, const char *end) {
    const Token *token = push(lexer, TOKEN_BAD, end);
    diagnostics_error(lexer->diagnostics, token->span,
                      "unexpected '%.*s'; a power of elements is written pow(a, b)", (int)(end - token->text),
                      token->text);
}

static void push_mark(Lexer *lexer) {
    TokenKind best = TOKEN_BAD;
    for (int kind = 0; kind < TOKEN_BAD; kind++) {
        const char *mark = marks[kind];
        if (mark && strncmp(mark, lexer->at, strlen(mark)) == 0 && (best == TOKEN_BAD || mark[1] != '\0'))
            best = (TokenKind)kind;
    }
    if (*lexer->at == '[' || *lexer->at == ']')
        push_square_bracket(lexer);
    else if (*lexer->at == '^' || strncmp(lexer->at, "**", 2) == 0)
        push_power(lexer, lexer->at + (*lexer->at == '^' ? 1 : 2));
    else if (best == TOKEN_BAD)
        push_bad(lexer);
    else
        push(lexer, best, lexer->at + strlen(marks[best]));
}

static void next(Lexer *lexer) {
    char c = *lexer->at;
    if (is_newline(c)) {
        // One place for diagnostics, however lines end.
        push(lexer, TOKEN_NEWLINE, lexer->at + (c == '\r' && lexer->at[1] == '\n' ? 2 : 1))->span.length = 1;
        lexer->line++;
        lexer->open_squares = 0;
        lexer->line_start = lexer->at;
        lexer->column = 1;
        lexer->after_space = true;
    } else if (is_space(c)) {
        lexer->at++;
        lexer->after_space = true;
    } else if (c == '#') {
        lexer->at += strcspn(lexer->at, "\r\n");
    } else if (is_letter(c)) {
        push_name(lexer);
    } else if (is_digit(c) || (c == '.' && is_digit(lexer->at[1]))) {
        push_number(lexer);
    } else {
        push_mark(lexer);
    }
}

static bool is_repeat(const Token *token) {
    return token->kind == TOKEN_NAME && strcmp(token->text, "repeat") == 0;
}

static bool begins_statement(const Token *tokens, int64_t index) {
    const TokenKind before = index > 0 ? tokens[index - 1].kind : TOKEN_NEWLINE;
    return before == TOKEN_NEWLINE || before == TOKEN_SEMICOLON;
}

bool token_begins_declaration(const Token *tokens, int64_t index) {
    if (tokens[index].kind != TOKEN_NAME || !is_keyword(tokens[index].text) ||
        !begins_statement(tokens, index))
        return false;
    const TokenKind after = tokens[index + 1].kind;
    return after == TOKEN_NAME ||
           (is_repeat(&tokens[index]) && (after == TOKEN_INTEGER || after == TOKEN_OPEN_PAREN));
}

static void pair_with_last(Token *tokens, IndexArray *open, int64_t closing, TokenKind opening) {
    if (open->count == 0 || tokens[open->items[open->count - 1]].kind != opening)
        return;
    tokens[closing].match = open->items[--open->count];
    tokens[tokens[closing].match].match = closing;
}

// Pairs a closing bracket; brackets of the other kind that were opened inside remain without a match.
static void close_bracket(Token *tokens, IndexArray *open, int64_t closing) {
    if (tokens[closing].kind == TOKEN_CLOSE_BRACE) {
        while (open->count > 0 && tokens[open->items[open->count - 1]].kind == TOKEN_OPEN_PAREN)
            open->count--;
        pair_with_last(tokens, open, closing, TOKEN_OPEN_BRACE);
    } else {
        if (open->count > 1 && tokens[open->items[open->count - 1]].kind == TOKEN_OPEN_BRACE &&
            tokens[open->items[open->count - 2]].kind == TOKEN_OPEN_PAREN)
            open->count--;
        pair_with_last(tokens, open, closing, TOKEN_OPEN_PAREN);
    }
}

// Whether a name after a newline begins a statement: the token before the newline ends an operand, and inside
// brackets two operands do not follow each other.
static bool begins_line(const Token *tokens, int64_t index) {
    if (tokens[index].kind != TOKEN_NAME || index == 0 || tokens[index - 1].kind != TOKEN_NEWLINE)
        return false;
    while (index > 0 && tokens[index - 1].kind == TOKEN_NEWLINE)
        index--;
    if (index == 0)
        return false;
    TokenKind before = tokens[index - 1].kind;
    return before == TOKEN_NAME || before == TOKEN_INTEGER || before == TOKEN_REAL ||
           before == TOKEN_IMAGINARY || before == TOKEN_CLOSE_PAREN || before == TOKEN_CLOSE_BRACE;
}

static bool ends_parentheses(const Token *tokens, int64_t index) {
    TokenKind kind = tokens[index].kind;
    return kind == TOKEN_SEMICOLON || kind == TOKEN_ASSIGN || kind == TOKEN_ADD_ASSIGN ||
           begins_line(tokens, index);
}

// Pairs brackets. One that is never closed is recognized by a token that cannot be inside, and gets no match.
// The outermost ones may be the braces of repetitions, which have declarations inside.
static void match_brackets(Lexer *lexer) {
    Token *tokens = lexer->tokens.items;
    IndexArray open = {0};
    int64_t repetitions = 0;  // that are open
    bool is_repeated = false; // `repeat` was read, and not yet its brace
    for (int64_t i = 0; i < lexer->tokens.count; i++) {
        TokenKind kind = tokens[i].kind;
        if (is_repeat(&tokens[i]) && open.count == repetitions)
            is_repeated = true;
        if (kind == TOKEN_OPEN_PAREN || kind == TOKEN_OPEN_BRACE) {
            // The parser does not need pairs that are nested more deeply.
            if (open.count < 4 * MAX_NESTING)
                array_push(lexer->arena, open, i);
            if (kind == TOKEN_OPEN_BRACE && is_repeated && open.count == repetitions + 1)
                repetitions++;
            is_repeated &= kind == TOKEN_OPEN_PAREN;
        } else if (kind == TOKEN_CLOSE_PAREN || kind == TOKEN_CLOSE_BRACE) {
            close_bracket(tokens, &open, i);
            repetitions = min_i64(repetitions, open.count);
        } else if (token_begins_declaration(tokens, i)) {
            open.count = repetitions;
        } else if (open.count > 0 && ends_parentheses(tokens, i)) {
            // All from the outermost parenthesis on; a brace around it is a schedule block and stays open.
            int64_t outermost = 0;
            while (outermost < open.count && tokens[open.items[outermost]].kind != TOKEN_OPEN_PAREN)
                outermost++;
            open.count = outermost;
        }
    }
}

Tokens tokenize(Arena *arena, const char *text, Diagnostics *diagnostics) {
    return tokenize_at(arena, text, 1, 1, diagnostics);
}

Tokens tokenize_at(Arena *arena, const char *text, int32_t line, int32_t column, Diagnostics *diagnostics) {
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    Lexer lexer = {.arena = arena,
                   .diagnostics = diagnostics,
                   .at = text,
                   .line_start = text,
                   .line = line,
                   .column = column,
                   .after_space = true};
    if (strncmp(text, byte_order_mark, 3) == 0)
        lexer.at += 3;
    while (*lexer.at && diagnostics->errors < MAX_ERRORS)
        next(&lexer);
    push(&lexer, TOKEN_END, lexer.at);
    match_brackets(&lexer);
    return (Tokens){lexer.tokens.count, lexer.tokens.items};
}

const char *token_describe(const Token *token, Arena *arena) {
    switch (token->kind) {
    case TOKEN_END:
        return "end of the program";
    case TOKEN_NEWLINE:
        return "end of line";
    case TOKEN_NAME:
    case TOKEN_INTEGER:
    case TOKEN_REAL:
    case TOKEN_IMAGINARY:
        return arena_printf(arena, "'%.40s'", token->text);
    case TOKEN_BAD:
        return "this";
    default:
        return arena_printf(arena, "'%s'", marks[token->kind]);
    }
}
