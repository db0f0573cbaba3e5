// SPDX-License-Identifier: BSD-3-Clause
// The parser's state, shared by the files that each parse one kind of statement. A parse_* function returns
// false after a syntax error, which has been diagnosed; the rest of the statement is then skipped. After
// other mistakes, which are diagnosed as well, parsing continues.
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
    bool in_index;         // an integer may have index variables
    int repetition;        // that statements are read into, -1: none
    ProgramBuilder *build; // the program so far
} Parser;

// The next token, and the one after it.
const Token *peek(const Parser *parser);
const Token *peek_second(const Parser *parser);
const Token *take(Parser *parser);
bool accept(Parser *parser, TokenKind kind);
// Reports "expected WHAT, found ...", unless the next token has been diagnosed. Always false.
bool expected(Parser *parser, const char *what);
bool expect(Parser *parser, TokenKind kind, const char *what);
bool at_statement_end(const Parser *parser);
bool expect_name(Parser *parser, const char *what, const Token **name);

// A list in brackets, the opening one of which is the next token:
//     List list = list_open(parser);
//     while (list_next(&list)) ...          parse an item
//     return list_close(&list, "',' or ')'");
// Newlines inside are skipped. list_close expects the closing bracket and sets `span` to all of the list.
typedef struct {
    Parser *parser;
    Span span;
    TokenKind closing;
    bool begun, not_empty; // not_empty: the first item is expected in any case
    bool outside;
} List;
List list_open(Parser *parser);
bool list_next(List *list);
bool list_close(List *list, const char *what);

// Takes the opening bracket, which is next, and the closing one. Between them newlines are skipped; *outside
// keeps whether they were before.
void enter_brackets(Parser *parser, bool *outside);
bool leave_brackets(Parser *parser, bool outside, TokenKind closing, const char *what);
// Takes all tokens to the bracket that closes the next one, or only the next one if there is no such bracket.
void skip_brackets(Parser *parser);

// Skips to the end of the statement that began at token `start`, after a mistake in it.
void recover(Parser *parser, int64_t start);

// Finds the declaration of that kind. False with a diagnostic, unless the declaration itself was diagnosed.
bool resolve_name(Parser *parser, const Token *token, NameKind kind, Name *name);
// Count the operators and the nesting of an expression. False with a diagnostic beyond the limits;
// count_nesting is undone by parser->nesting--.
bool count_operation(Parser *parser, Span span);
bool count_nesting(Parser *parser);
// An index variable times an integer.
typedef struct {
    const Token *name;
    const IntExpr *coefficient;
    int64_t value; // of the coefficient
} IndexTerm;
// An integer expression over params.
typedef struct {
    const IntExpr *expr;
    bool known; // false after a mistake in it
    int64_t value;
    Span span;
    int term_count; // of an index, which is the sum of these and of the integer; each variable once
    IndexTerm terms[MAX_INDEX_TERMS];
} Integer;
bool parse_integer(Parser *parser, Integer *integer);
// The same with index variables: names that are no params.
bool parse_index(Parser *parser, Integer *index);

// `i in 1 : n - 1`
typedef struct {
    const Token *name;
    Integer first, last; // half open
} VarRange;
typedef struct {
    int count;
    VarRange items[MAX_ORDER];
    int64_t at, end; // tokens: the `for`, -1 where there is none, and what follows the last range
} Ranges;
// Looks ahead for the ranges that a statement ends with. False after a diagnostic.
bool parse_ranges(Parser *parser, Ranges *ranges);
const VarRange *ranges_find(const Ranges *ranges, const char *name); // NULL: there is none
// Gives the variables with these names their ranges. False after a diagnostic.
bool ranges_add(Parser *parser, const Ranges *ranges, Assignment *assignment);
// Names indices and ranges by their texts.
void windows_name(Parser *parser, Assignment *assignment);
// Moves the variables that index no mode alone, which are not in `plain`, so that they begin at 0, and sets
// all extents.
void windows_settle(Arena *arena, Assignment *assignment, VarSet plain);

bool parse_param(Parser *parser);
bool parse_machine(Parser *parser);
bool parse_tensor(Parser *parser);
bool parse_place(Parser *parser);
bool parse_assignment(Parser *parser);
// Parse what follows the words `tensor` and `place`.
bool parse_tensor_declaration(Parser *parser);
bool parse_arrows(Parser *parser);
// What stands behind the type of a tensor, each after a comma: levels and the order of modes.
bool parse_storage(Parser *parser, Tensor *tensor);
bool parse_schedule(Parser *parser);
bool parse_repetition(Parser *parser);
// Statements and declarations up to the end of the text or, in a repetition, to its closing brace.
void parse_statements(Parser *parser);
// An argument of a command, up to a comma or a closing bracket.
bool parse_argument(Parser *parser, ArgumentKind kind, Arg *arg);
// Names up to the end of the text, without braces.
bool parse_name_list(Parser *parser, Arg *arg);
// Commands up to the closing brace, or, if the block is not `closed`, up to the first token that cannot begin
// one.
void parse_commands(Parser *parser, bool closed, CommandArray *commands);
// `grid(...)` or levels, each with its grid, into a machine that has a name.
bool parse_levels(Parser *parser, Machine *machine, bool *known);
// A right side alone, which ends before token `end`. *assignment is NULL after a mistake that is no syntax
// error.
bool parse_right_side(Parser *parser, int64_t end, const Assignment **assignment);

#endif
