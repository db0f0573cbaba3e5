// SPDX-License-Identifier: BSD-3-Clause
// Ranges of index variables, `for i in 1 : n - 1, j in 0 : m`, and where variables begin that index no mode
// alone.
#include "lang/parser.h"

#include <string.h>

static bool is_word(const Token *token, const char *word) {
    return token->kind == TOKEN_NAME && strcmp(token->text, word) == 0;
}

// The `for` of the statement, -1 where it has none.
static int64_t find_for(const Parser *parser) {
    const Token *tokens = parser->tokens.items;
    for (int64_t i = parser->at;; i++) {
        const TokenKind kind = tokens[i].kind;
        if (kind == TOKEN_OPEN_PAREN && tokens[i].match != NO_MATCH)
            i = tokens[i].match;
        else if (kind == TOKEN_NEWLINE || kind == TOKEN_SEMICOLON || kind == TOKEN_END ||
                 kind == TOKEN_CLOSE_BRACE)
            return -1;
        else if (is_word(&tokens[i], "for") && tokens[i + 1].kind != TOKEN_OPEN_PAREN)
            return i;
    }
}

const VarRange *ranges_find(const Ranges *ranges, const char *name) {
    for (int i = 0; i < ranges->count; i++)
        if (strcmp(ranges->items[i].name->text, name) == 0)
            return &ranges->items[i];
    return NULL;
}

// `i in 1 : n - 1`
static bool parse_range(Parser *parser, Ranges *ranges) {
    VarRange range = {0};
    Name declared;
    if (!expect_name(parser, "an index variable", &range.name))
        return false;
    if (!is_word(peek(parser), "in"))
        return expected(parser, arena_printf(parser->arena, "'in' after '%.40s'", range.name->text));
    take(parser);
    if (!parse_integer(parser, &range.first) ||
        !expect(parser, TOKEN_COLON, "':' and where the range ends") || !parse_integer(parser, &range.last))
        return false;
    if (build_find(parser->build, range.name->text, &declared) && declared.kind == NAME_PARAM)
        return diagnostics_error(parser->diagnostics, range.name->span,
                                 "'%s' is a param; a range is of an index variable", range.name->text);
    if (ranges_find(ranges, range.name->text))
        return diagnostics_error(parser->diagnostics, range.name->span, "'%s' has two ranges",
                                 range.name->text);
    if (ranges->count == MAX_ORDER)
        return diagnostics_error(parser->diagnostics, range.name->span, "a statement has at most %d ranges",
                                 MAX_ORDER);
    if (range.first.known && range.last.known)
        ranges->items[ranges->count++] = range;
    return range.first.known && range.last.known;
}

bool parse_ranges(Parser *parser, Ranges *ranges) {
    const int64_t begin = parser->at;
    *ranges = (Ranges){.at = find_for(parser)};
    if (ranges->at < 0)
        return true;
    parser->at = ranges->at;
    do {
        take(parser);
        if (!parse_range(parser, ranges))
            return false;
    } while (peek(parser)->kind == TOKEN_COMMA);
    if (!at_statement_end(parser))
        return expected(parser, "',' or the end of the line");
    ranges->end = parser->at;
    parser->at = begin;
    return true;
}

// The values of the variable are those of an index that nothing has: i - 1, which runs below n - 2.
static bool add_range(Parser *parser, const VarRange *range, int v, Assignment *assignment) {
    Arena *arena = parser->arena;
    if (assignment->var_count == MAX_VARS)
        return diagnostics_error(parser->diagnostics, range->name->span, TOO_MANY_VARS, MAX_VARS);
    AffineIndex *index = arena_new(arena, AffineIndex);
    *index = (AffineIndex){.constant = int_op(arena, INT_SUB, int_const(arena, 0), range->first.expr),
                           .count = 1,
                           .vars = {v},
                           .coefficients = {int_const(arena, 1)}};
    assignment->vars[assignment->var_count++] = (SourceVar){.span = range->name->span,
                                                            .index = index,
                                                            .first = range->first.expr,
                                                            .last = range->last.expr,
                                                            .name = ""};
    return true;
}

bool ranges_add(Parser *parser, const Ranges *ranges, Assignment *assignment) {
    const int count = assignment->var_count;
    bool ok = true;
    for (int i = 0; i < ranges->count && ok; i++) {
        const VarRange *range = &ranges->items[i];
        bool found = false;
        for (int v = 0; v < count && ok; v++)
            if (!assignment->vars[v].index && strcmp(assignment->vars[v].name, range->name->text) == 0) {
                found = true;
                ok = add_range(parser, range, v, assignment);
            }
        if (!found)
            ok = diagnostics_error(parser->diagnostics, range->name->span,
                                   "'%s' indexes nothing in this statement", range->name->text);
    }
    return ok;
}

void windows_name(Parser *parser, Assignment *assignment) {
    const char *names[MAX_VARS];
    const char *const *params = build_param_names(parser->build);
    for (int v = 0; v < assignment->var_count; v++)
        names[v] = assignment->vars[v].name;
    for (int v = 0; v < assignment->var_count; v++) {
        SourceVar *var = &assignment->vars[v];
        Text text = text_create(parser->arena);
        if (!var->index)
            continue;
        if (!var->first) {
            index_print(var->index, (IntNames){.params = params, .vars = names}, &text);
        } else {
            text_printf(&text, "%s in ", names[var->index->vars[0]]);
            int_print(var->first, (IntNames){.params = params}, &text);
            text_append(&text, " : ");
            int_print(var->last, (IntNames){.params = params}, &text);
        }
        var->name = text_string(&text);
    }
}

// The least and the greatest sum of an index without one of its variables, from 0 to below their extents;
// false where these are not settled.
static bool rest_of_index(Arena *arena, const Assignment *assignment, const AffineIndex *index, int except,
                          VarSet settled, const IntExpr **least, const IntExpr **most) {
    *least = *most = index->constant;
    for (int i = 0; i < index->count; i++) {
        const int var = index->vars[i];
        const IntExpr *coefficient = index->coefficients[i];
        if (var == except)
            continue;
        if (!(settled >> var & 1) || coefficient->op != INT_CONST || !assignment->vars[var].extent)
            return false;
        const IntExpr **end = coefficient->value < 0 ? least : most;
        const IntExpr *last = int_op(arena, INT_SUB, assignment->vars[var].extent, int_const(arena, 1));
        *end = int_op(arena, INT_ADD, *end, int_op(arena, INT_MUL, coefficient, last));
    }
    return true;
}

// A value below which the variable has none, as an index of it would leave its mode; NULL where none follows.
static const IntExpr *first_value(Arena *arena, const Assignment *assignment, const SourceVar *of, int var,
                                  VarSet settled) {
    const IntExpr *least, *most;
    int64_t own = 0;
    if (!rest_of_index(arena, assignment, of->index, var, settled, &least, &most))
        return NULL;
    for (int i = 0; i < of->index->count; i++)
        if (of->index->vars[i] == var && of->index->coefficients[i]->op == INT_CONST)
            own = of->index->coefficients[i]->value;
    if (own == 0)
        return NULL;
    const IntExpr *zero = int_const(arena, 0);
    if (own > 0)
        return int_op(arena, INT_CEIL_DIV, int_op(arena, INT_SUB, zero, most), int_const(arena, own));
    const IntExpr *last = int_op(arena, INT_SUB, of->extent, int_const(arena, 1));
    return int_op(arena, INT_CEIL_DIV, int_op(arena, INT_SUB, least, last), int_const(arena, -own));
}

// Moves a variable so that it begins at 0; false where it is not known yet where it begins.
static bool settle(Arena *arena, Assignment *assignment, int var, VarSet settled) {
    const IntExpr *start = NULL;
    for (int k = 0; k < assignment->var_count; k++) {
        const SourceVar *of = &assignment->vars[k];
        if (!of->index || !(index_vars(of->index) >> var & 1))
            continue;
        const IntExpr *first = first_value(arena, assignment, of, var, settled);
        start = first && start ? int_op(arena, INT_MAX, start, first) : first ? first : start;
    }
    if (!start)
        return false;
    if (start->op == INT_CONST && start->value >= 0)
        return true;
    assignment->vars[var].start = start;
    for (int k = 0; k < assignment->var_count; k++) {
        const AffineIndex *index = assignment->vars[k].index;
        for (int i = 0; index && i < index->count; i++)
            if (index->vars[i] == var) {
                const IntExpr *by = int_op(arena, INT_MUL, index->coefficients[i], start);
                ((AffineIndex *)index)->constant = int_op(arena, INT_ADD, index->constant, by);
            }
    }
    return true;
}

void windows_settle(Arena *arena, Assignment *assignment, VarSet plain) {
    VarSet settled = plain;
    for (int v = 0; v < assignment->var_count; v++)
        if (assignment->vars[v].index)
            settled |= (VarSet)1 << v;
    assignment_take_extents_of(arena, assignment, settled);
    for (bool grown = true; grown;) {
        grown = false;
        for (int v = 0; v < assignment->var_count; v++) {
            if (settled >> v & 1 || !settle(arena, assignment, v, settled))
                continue;
            settled |= (VarSet)1 << v;
            assignment_take_extents_of(arena, assignment, settled);
            grown = true;
        }
    }
}
