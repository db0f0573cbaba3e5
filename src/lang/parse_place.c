// SPDX-License-Identifier: BSD-3-Clause
// Tensor distribution notation (DISTAL, section 3.2): `place T(x, y) -> M(x, *)`, one arrow for
// each level of a hierarchical machine.
#include "lang/parse_place.h"

#include "lang/check.h"
#include "lang/check_balance.h"

#include <string.h>

static bool parse_modes(PlaceParser *place, Arrow *arrow, const Token *name) {
    Parser *parser = place->parser;
    Span span = name->span;
    if (peek(parser)->kind == TOKEN_OPEN_PAREN) {
        List modes = list_open(parser);
        while (list_next(&modes)) {
            const Token *mode;
            if (!expect_name(parser, "a name for a mode", &mode))
                return false;
            for (int d = 0; d < arrow->mode_count; d++)
                if (strcmp(arrow->modes[d], mode->text) == 0)
                    place->failed =
                        !diagnostics_error(parser->diagnostics, mode->span,
                                           "'%s' names two modes; each mode has its own name", mode->text);
            if (arrow->mode_count == MAX_ORDER)
                return diagnostics_error(parser->diagnostics, mode->span, "a tensor has at most %d modes",
                                         MAX_ORDER);
            arrow->modes[arrow->mode_count++] = mode->text;
        }
        if (!list_close(&modes, "',' or ')'"))
            return false;
        span = span_join(span, modes.span);
    }
    const Tensor *tensor = place->tensor;
    if (tensor && arrow->mode_count != tensor->order)
        place->failed =
            !diagnostics_error(parser->diagnostics, span, "'%s' has %d mode%s, but %d %s named here",
                               tensor->name, tensor->order, tensor->order == 1 ? "" : "s", arrow->mode_count,
                               arrow->mode_count == 1 ? "is" : "are");
    return true;
}

static void unsupported(PlaceParser *place, Span span, const char *what) {
    diagnostics_error(place->parser->diagnostics, span, "%s is not supported yet", what);
    place->failed = true;
}

// The right side of an arrow, in parentheses, for `order` dimensions of the machine from `first` on.
static bool parse_entries(PlaceParser *place, Arrow *arrow, Span target, const char *target_name, int first,
                          int order) {
    Parser *parser = place->parser;
    const Machine *machine = place->placement->machine;
    int count = 0;
    if (peek(parser)->kind != TOKEN_OPEN_PAREN)
        return expected(parser, "'(' and an entry for each dimension of the machine");
    List list = list_open(parser);
    list.not_empty = true;
    while (list_next(&list)) {
        PlaceEntry entry = {0};
        place->entry_count = machine ? first + count : 0;
        if (!parse_place_entry(place, arrow, &entry))
            return false;
        if (machine && count < order) {
            place->placement->entries[first + count] = entry;
            if (entry.kind == PLACE_FIX)
                place->failed |=
                    !check_coordinate(parser->build, machine, first + count, entry.coordinate, entry.span);
        }
        count++;
    }
    if (!list_close(&list, "',' or ')'"))
        return false;
    target = span_join(target, list.span);
    if (machine && count != order)
        place->failed =
            !diagnostics_error(parser->diagnostics, target, "'%s' has %d dimension%s, but %d %s given here",
                               target_name, order, order == 1 ? "" : "s", count, count == 1 ? "is" : "are");
    return true;
}

// The level after the dot, which has to be the next one; NULL if the machine has no such level. Diagnoses
// that, and the first level that is out of order.
static const MachineLevel *find_level(PlaceParser *place, const Token *name) {
    Parser *parser = place->parser;
    const Machine *machine = place->placement->machine;
    const MachineLevel *level = machine_level(machine, name->text);
    const char *names[MAX_MACHINE_LEVELS] = {NULL};
    for (int i = 0; i < machine->level_count; i++)
        names[i] = machine->levels[i].name;
    bool was_wrong = place->wrong_level;
    int index = level ? (int)(level - machine->levels) : -1;
    place->wrong_level |= index != place->next_level;
    place->failed |= place->wrong_level;
    if (machine->levels[0].name[0] == '\0')
        diagnostics_error(parser->diagnostics, name->span, "machine '%s' has no levels; write '%s(...)'",
                          machine->name, machine->name);
    else if (!level)
        diagnostics_error(parser->diagnostics, name->span, "machine '%s' has no level '%s'%s", machine->name,
                          name->text,
                          did_you_mean(parser->arena, name->text, "levels", names, machine->level_count));
    else if (!was_wrong && index > place->next_level)
        diagnostics_error(
            parser->diagnostics, name->span,
            "level '%s' of machine '%s' comes before '%s'; arrows go from the outermost level inwards",
            names[place->next_level], machine->name, name->text);
    else if (!was_wrong && index < place->next_level)
        diagnostics_error(parser->diagnostics, name->span, "level '%s' of machine '%s' is already placed",
                          name->text, machine->name);
    if (level)
        place->next_level = index + 1;
    return level;
}

// The machine of the first arrow is that of all.
static void set_machine(PlaceParser *place, const Token *name, bool first_arrow) {
    Parser *parser = place->parser;
    if (!first_arrow) {
        if (place->placement->machine && strcmp(place->placement->machine->name, name->text) != 0)
            place->failed =
                !diagnostics_error(parser->diagnostics, name->span,
                                   "all arrows of a placement lead to levels of one machine, here '%s'",
                                   place->placement->machine->name);
        return;
    }
    Name machine;
    if (resolve_name(parser, name, NAME_MACHINE, &machine))
        place->placement->machine = machine.machine;
    else
        place->failed = true;
}

static bool parse_target(PlaceParser *place, Arrow *arrow, bool first_arrow) {
    Parser *parser = place->parser;
    const Token *name, *level_name;
    if (!expect_name(parser, "the name of a machine", &name))
        return false;
    bool was_failed = place->failed;
    place->failed = false;
    set_machine(place, name, first_arrow);
    const Machine *machine = place->placement->machine;
    // If the machine differs from that of the first arrow, its dimensions are not checked.
    bool checkable = machine && !place->failed;
    Span span = name->span;
    int first = 0, order = checkable ? machine->order : 0;
    const char *target_name = name->text;
    if (accept(parser, TOKEN_DOT)) {
        if (!expect_name(parser, "the name of a level after '.'", &level_name))
            return false;
        span = span_join(span, level_name->span);
        target_name = arena_printf(parser->arena, "%s.%s", name->text, level_name->text);
        const MachineLevel *level = checkable ? find_level(place, level_name) : NULL;
        checkable = level != NULL;
        if (level) {
            first = level->first;
            order = level->order;
        }
    } else if (checkable && !first_arrow) {
        place->failed = !diagnostics_error(parser->diagnostics, span,
                                           "only the levels of a hierarchical machine take an "
                                           "arrow each: write '%s.LEVEL(...)'",
                                           machine->name);
        checkable = false;
    } else if (checkable) {
        place->next_level = machine->level_count;
    }
    place->failed |= was_failed;
    if (checkable)
        return parse_entries(place, arrow, span, target_name, first, order);
    const Machine *known = place->placement->machine;
    place->placement->machine = NULL;
    bool ok = parse_entries(place, arrow, span, target_name, 0, 0);
    place->placement->machine = known;
    return ok;
}

static bool is_own(const ProgramBuilder *builder, const Tensor *tensor) {
    return tensor->id < builder->tensors.count && builder->tensors.items[tensor->id] == tensor;
}

// `T(x, y) -> M(x, y)`
static bool parse_arrow(PlaceParser *place, bool first_arrow) {
    Parser *parser = place->parser;
    const Token *name;
    if (!expect_name(parser, "the name of a tensor", &name))
        return false;
    if (first_arrow) {
        place->name = name;
        Name tensor;
        place->failed = !resolve_name(parser, name, NAME_TENSOR, &tensor);
        place->tensor = place->failed ? NULL : tensor.tensor;
    } else if (strcmp(name->text, place->name->text) != 0) {
        place->failed = !diagnostics_error(parser->diagnostics, name->span,
                                           "all arrows of a placement are about one tensor, here '%s'",
                                           place->name->text);
        return false;
    }
    Arrow arrow = {0};
    if (!parse_modes(place, &arrow, name))
        return false;
    for (int m = 0; m < arrow.mode_count && first_arrow; m++)
        place->placement->names[m] = arena_string(parser->arena, arrow.modes[m], strlen(arrow.modes[m]));
    return expect(parser, TOKEN_ARROW, "'->' and a machine") && parse_target(place, &arrow, first_arrow);
}

// "host, gpu or disk"; sets `names` to the names.
static const char *memory_names(Arena *arena, const char **names) {
    Text text = text_create(arena);
    for (int i = 0; i < (int)MEMORY_KIND_COUNT; i++) {
        names[i] = memory_kind((MemoryId)i)->name;
        text_printf(&text, "%s%s", i == 0 ? "" : i + 1 < (int)MEMORY_KIND_COUNT ? ", " : " or ", names[i]);
    }
    return text_string(&text);
}

static bool parse_memory(PlaceParser *place) {
    const char *names[MEMORY_KIND_COUNT];
    Parser *parser = place->parser;
    const Token *name = peek(parser);
    if (name->kind != TOKEN_NAME || strcmp(name->text, "in") != 0)
        return true;
    take(parser);
    const char *all = memory_names(parser->arena, names);
    if (!expect_name(parser, arena_printf(parser->arena, "a memory after 'in': %s", all), &name))
        return false;
    if (!memory_find(name->text, &place->placement->memory))
        place->failed =
            !diagnostics_error(parser->diagnostics, name->span, "unknown memory '%s'%s", name->text,
                               did_you_mean(parser->arena, name->text, "memories", names, MEMORY_KIND_COUNT));
    else if (!memory_kind(place->placement->memory)->supported)
        unsupported(place, name->span, arena_printf(parser->arena, "a tensor in memory '%s'", name->text));
    return true;
}

static void check_all_levels(PlaceParser *place) {
    const Machine *machine = place->placement->machine;
    if (!machine || place->failed || place->next_level == machine->level_count)
        return;
    const MachineLevel *missing = &machine->levels[place->next_level];
    Text hint = text_create(place->parser->arena);
    text_append(&hint, place->name->text);
    for (int d = 0; d < place->tensor->order; d++)
        text_printf(&hint, "%sx%d%s", d ? ", " : "(", d, d + 1 < place->tensor->order ? "" : ")");
    text_printf(&hint, " -> %s.%s", machine->name, missing->name);
    for (int d = 0; d < missing->order; d++)
        text_printf(&hint, "%s*%s", d ? ", " : "(", d + 1 < missing->order ? "" : ")");
    diagnostics_error(place->parser->diagnostics, place->name->span,
                      "level '%s' of machine '%s' has no arrow; to replicate '%s' over it, add ', %s'",
                      missing->name, machine->name, place->name->text, text_string(&hint));
    place->failed = true;
}

bool parse_place(Parser *parser) {
    take(parser);
    return parse_arrows(parser);
}

bool parse_arrows(Parser *parser) {
    PlaceParser place = {.parser = parser, .placement = arena_new(parser->arena, Placement)};
    place.placement->span = peek(parser)->span;
    bool ok = parse_arrow(&place, true);
    while (ok && accept(parser, TOKEN_COMMA))
        ok = parse_arrow(&place, false);
    ok = ok && parse_memory(&place);
    if (ok && !at_statement_end(parser))
        ok = expected(parser, "',' and another arrow, 'in' and a memory, or the end of the line");
    if (!place.tensor || !is_own(parser->build, place.tensor))
        return ok;
    if (parser->build->placed.items[place.tensor->id])
        return diagnostics_error(parser->diagnostics, place.name->span,
                                 "'%s' already has a placement; a tensor has one", place.tensor->name);
    parser->build->placed.items[place.tensor->id] = true;
    if (ok)
        check_all_levels(&place);
    place.placement->span = span_join(place.placement->span, parser->tokens.items[parser->at - 1].span);
    if (ok && !place.failed)
        place.failed = !check_balance(parser->diagnostics, place.tensor, place.placement);
    if (ok && !place.failed)
        place.tensor->placement = place.placement;
    return ok;
}
