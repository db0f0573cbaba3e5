// SPDX-License-Identifier: BSD-3-Clause
// param, machine and tensor declarations.
#include "lang/parser.h"

#include <string.h>

static bool parse_one_param(Parser *parser) {
    const Token *name;
    if (!expect_name(parser, "the name of a param", &name))
        return false;
    Integer initial = {.expr = int_const(parser->arena, 0)};
    bool ok = expect(parser, TOKEN_ASSIGN, "'=' and a value") && parse_integer(parser, &initial);
    initial.known &= ok;
    build_param(parser->build, (Param){name->text, name->span, initial.value, initial.expr}, initial.known);
    return ok && (at_statement_end(parser) || peek(parser)->kind == TOKEN_COMMA ||
                  expected(parser, "',', an operator or the end of the line"));
}

static bool at_next_param(const Parser *parser) {
    return peek(parser)->kind == TOKEN_NAME && !is_keyword(peek(parser)->text) &&
           peek_second(parser)->kind == TOKEN_ASSIGN;
}

// After a mistake in one param, or a missing comma, the other params of the line are parsed.
bool parse_param(Parser *parser) {
    take(parser);
    bool all = true;
    do {
        if (!parse_one_param(parser)) {
            all = false;
            parser->skip_newlines = false;
            while (!at_statement_end(parser) && peek(parser)->kind != TOKEN_COMMA && !at_next_param(parser))
                skip_brackets(parser);
        }
    } while (accept(parser, TOKEN_COMMA) || at_next_param(parser));
    return all;
}

static const char *const level_names[] = {"node", "socket", "core", "gpu"};
enum { LEVEL_NAME_COUNT = sizeof level_names / sizeof *level_names };
_Static_assert((int)LEVEL_NAME_COUNT <= (int)MAX_MACHINE_LEVELS, "a machine may have all levels, each once");

static bool is_level_name(const char *name) {
    for (int i = 0; i < LEVEL_NAME_COUNT; i++)
        if (strcmp(level_names[i], name) == 0)
            return true;
    return false;
}

static bool check_level_name(Parser *parser, const Machine *machine, const Token *name) {
    if (machine_level(machine, name->text))
        return diagnostics_error(parser->diagnostics, name->span, "machine '%s' has level '%s' twice",
                                 machine->name, name->text);
    return is_level_name(name->text) ||
           diagnostics_error(
               parser->diagnostics, name->span, "unknown level '%s' of a machine%s", name->text,
               did_you_mean(parser->arena, name->text, "levels", level_names, LEVEL_NAME_COUNT));
}

// Adds `grid(size, ...)` to the last level of the machine.
static bool parse_grid(Parser *parser, Machine *machine, bool *known) {
    const Token *word = peek(parser);
    if (word->kind != TOKEN_NAME || strcmp(word->text, "grid") != 0)
        return expected(parser, "'grid(...)'");
    take(parser);
    if (peek(parser)->kind != TOKEN_OPEN_PAREN)
        return expected(parser, "'(' after 'grid'");
    MachineLevel *level = &machine->levels[machine->level_count - 1];
    List sizes = list_open(parser);
    while (list_next(&sizes)) {
        Integer size;
        if (!parse_integer(parser, &size))
            return false;
        if (machine->order == MAX_MACHINE_ORDER)
            return diagnostics_error(parser->diagnostics, size.span, "a machine has at most %d dimensions",
                                     MAX_MACHINE_ORDER);
        *known &= size.known;
        machine->extents[machine->order] = size.expr;
        machine->extent_spans[machine->order] = size.span;
        machine->order++;
        level->order++;
    }
    if (level->order == 0)
        return diagnostics_error(parser->diagnostics, word->span,
                                 "a grid has at least one dimension: grid(4)");
    return list_close(&sizes, "',', ')' or an operator");
}

static bool parse_level(Parser *parser, Machine *machine, bool *known) {
    const Token *name = peek(parser);
    bool flat = name->kind == TOKEN_NAME && strcmp(name->text, "grid") == 0 &&
                peek_second(parser)->kind == TOKEN_OPEN_PAREN;
    if (flat && machine->level_count > 0)
        return diagnostics_error(
            parser->diagnostics, name->span,
            "a machine with several levels names each of them: node grid(2, 2), gpu grid(4)");
    if (!flat) {
        static const char what[] = "'grid(...)' or a level and its grid, such as 'node grid(2, 2)'";
        if (name->kind == TOKEN_NAME && peek_second(parser)->kind == TOKEN_OPEN_PAREN &&
            !is_level_name(name->text))
            return expected(parser, what);
        if (!expect_name(parser, what, &name))
            return false;
        check_level_name(parser, machine, name);
        // One of the levels has been diagnosed then.
        if (machine->level_count == MAX_MACHINE_LEVELS)
            return false;
    }
    machine->levels[machine->level_count++] =
        (MachineLevel){.name = flat ? "" : name->text, .first = machine->order};
    if (!parse_grid(parser, machine, known))
        return false;
    if (flat && peek(parser)->kind == TOKEN_COMMA)
        return diagnostics_error(
            parser->diagnostics, name->span,
            "a machine with several levels names each of them: node grid(2, 2), gpu grid(4)");
    return true;
}

bool parse_levels(Parser *parser, Machine *machine, bool *known) {
    bool ok;
    do
        ok = parse_level(parser, machine, known);
    while (ok && accept(parser, TOKEN_COMMA));
    return ok;
}

bool parse_machine(Parser *parser) {
    take(parser);
    const Token *name;
    if (!expect_name(parser, "the name of a machine", &name))
        return false;
    Machine *machine = arena_new(parser->arena, Machine);
    machine->name = name->text;
    machine->span = name->span;
    bool known = true;
    const bool ok = expect(parser, TOKEN_ASSIGN, "'='") && parse_levels(parser, machine, &known);
    build_machine(parser->build, machine, ok && known);
    return ok;
}

static bool parse_extents(Parser *parser, Tensor *tensor, bool *known) {
    List extents = list_open(parser);
    while (list_next(&extents)) {
        Integer extent;
        if (!parse_integer(parser, &extent))
            return false;
        if (tensor->order == MAX_ORDER)
            return diagnostics_error(parser->diagnostics, extent.span, "a tensor has at most %d modes",
                                     MAX_ORDER);
        *known &= extent.known;
        tensor->extents[tensor->order] = extent.expr;
        tensor->extent_spans[tensor->order] = extent.span;
        tensor->order++;
    }
    return list_close(&extents, "',', ')' or an operator");
}

static bool parse_type(Parser *parser, Tensor *tensor, bool *known) {
    const Token *name;
    if (!expect_name(parser, "a type", &name))
        return false;
    if (type_by_name(name->text, &tensor->type))
        return true;
    const char *names[TYPE_COUNT];
    for (int i = 0; i < TYPE_COUNT; i++)
        names[i] = type_info((ElementType)i)->name;
    diagnostics_error(parser->diagnostics, name->span, "unknown type '%s'%s", name->text,
                      did_you_mean(parser->arena, name->text, "types", names, TYPE_COUNT));
    *known = false;
    return true;
}

static bool parse_tensor_body(Parser *parser, Tensor *tensor, bool *known) {
    if (peek(parser)->kind == TOKEN_OPEN_PAREN && !parse_extents(parser, tensor, known))
        return false;
    if (peek(parser)->kind != TOKEN_COLON)
        return expected(parser, tensor->order == 0 ? "extents (...) or ':' and a type" : "':' and a type");
    take(parser);
    return parse_type(parser, tensor, known) && parse_storage(parser, tensor);
}

bool parse_tensor(Parser *parser) {
    take(parser);
    return parse_tensor_declaration(parser);
}

bool parse_tensor_declaration(Parser *parser) {
    const Token *name;
    if (!expect_name(parser, "the name of a tensor", &name))
        return false;
    Tensor *tensor = arena_new(parser->arena, Tensor);
    tensor->name = name->text;
    tensor->span = name->span;
    bool known = true, ok = parse_tensor_body(parser, tensor, &known);
    build_tensor(parser->build, tensor, ok && known);
    return ok;
}
