// SPDX-License-Identifier: BSD-3-Clause
// The parser's state, shared by the files that each parse one kind of statement. A parse_* function returns
// false after a mistake in syntax, which has been diagnosed; the rest of the statement is then skipped. What
// is well written but wrong is diagnosed and parsed on.
#ifndef DISTAL_LANG_PARSER_H
#define DISTAL_LANG_PARSER_H

#include "lang/fragment.h"
#include "lang/tokens.h"

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
    Tokens tokens;
    int64_t at;
    bool skip_newlines; // inside brackets
    int nesting, operations;
    ProgramBuilder *build; // what has been read
} Parser;

// The token to be read next, and the one after it.
const Token *peek(const Parser *parser);
const Token *peek_second(const Parser *parser);
const Token *take(Parser *parser);
bool accept(Parser *parser, TokenKind kind);
// "expected WHAT, found ..."; always false. Silent on a token that has been diagnosed.
bool expected(Parser *parser, const char *what);
bool expect(Parser *parser, TokenKind kind, const char *what);
bool at_statement_end(const Parser *parser);
bool expect_name(Parser *parser, const char *what, const Token **name);

// Between brackets newlines are skipped: `*outside` keeps what to go back to. The opening one has been seen.
void enter_brackets(Parser *parser, bool *outside);
bool leave_brackets(Parser *parser, bool outside, TokenKind closing, const char *what);
// To the token after the bracket that pairs with the one to be read, or past it alone where there is none.
void skip_brackets(Parser *parser);

// To the end of the statement that began at token `start`, after a mistake in it.
void recover(Parser *parser, int64_t start);

// The declaration of that kind; false after a diagnostic, or silently where the declaration failed.
bool resolve_name(Parser *parser, const Token *token, NameKind kind, Name *name);
// An integer expression over params.
typedef struct {
    const IntExpr *expr;
    bool known; // false where something in it has been diagnosed
    int64_t value;
    Span span;
} Integer;
bool parse_integer(Parser *parser, Integer *integer);

bool parse_param(Parser *parser);
bool parse_machine(Parser *parser);
bool parse_tensor(Parser *parser);
bool parse_place(Parser *parser);
bool parse_assignment(Parser *parser);
// What stands behind the words `tensor` and `place`.
bool parse_tensor_declaration(Parser *parser);
bool parse_arrows(Parser *parser);
// What stands behind the type of a tensor, each after a comma: levels and the order of modes.
bool parse_storage(Parser *parser, Tensor *tensor);
bool parse_schedule(Parser *parser);
// An argument of a command, which ends before a comma or a bracket that closes.
bool parse_argument(Parser *parser, ArgumentKind kind, Arg *arg);
// Names up to the end of the text, without braces.
bool parse_name_list(Parser *parser, Arg *arg);
// Commands up to a brace that closes them, or, where it is not `closed`, to what cannot be one.
void parse_commands(Parser *parser, bool closed, CommandArray *commands);
// `grid(...)` or levels, each with its grid, into a machine that has a name.
bool parse_levels(Parser *parser, Machine *machine, bool *known);
// A right side alone, which ends before token `end`; NULL after a diagnostic that is no mistake in syntax.
bool parse_right_side(Parser *parser, int64_t end, const Assignment **assignment);

#endif
