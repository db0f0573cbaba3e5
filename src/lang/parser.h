// SPDX-License-Identifier: BSD-3-Clause
// The parser's state, shared by the files that each parse one kind of statement. A parse_* function returns
// false after a mistake in syntax, which has been diagnosed; the rest of the statement is then skipped. What
// is well written but wrong is diagnosed and parsed on.
#ifndef DISTAL_LANG_PARSER_H
#define DISTAL_LANG_PARSER_H

#include "lang/limits.h"
#include "lang/program.h"
#include "lang/tokens.h"

typedef enum { NAME_PARAM, NAME_MACHINE, NAME_TENSOR } NameKind;

// Params, machines and tensors share one space of names. Index variables are local to their statement and may
// have any of these names; the place where a name stands says what it is.
typedef struct {
    const char *name;
    Span span;
    NameKind kind;
    bool failed; // its declaration has been diagnosed: what follows from that is not
    int index;   // among those of its kind
} Name;

// A statement as far as it could be read.
typedef struct {
    Statement statement; // its assignment is NULL after a mistake in it
    const char *target;
    int64_t scheduled_at; // number of statements before its schedule block
} ParsedStatement;

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
    Tokens tokens;
    int64_t at;
    bool skip_newlines; // inside brackets
    bool stopped;       // a limit has been reached: what is left reads as the end of the text
    int nesting, operations;
    const ParamOverride *overrides;
    int override_count;
    Array(Name) names;
    Array(Param) params;
    Array(const char *) param_names;
    Array(int64_t) param_values;
    Array(Machine *) machines;
    Array(Tensor *) tensors;
    Array(bool) placed; // by tensor: a `place` names it, right or wrong
    Array(ParsedStatement) statements;
} Parser;

// Reports that a limit of the language is exceeded and reads no further; always false.
bool stop(Parser *parser, Span span, const char *what, int most);

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

const Name *find_name(const Parser *parser, const char *name);
// Declares it, unless the name is taken, which is diagnosed.
bool declare_name(Parser *parser, const Token *token, NameKind kind, int index, bool failed);
// Index of the param, machine or tensor; -1 after a diagnostic, or silently where its declaration failed.
int resolve_name(Parser *parser, const Token *token, NameKind kind);
// " (did you mean 'x'?)", else " (LABEL: x y z)", for the end of a message.
const char *suggestion(Parser *parser, const char *name, const char *label, const char *const *candidates,
                       int64_t count);

// An integer expression over params.
typedef struct {
    const IntExpr *expr;
    bool known; // false where something in it has been diagnosed
    int64_t value;
    Span span;
} Integer;
bool parse_integer(Parser *parser, Integer *integer);
// Value of an expression that parse_integer has found to be known.
int64_t value_of(const Parser *parser, const IntExpr *expr);

bool parse_param(Parser *parser);
bool parse_machine(Parser *parser);
bool parse_tensor(Parser *parser);
bool parse_place(Parser *parser);
bool parse_assignment(Parser *parser);
bool parse_schedule(Parser *parser);
// A right side alone, which ends before token `end`; NULL after a diagnostic that is no mistake in syntax.
bool parse_right_side(Parser *parser, int64_t end, const Assignment **assignment);

#endif
