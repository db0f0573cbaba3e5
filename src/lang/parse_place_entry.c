// SPDX-License-Identifier: BSD-3-Clause
// How one dimension of a machine divides, fixes or replicates a tensor: an entry of a placement.
#include "lang/parse_place.h"

#include "lang/check.h"

#include <string.h>

// The mode with this name, which is marked as used: it can be taken once. -1 after a diagnostic.
static int take_mode(PlaceParser *place, Arrow *arrow, const Token *name) {
    Parser *parser = place->parser;
    for (int d = 0; d < arrow->mode_count; d++) {
        if (strcmp(arrow->modes[d], name->text) != 0)
            continue;
        if (!arrow->used[d]) {
            arrow->used[d] = true;
            return d;
        }
        place->failed =
            !diagnostics_error(parser->diagnostics, name->span,
                               "'%s' is already partitioned by another dimension of this arrow", name->text);
        return -1;
    }
    place->failed = true;
    Name declared;
    if (build_find(parser->build, name->text, &declared) && declared.kind == NAME_PARAM)
        diagnostics_error(parser->diagnostics, name->span,
                          "'%s' is a param; expected the name of a mode, cyclic(...), an integer or '*'",
                          name->text);
    else
        diagnostics_error(
            parser->diagnostics, name->span, "'%s' does not name a mode of '%s'%s", name->text,
            place->name->text,
            did_you_mean(parser->arena, name->text, "named on the left", arrow->modes, arrow->mode_count));
    return -1;
}

// Sets the mode of an entry that partitions one; of a balanced one, one more of those that are divided
// together.
static void divide_mode(PlaceParser *place, Arrow *arrow, const Token *name, Balance balance,
                        PlaceEntry *entry) {
    entry->kind = PLACE_PARTITION;
    entry->balance = balance;
    const int mode = take_mode(place, arrow, name);
    if (entry->mode_count == 0)
        entry->mode = mode;
    if (mode >= 0 && balance != BALANCE_NONE)
        entry->modes[entry->mode_count++] = mode;
}

// `(x, y)` after `~fuse`.
static bool parse_fuse(PlaceParser *place, Arrow *arrow, PlaceEntry *entry) {
    Parser *parser = place->parser;
    List list = list_open(parser);
    list.not_empty = true;
    while (list_next(&list)) {
        const Token *name;
        if (!expect_name(parser, "the name of a mode", &name))
            return false;
        divide_mode(place, arrow, name, BALANCE_STORED, entry);
    }
    const bool closed = list_close(&list, "',' or ')'");
    entry->span = span_join(entry->span, list.span);
    return closed;
}

// What a placement divides its mode with this name by, at level number `level` of those that partition it;
// NULL: there is no such level.
static const PlaceEntry *level_of_mode(const Placement *placement, const char *name, int level) {
    for (int d = 0; d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        if (entry->kind == PLACE_PARTITION && strcmp(placement->names[entry->mode], name) == 0 &&
            level-- == 0)
            return entry;
    }
    return NULL;
}

// Takes over what the placement of a sparse tensor balances at the level: its mode with the name of that of
// the entry.
static void balance_by(PlaceParser *place, const Token *name, const Token *tensor_name, PlaceEntry *entry) {
    Parser *parser = place->parser;
    Name found;
    if (!resolve_name(parser, tensor_name, NAME_TENSOR, &found)) {
        place->failed = true;
        return;
    }
    const Tensor *tensor = found.tensor;
    int level = 0;
    for (int d = 0; d < place->entry_count; d++)
        level += place->placement->entries[d].kind == PLACE_PARTITION &&
                 place->placement->entries[d].mode == entry->mode;
    const PlaceEntry *of = tensor->placement ? level_of_mode(tensor->placement, name->text, level) : NULL;
    const bool fits = of && !of->by && of->mode_count <= 1;
    if (fits && balance_is_by_entries(of->balance)) {
        entry->balance = of->balance;
        entry->by = tensor->name;
        entry->mode_count = 1;
        entry->modes[0] = of->mode;
        return;
    }
    const Span span = span_join(name->span, tensor_name->span);
    if (fits && level > 0)
        place->failed = !diagnostics_error(parser->diagnostics, span,
                                           "the placement of '%s' does not balance mode '%s' at this level: "
                                           "write '%s' here, too",
                                           tensor->name, name->text, name->text);
    else
        place->failed =
            !diagnostics_error(parser->diagnostics, span,
                               "no placement of '%s' before this one balances a mode with the name "
                               "'%s'%s, as 'place %s(..., %s, ...) -> "
                               "%s(weighted(%s))' does",
                               tensor->name, name->text, level > 0 ? " at this level" : "", tensor->name,
                               name->text, place->placement->machine->name, name->text);
}

// The arguments of an entry such as `cyclic(x, b)`, of which the first one is a mode.
typedef struct {
    const Token *mode;
    bool outside; // what enter_brackets says
} Call;

static bool open_call(PlaceParser *place, Arrow *arrow, Balance balance, PlaceEntry *entry, Call *call) {
    enter_brackets(place->parser, &call->outside);
    if (!expect_name(place->parser, "the name of a mode", &call->mode))
        return false;
    divide_mode(place, arrow, call->mode, balance, entry);
    return true;
}

static bool close_call(PlaceParser *place, const Call *call, PlaceEntry *entry, const char *expected_here) {
    entry->span = span_join(entry->span, peek(place->parser)->span);
    return leave_brackets(place->parser, call->outside, TOKEN_CLOSE_PAREN, expected_here);
}

// `(x)` or `(x, B)` after `weighted`.
static bool parse_weighted(PlaceParser *place, Arrow *arrow, PlaceEntry *entry) {
    Call call;
    const Token *tensor;
    if (!open_call(place, arrow, BALANCE_WEIGHTED, entry, &call))
        return false;
    if (accept(place->parser, TOKEN_COMMA)) {
        if (!expect_name(place->parser, "the name of a sparse tensor", &tensor))
            return false;
        balance_by(place, call.mode, tensor, entry);
    }
    return close_call(place, &call, entry, "',' and a tensor, or ')'");
}

// `(x, b)` after `cyclic`.
static bool parse_cyclic(PlaceParser *place, Arrow *arrow, PlaceEntry *entry) {
    Parser *parser = place->parser;
    Call call;
    Integer block;
    if (!open_call(place, arrow, BALANCE_NONE, entry, &call) ||
        !expect(parser, TOKEN_COMMA, "',' and the length of a block") || !parse_integer(parser, &block) ||
        !close_call(place, &call, entry, "')'"))
        return false;
    entry->cycle = block.expr;
    place->failed |= !block.known || !check_block(parser->build, block.value, block.span);
    return true;
}

// `(x)` after `balanced`.
static bool parse_balanced(PlaceParser *place, Arrow *arrow, PlaceEntry *entry) {
    Call call;
    return open_call(place, arrow, BALANCE_LENGTHS, entry, &call) && close_call(place, &call, entry, "')'");
}

// `{0, n / 2, n}`, of which all have values if the placement has not failed.
static bool parse_boundaries(PlaceParser *place, PlaceEntry *entry, BoundaryList *boundaries) {
    Parser *parser = place->parser;
    Array(const IntExpr *) starts = {0};
    if (peek(parser)->kind != TOKEN_OPEN_BRACE)
        return expected(parser, "'{' and the boundaries");
    List list = list_open(parser);
    while (list_next(&list)) {
        Integer start;
        if (!parse_integer(parser, &start))
            return false;
        place->failed |= !start.known;
        // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
        array_push(parser->arena, starts, start.expr);
        array_push(parser->arena, *boundaries, ((Boundary){start.value, start.span}));
    }
    entry->starts = starts.items;
    entry->start_count = starts.count;
    return list_close(&list, "',' or '}'");
}

// `(x, {0, 3, 6})` after `blocks`.
static bool parse_blocks(PlaceParser *place, Arrow *arrow, PlaceEntry *entry) {
    Parser *parser = place->parser;
    const Placement *placement = place->placement;
    BoundaryList boundaries = {0};
    Call call;
    if (!open_call(place, arrow, BALANCE_LISTED, entry, &call) ||
        !expect(parser, TOKEN_COMMA, "',' and boundaries in braces") ||
        !parse_boundaries(place, entry, &boundaries) || !close_call(place, &call, entry, "')'"))
        return false;
    if (!place->failed && placement->machine && place->entry_count < placement->machine->order)
        place->failed = !check_boundaries(parser->build, place->tensor, placement->machine,
                                          place->entry_count, entry, call.mode->text, &boundaries);
    return true;
}

bool parse_place_entry(PlaceParser *place, Arrow *arrow, PlaceEntry *entry) {
    static const struct {
        const char *name;
        bool (*parse)(PlaceParser *place, Arrow *arrow, PlaceEntry *entry);
    } calls[] = {{"cyclic", parse_cyclic},
                 {"balanced", parse_balanced},
                 {"blocks", parse_blocks},
                 {"weighted", parse_weighted}};
    Parser *parser = place->parser;
    const Token *token = peek(parser);
    entry->span = token->span;
    switch (token->kind) {
    case TOKEN_NAME:
        take(parser);
        if (peek(parser)->kind == TOKEN_OPEN_PAREN) {
            enum { COUNT = sizeof calls / sizeof *calls };
            const char *names[COUNT];
            for (int i = 0; i < COUNT; i++) {
                if (strcmp(token->text, calls[i].name) == 0)
                    return calls[i].parse(place, arrow, entry);
                names[i] = calls[i].name;
            }
            return diagnostics_error(parser->diagnostics, token->span, "unknown way to divide a mode, '%s'%s",
                                     token->text,
                                     did_you_mean(parser->arena, token->text, "ways", names, COUNT));
        }
        divide_mode(place, arrow, token, BALANCE_NONE, entry);
        return true;
    case TOKEN_INTEGER:
        take(parser);
        entry->kind = PLACE_FIX;
        entry->coordinate = token->integer;
        return true;
    case TOKEN_STAR:
        take(parser);
        entry->kind = PLACE_REPLICATE;
        return true;
    case TOKEN_TILDE: {
        take(parser);
        const Token *name;
        if (!expect_name(parser, "the name of a mode or fuse(...) after '~'", &name))
            return false;
        entry->span = span_join(token->span, name->span);
        if (strcmp(name->text, "fuse") == 0 && peek(parser)->kind == TOKEN_OPEN_PAREN)
            return parse_fuse(place, arrow, entry);
        divide_mode(place, arrow, name, BALANCE_STORED, entry);
        return true;
    }
    default:
        return expected(parser,
                        "the name of a mode, cyclic(...), balanced(...), blocks(...), weighted(...), '~', a "
                        "coordinate or '*'");
    }
}
