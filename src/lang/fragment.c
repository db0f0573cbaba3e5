// SPDX-License-Identifier: BSD-3-Clause
#include "lang/fragment.h"

#include "lang/parser.h"

static Parser parser_of(ProgramBuilder *builder, Fragment fragment) {
    return (Parser){.arena = builder->arena,
                    .diagnostics = builder->diagnostics,
                    .tokens = tokenize_at(builder->arena, fragment.text, fragment.line, fragment.column,
                                          builder->diagnostics),
                    .repetition = -1,
                    .build = builder};
}

static void skip_separators(Parser *parser) {
    while (peek(parser)->kind == TOKEN_NEWLINE || peek(parser)->kind == TOKEN_SEMICOLON)
        take(parser);
}

// Whether the construct was read without mistakes and is the whole text.
static bool finish(Parser *parser, bool ok, int64_t errors_before) {
    if (ok && peek(parser)->kind != TOKEN_END)
        expected(parser, "the end of the text");
    return ok && parser->diagnostics->errors == errors_before;
}

bool fragment_tensor(ProgramBuilder *builder, Fragment fragment) {
    const int64_t errors = builder->diagnostics->errors;
    Parser parser = parser_of(builder, fragment);
    return finish(&parser, parse_tensor_declaration(&parser), errors);
}

bool fragment_placement(ProgramBuilder *builder, Fragment fragment) {
    const int64_t errors = builder->diagnostics->errors;
    Parser parser = parser_of(builder, fragment);
    return finish(&parser, parse_arrows(&parser), errors);
}

bool fragment_machine(ProgramBuilder *builder, const char *name, Fragment fragment) {
    const int64_t errors = builder->diagnostics->errors;
    Parser parser = parser_of(builder, fragment);
    Machine *machine = arena_new(builder->arena, Machine);
    machine->name = name;
    bool known = true;
    const bool ok = parse_levels(&parser, machine, &known);
    return finish(&parser, ok, errors) && build_machine(builder, machine, known);
}

bool fragment_statement(ProgramBuilder *builder, Fragment fragment, bool *is_one) {
    const int64_t errors = builder->diagnostics->errors;
    Parser parser = parser_of(builder, fragment);
    skip_separators(&parser);
    *is_one = peek(&parser)->kind != TOKEN_END;
    if (!*is_one || !parse_assignment(&parser))
        return false;
    skip_separators(&parser);
    *is_one = peek(&parser)->kind == TOKEN_END;
    return *is_one && builder->diagnostics->errors == errors;
}

bool fragment_commands(ProgramBuilder *builder, Fragment fragment, CommandArray *commands, bool *is_all) {
    const int64_t errors = builder->diagnostics->errors;
    Parser parser = parser_of(builder, fragment);
    parse_commands(&parser, true, commands);
    *is_all = parser.tokens.items[parser.at].kind == TOKEN_END;
    return *is_all && builder->diagnostics->errors == errors;
}

bool fragment_argument(ProgramBuilder *builder, Fragment fragment, ArgumentKind kind, Arg *arg) {
    const int64_t errors = builder->diagnostics->errors;
    Parser parser = parser_of(builder, fragment);
    const bool is_list = kind == TAKES_NAMES || kind == TAKES_VARIABLES;
    const bool ok = is_list ? parse_name_list(&parser, arg) : parse_argument(&parser, kind, arg);
    return finish(&parser, ok, errors);
}
