// SPDX-License-Identifier: BSD-3-Clause
// How a tensor is stored: a list of levels, a format by name or a map from modes to levels, and the order of
// modes.
#include "format/level_list.h"
#include "lang/parser.h"

#include <string.h>

typedef struct {
    Parser *parser;
    Tensor *tensor;
    int count;             // levels that have been read
    bool usable;           // each of them is one
    Span spans[MAX_ORDER]; // of them
} Levels;

// What may stand in parentheses after a level's name.
static bool parse_level_option(Levels *levels, LevelType *type, Span *span) {
    Parser *parser = levels->parser;
    if (peek(parser)->kind != TOKEN_OPEN_PAREN)
        return true;
    bool outside;
    enter_brackets(parser, &outside);
    const Token *option;
    if (!expect_name(parser, "'nonunique'", &option))
        return false;
    type->nonunique = true;
    if (strcmp(option->text, "nonunique") != 0)
        levels->usable = diagnostics_error(parser->diagnostics, option->span,
                                           "a level has no option '%s' (options: nonunique)", option->text);
    *span = span_join(*span, peek(parser)->span);
    return leave_brackets(parser, outside, TOKEN_CLOSE_PAREN, "')'");
}

// The type of the next level; false after a mistake in syntax.
static bool parse_level_type(Levels *levels) {
    Parser *parser = levels->parser;
    const Token *name;
    if (!expect_name(parser, "a storage level", &name))
        return false;
    LevelType type = {.format = level_format(name->text)};
    Span span = name->span;
    if (!parse_level_option(levels, &type, &span))
        return false;
    int64_t count;
    const char *const *names = level_format_names(&count);
    if (!type.format) {
        levels->usable =
            diagnostics_error(parser->diagnostics, span, "unknown storage level '%s'%s", name->text,
                              did_you_mean(parser->arena, name->text, "levels", names, count));
    } else if (levels->count < MAX_ORDER) {
        levels->tensor->levels[levels->count] = type;
        levels->spans[levels->count] = span;
    }
    levels->count++;
    return true;
}

// As many levels as the tensor has modes, and levels that go together.
static void check_levels(Levels *levels, Span all) {
    Parser *parser = levels->parser;
    Tensor *tensor = levels->tensor;
    if (levels->count != tensor->order) {
        diagnostics_error(parser->diagnostics, all,
                          "tensor '%s' has %d mode%s, so it takes %d storage level%s, not %d", tensor->name,
                          tensor->order, tensor->order == 1 ? "" : "s", tensor->order,
                          tensor->order == 1 ? "" : "s", levels->count);
        return;
    }
    int at;
    const char *why =
        levels->usable ? level_list_refuse(parser->arena, tensor->order, tensor->levels, &at) : NULL;
    if (!why)
        return;
    Text legal = text_create(parser->arena);
    level_list_mend(tensor->order, tensor->levels);
    level_list_print(tensor->order, tensor->levels, &legal);
    diagnostics_error(parser->diagnostics, levels->spans[at], "%s; write %s", why, text_string(&legal));
}

// `{dense, compressed}`
static bool parse_list(Parser *parser, Tensor *tensor) {
    Levels levels = {.parser = parser, .tensor = tensor, .usable = true};
    List list = list_open(parser);
    while (list_next(&list))
        if (!parse_level_type(&levels))
            return false;
    if (!list_close(&list, "',' or '}'"))
        return false;
    check_levels(&levels, list.span);
    return true;
}

// The names of the modes of a map, `(i, j)`.
typedef struct {
    int count;
    bool usable;
    const char *names[MAX_ORDER];
    bool stored[MAX_ORDER];
} Modes;

static bool parse_modes(Parser *parser, const Tensor *tensor, Modes *modes) {
    List list = list_open(parser);
    list.not_empty = true;
    while (list_next(&list)) {
        const Token *name;
        if (!expect_name(parser, "the name of a mode", &name))
            return false;
        for (int d = 0; d < modes->count && d < MAX_ORDER; d++)
            if (strcmp(modes->names[d], name->text) == 0)
                modes->usable =
                    diagnostics_error(parser->diagnostics, name->span,
                                      "'%s' names two modes; each mode has its own name", name->text);
        if (modes->count < MAX_ORDER)
            modes->names[modes->count] = name->text;
        modes->count++;
    }
    if (!list_close(&list, "',' or ')'"))
        return false;
    if (modes->count != tensor->order)
        modes->usable =
            diagnostics_error(parser->diagnostics, list.span, "tensor '%s' has %d mode%s, not %d",
                              tensor->name, tensor->order, tensor->order == 1 ? "" : "s", modes->count);
    return true;
}

// The mode that a level of a map stores.
static void take_mode(Levels *levels, Modes *modes, const Token *name) {
    Parser *parser = levels->parser;
    const int count = modes->count < MAX_ORDER ? modes->count : MAX_ORDER;
    int mode = 0;
    while (mode < count && strcmp(modes->names[mode], name->text) != 0)
        mode++;
    if (mode == count)
        modes->usable = diagnostics_error(
            parser->diagnostics, name->span, "'%s' does not name a mode of '%s'%s", name->text,
            levels->tensor->name,
            did_you_mean(parser->arena, name->text, "named on the left", modes->names, count));
    else if (modes->stored[mode])
        modes->usable = diagnostics_error(parser->diagnostics, name->span,
                                          "'%s' is stored by two levels; each mode has one", name->text);
    else if (levels->count < MAX_ORDER)
        levels->tensor->mode_order[levels->count] = mode;
    if (mode < count)
        modes->stored[mode] = true;
}

// `(i, j) -> (i : dense, j : compressed)`
static bool parse_map(Parser *parser, Tensor *tensor) {
    Modes modes = {.usable = true};
    Levels levels = {.parser = parser, .tensor = tensor, .usable = true};
    if (!parse_modes(parser, tensor, &modes) || !expect(parser, TOKEN_ARROW, "'->' and the levels"))
        return false;
    if (peek(parser)->kind != TOKEN_OPEN_PAREN)
        return expected(parser, "'(' and the levels");
    List list = list_open(parser);
    list.not_empty = true;
    while (list_next(&list)) {
        const Token *name;
        if (!expect_name(parser, "the name of a mode", &name) ||
            !expect(parser, TOKEN_COLON, "':' and a storage level"))
            return false;
        take_mode(&levels, &modes, name);
        if (!parse_level_type(&levels))
            return false;
    }
    if (!list_close(&list, "',' or ')'"))
        return false;
    if (modes.usable)
        check_levels(&levels, list.span);
    return true;
}

static void take_format(Parser *parser, Tensor *tensor, const TensorFormat *format) {
    const Token *name = take(parser);
    if (tensor->order >= format->least && tensor->order <= format->most)
        tensor_format_levels(format, tensor->order, tensor->levels, tensor->mode_order);
    else if (format->least == format->most)
        diagnostics_error(parser->diagnostics, name->span,
                          "'%s' stores matrices, and tensor '%s' has %d mode%s", name->text, tensor->name,
                          tensor->order, tensor->order == 1 ? "" : "s");
    else
        diagnostics_error(parser->diagnostics, name->span, "'%s' is a scalar: it has no levels",
                          tensor->name);
}

static bool parse_mode_order(Parser *parser, Tensor *tensor) {
    Span span = take(parser)->span;
    if (peek(parser)->kind != TOKEN_OPEN_PAREN)
        return expected(parser, "'(' after 'order'");
    bool seen[MAX_ORDER] = {false}, permutation = true;
    int count = 0;
    List list = list_open(parser);
    list.not_empty = true;
    while (list_next(&list)) {
        const Token *mode = peek(parser);
        if (mode->kind != TOKEN_INTEGER)
            return expected(parser, "the number of a mode");
        take(parser);
        if (mode->integer >= tensor->order || seen[mode->integer] || count >= MAX_ORDER) {
            permutation = false;
        } else {
            seen[mode->integer] = true;
            tensor->mode_order[count] = (int)mode->integer;
        }
        count++;
    }
    if (!list_close(&list, "',' or ')'"))
        return false;
    span = span_join(span, list.span);
    if (tensor->order == 0)
        diagnostics_error(parser->diagnostics, span, "'%s' is a scalar: it has no modes to put in order",
                          tensor->name);
    else if (!permutation || count != tensor->order)
        diagnostics_error(parser->diagnostics, span, "order(...) names each mode of '%s', 0 to %d, once",
                          tensor->name, tensor->order - 1);
    return true;
}

// The levels, in one of the notations. *ordered: they say in which order modes are stored as well.
static bool parse_levels_of(Parser *parser, Tensor *tensor, bool *ordered) {
    const Token *token = peek(parser);
    if (token->kind == TOKEN_OPEN_BRACE)
        return parse_list(parser, tensor);
    if (token->kind == TOKEN_OPEN_PAREN) {
        *ordered = true;
        return parse_map(parser, tensor);
    }
    const TensorFormat *format = token->kind == TOKEN_NAME ? tensor_format(token->text) : NULL;
    if (format) {
        *ordered = format->reversed;
        take_format(parser, tensor, format);
        return true;
    }
    if (token->kind != TOKEN_NAME)
        return expected(parser, "storage levels {...}, a format such as csr, or order(...)");
    if (level_format(token->text))
        return diagnostics_error(parser->diagnostics, token->span,
                                 "'%s' is the format of one level; those of all modes are in braces, as in "
                                 "{dense, compressed}",
                                 token->text);
    int64_t count;
    const char *const *names = tensor_format_names(&count);
    return diagnostics_error(parser->diagnostics, token->span, "unknown format '%s'%s", token->text,
                             did_you_mean(parser->arena, token->text, "formats", names, count));
}

bool parse_storage(Parser *parser, Tensor *tensor) {
    for (int d = 0; d < tensor->order; d++) {
        tensor->levels[d] = level_type_dense();
        tensor->mode_order[d] = d;
    }
    bool levels = false, ordered = false, closed = false;
    while (!closed && accept(parser, TOKEN_COMMA)) {
        const Token *token = peek(parser);
        if (token->kind == TOKEN_NAME && strcmp(token->text, "order") == 0) {
            if (ordered)
                diagnostics_error(parser->diagnostics, token->span,
                                  "the order of modes is given by the levels before; leave order(...) out");
            if (!parse_mode_order(parser, tensor))
                return false;
            closed = true;
        } else if (levels) {
            return expected(parser, "order(...)");
        } else {
            levels = true;
            if (!parse_levels_of(parser, tensor, &ordered))
                return false;
        }
    }
    if (!levels && !closed && peek(parser)->kind == TOKEN_OPEN_PAREN)
        return diagnostics_error(parser->diagnostics, peek(parser)->span,
                                 "unexpected '(' after the type; extents follow the name, %s(...): TYPE",
                                 tensor->name);
    return at_statement_end(parser) ||
           expected(parser, closed ? "the end of the line" : "',' or the end of the line");
}
