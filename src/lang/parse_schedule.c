// SPDX-License-Identifier: BSD-3-Clause
// Schedule blocks. The kind of an argument is determined by its syntax, and the command checks whether it
// takes such an argument. Only tensor expressions and lists that may be empty depend on the row of the
// command in the table.
#include "lang/parser.h"

#include <string.h>

typedef Array(Arg) ArgArray;

// Index of the token after the argument that begins at the next token: a comma, a closing bracket, or a token
// that cannot be part of an argument.
static int64_t argument_end(const Parser *parser) {
    const Token *tokens = parser->tokens.items;
    int64_t i = peek(parser) - tokens;
    for (;;) {
        TokenKind kind = tokens[i].kind;
        if (kind == TOKEN_COMMA || kind == TOKEN_CLOSE_PAREN || kind == TOKEN_CLOSE_BRACE ||
            kind == TOKEN_SEMICOLON || kind == TOKEN_END || (kind == TOKEN_NEWLINE && !parser->skip_newlines))
            return i;
        i = tokens[i].match > i ? tokens[i].match + 1 : i + 1;
    }
}

// Index of the last token before `end` that is not a newline.
static int64_t last_before(const Parser *parser, int64_t end) {
    do
        end--;
    while (end > 0 && parser->tokens.items[end].kind == TOKEN_NEWLINE);
    return end;
}

static bool parse_name_argument(Parser *parser, Arg *arg) {
    const Token *name;
    if (!expect_name(parser, "a name", &name))
        return false;
    *arg = (Arg){.kind = ARG_NAME, .span = name->span, .name = name->text};
    if (accept(parser, TOKEN_DOT)) {
        const Token *level;
        if (!expect_name(parser, "the name of a level after '.'", &level))
            return false;
        arg->level = level->text;
        arg->span = span_join(arg->span, level->span);
        return true;
    }
    Name declared;
    if (build_find(parser->build, name->text, &declared) && declared.kind == NAME_PARAM && !declared.failed)
        arg->value = int_param(parser->arena, declared.param);
    return true;
}

// Names between brackets; the opening one is the next token.
static bool parse_names(Parser *parser, Arg *arg, const char *what) {
    ArgArray items = {0};
    List list = list_open(parser);
    while (list_next(&list)) {
        Arg item;
        if (!parse_name_argument(parser, &item))
            return false;
        if (peek(parser)->kind == TOKEN_OPEN_PAREN && level_format(item.name))
            return diagnostics_error(parser->diagnostics, peek(parser)->span,
                                     "levels of a workspace have no options: a level above 'singleton' is "
                                     "'nonunique' without one");
        array_push(parser->arena, items, item);
    }
    arg->item_count = (int)items.count;
    arg->items = items.items;
    const bool closed = list_close(&list, what);
    arg->span = span_join(arg->span, list.span);
    return closed;
}

bool parse_name_list(Parser *parser, Arg *arg) {
    ArgArray items = {0};
    *arg = (Arg){.kind = ARG_LIST, .span = peek(parser)->span};
    while (peek(parser)->kind != TOKEN_END) {
        Arg item;
        if ((items.count > 0 && !expect(parser, TOKEN_COMMA, "','")) || !parse_name_argument(parser, &item))
            return false;
        arg->span = span_join(arg->span, item.span);
        array_push(parser->arena, items, item);
    }
    arg->item_count = (int)items.count;
    arg->items = items.items;
    return true;
}

// Keeps a tensor expression as text.
static void keep_expression(Parser *parser, Arg *arg, int64_t end) {
    const Token *first = peek(parser), *last = &parser->tokens.items[last_before(parser, end)];
    *arg = (Arg){.kind = ARG_EXPRESSION, .span = span_join(first->span, last->span)};
    Text text = text_create(parser->arena);
    for (int64_t i = first - parser->tokens.items; i < end; i++) {
        const Token *token = &parser->tokens.items[i];
        if (token->kind == TOKEN_NEWLINE)
            continue;
        if (!token->adjacent && text.length > 0)
            text_append(&text, " ");
        text_append_n(&text, token->text, (size_t)token->span.length);
    }
    arg->name = text_string(&text);
    parser->at = end;
}

static bool parse_expression(Parser *parser, Arg *arg, int64_t end) {
    const int64_t begin = parser->at;
    keep_expression(parser, arg, end);
    parser->at = begin;
    return parse_right_side(parser, end, &arg->expression);
}

static bool mentions_tensor(const Parser *parser, int64_t begin, int64_t end) {
    const Token *tokens = parser->tokens.items;
    for (int64_t i = begin; i < end; i++) {
        if (tokens[i].kind == TOKEN_REAL)
            return true;
        if (tokens[i].kind != TOKEN_NAME)
            continue;
        Name name;
        if (tokens[i + 1].kind == TOKEN_OPEN_PAREN ||
            (build_find(parser->build, tokens[i].text, &name) && name.kind == NAME_TENSOR))
            return true;
    }
    return false;
}

static bool has_bad_token(const Parser *parser, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        if (parser->tokens.items[i].kind == TOKEN_BAD)
            return true;
    return false;
}

bool parse_argument(Parser *parser, ArgumentKind kind, Arg *arg) {
    const Token *tokens = parser->tokens.items, *first = peek(parser);
    int64_t begin = first - tokens, end = argument_end(parser), last = last_before(parser, end);
    if (has_bad_token(parser, begin, end))
        return false;
    *arg = (Arg){.kind = ARG_LIST, .span = first->span};
    if (first->kind == TOKEN_OPEN_BRACE) {
        if (!parse_names(parser, arg, "',' or '}'"))
            return false;
        return arg->item_count > 0 || kind == TAKES_VARIABLES ||
               diagnostics_error(parser->diagnostics, arg->span,
                                 "this list is empty; expected at least one name");
    }
    if (kind == TAKES_EXPRESSION)
        return parse_expression(parser, arg, end);
    TokenKind second = last > begin ? peek_second(parser)->kind : TOKEN_END;
    // What follows a name without a comma between is diagnosed after it.
    if (first->kind == TOKEN_NAME && (last == begin || second == TOKEN_DOT || second == TOKEN_NAME ||
                                      second == TOKEN_INTEGER || second == TOKEN_OPEN_BRACE))
        return parse_name_argument(parser, arg);
    if (first->kind == TOKEN_NAME && second == TOKEN_OPEN_PAREN && peek_second(parser)->match == last) {
        take(parser);
        arg->kind = ARG_ACCESS;
        arg->name = first->text;
        return parse_names(parser, arg, "',' or ')'");
    }
    if (mentions_tensor(parser, begin, end)) {
        keep_expression(parser, arg, end);
        return true;
    }
    Integer integer;
    if (!parse_integer(parser, &integer))
        return false;
    arg->kind = ARG_INTEGER;
    arg->span = integer.span;
    arg->value = integer.expr;
    return true;
}

// The kind of argument that the command takes, in its first form: here the forms do not differ.
static ArgumentKind kind_of(const ScheduleCommand *row, int64_t index) {
    return row && index < row->forms[0].count ? row->forms[0].arguments[index].kind : TAKES_LOOP;
}

static bool parse_command(Parser *parser, CommandArray *commands) {
    const Token *name;
    if (!expect_name(parser, "a schedule command", &name))
        return false;
    Command command = {.name = name->text, .span = name->span, .name_span = name->span};
    if (peek(parser)->kind != TOKEN_OPEN_PAREN)
        return expected(parser, arena_printf(parser->arena, "'(' after '%.40s'", name->text));
    const ScheduleCommand *row = schedule_command(name->text);
    ArgArray args = {0};
    List list = list_open(parser);
    while (list_next(&list)) {
        Arg arg;
        if (!parse_argument(parser, kind_of(row, args.count), &arg))
            return false;
        array_push(parser->arena, args, arg);
    }
    if (!list_close(&list, "',' or ')'"))
        return false;
    command.span = span_join(command.span, list.span);
    command.arg_count = (int)args.count;
    command.args = args.items;
    array_push(parser->arena, *commands, command);
    return at_statement_end(parser) || peek(parser)->kind == TOKEN_CLOSE_BRACE ||
           expected(parser, "the end of the line or '}' after a command");
}

// If the closing brace is missing, a declaration or a statement ends the block.
void parse_commands(Parser *parser, bool closed, CommandArray *commands) {
    parser->skip_newlines = false;
    while (peek(parser)->kind != TOKEN_CLOSE_BRACE && peek(parser)->kind != TOKEN_END &&
           !token_begins_declaration(parser->tokens.items, parser->at)) {
        if (at_statement_end(parser)) {
            take(parser);
            continue;
        }
        int64_t start = parser->at;
        const Token *open = peek_second(parser);
        if (!closed && open->match > start) {
            TokenKind after = parser->tokens.items[open->match + 1].kind;
            if (after == TOKEN_ASSIGN || after == TOKEN_ADD_ASSIGN)
                return;
        }
        if (!parse_command(parser, commands))
            recover(parser, start);
    }
    accept(parser, TOKEN_CLOSE_BRACE);
}

// The statement of a block is the nearest one before it that assigns its target and has no block yet. If
// several blocks follow several such statements, the order of both is the same: the blocks read just before
// this one move to earlier statements.
static bool attach(Parser *parser, const char *target, Statement schedule) {
    BuiltStatement *statements = parser->build->statements.items;
    int64_t count = parser->build->statements.count, last = -1, to = -1;
    for (int64_t i = count - 1; i >= 0 && to < 0; i--) {
        if (strcmp(statements[i].target, target) != 0)
            continue;
        if (last < 0)
            last = i;
        if (!statements[i].statement.has_schedule)
            to = i;
    }
    if (to < 0)
        return false;
    for (int64_t i = to + 1; i <= last; i++) {
        if (strcmp(statements[i].target, target) != 0 || statements[i].scheduled_at <= last)
            continue;
        Statement moved = statements[i].statement;
        moved.assignment = statements[to].statement.assignment;
        statements[to].statement = moved;
        statements[to].scheduled_at = statements[i].scheduled_at;
        to = i;
    }
    schedule.assignment = statements[to].statement.assignment;
    statements[to].statement = schedule;
    statements[to].scheduled_at = count;
    return true;
}

static void diagnose_target(Parser *parser, const Token *target) {
    const BuiltStatement *statements = parser->build->statements.items;
    Array(const char *) targets = {0};
    for (int64_t i = 0; i < parser->build->statements.count; i++) {
        array_push(parser->arena, targets, statements[i].target);
        if (strcmp(statements[i].target, target->text) != 0)
            continue;
        diagnostics_error(parser->diagnostics, target->span,
                          "every statement above that assigns '%s' already has a "
                          "schedule block",
                          target->text);
        return;
    }
    const Token *tokens = parser->tokens.items;
    for (int64_t i = parser->at; i + 1 < parser->tokens.count; i++) {
        bool at_start = tokens[i - 1].kind == TOKEN_NEWLINE || tokens[i - 1].kind == TOKEN_SEMICOLON;
        TokenKind after = tokens[i + 1].match > i ? tokens[tokens[i + 1].match + 1].kind : tokens[i + 1].kind;
        if (at_start && tokens[i].kind == TOKEN_NAME && strcmp(tokens[i].text, target->text) == 0 &&
            (after == TOKEN_ASSIGN || after == TOKEN_ADD_ASSIGN)) {
            diagnostics_error(parser->diagnostics, target->span,
                              "the statement that assigns '%s' comes later, on "
                              "line %d; a schedule block comes after its statement",
                              target->text, tokens[i].span.line);
            return;
        }
    }
    diagnostics_error(parser->diagnostics, target->span, "no statement assigns '%s'%s", target->text,
                      did_you_mean(parser->arena, target->text, "assigned", targets.items, targets.count));
}

bool parse_schedule(Parser *parser) {
    take(parser);
    const Token *target;
    if (!expect_name(parser, "the tensor that the statement assigns", &target))
        return false;
    const Token *open = peek(parser);
    if (open->kind != TOKEN_OPEN_BRACE)
        return expected(parser, "'{' and schedule commands");
    take(parser);
    CommandArray commands = {0};
    bool closed = open->match != NO_MATCH;
    if (!closed)
        diagnostics_error(parser->diagnostics, open->span, "this '{' is never closed by a '}'");
    Statement schedule = {.has_schedule = true};
    int64_t after = parser->at;
    parse_commands(parser, closed, &commands);
    schedule.command_count = (int)commands.count;
    schedule.commands = commands.items;
    // If something else has ended the block, the caller takes the separator before that.
    int64_t end = parser->at;
    TokenKind before = parser->tokens.items[end - 1].kind;
    if (!closed && (before == TOKEN_NEWLINE || before == TOKEN_SEMICOLON))
        end--;
    parser->at = after;
    if (!attach(parser, target->text, schedule))
        diagnose_target(parser, target);
    parser->at = end;
    return true;
}
