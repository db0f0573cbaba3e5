// SPDX-License-Identifier: BSD-3-Clause
#include "lang/program.h"

#include "lang/check.h"
#include "lang/parser.h"

#include <string.h>

static const struct {
    const char *keyword;
    bool (*parse)(Parser *parser);
} declarations[] = {
    {"param", parse_param}, {"machine", parse_machine},   {"tensor", parse_tensor},
    {"place", parse_place}, {"schedule", parse_schedule},
};

static bool parse_statement(Parser *parser) {
    const Token *token = peek(parser);
    if (token->kind == TOKEN_NAME)
        for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++)
            if (strcmp(declarations[i].keyword, token->text) == 0)
                return declarations[i].parse(parser);
    return parse_assignment(parser);
}

static void parse_all(Parser *parser) {
    while (peek(parser)->kind != TOKEN_END) {
        if (at_statement_end(parser)) {
            take(parser);
            continue;
        }
        int64_t start = parser->at;
        bool ok = parse_statement(parser);
        if (ok && !at_statement_end(parser))
            ok = expected(parser, "the end of the line");
        if (!ok)
            recover(parser, start);
    }
    if (parser->diagnostics->errors >= MAX_ERRORS)
        diagnostics_note(parser->diagnostics, (Span){0}, "reading stops after %d errors", MAX_ERRORS);
}

static bool mentions(const void *text, const char *name) {
    const Tokens *tokens = text;
    for (int64_t i = 0; i < tokens->count; i++)
        if (tokens->items[i].kind == TOKEN_NAME && strcmp(tokens->items[i].text, name) == 0)
            return true;
    return false;
}

const Program *program_parse(Arena *arena, Source source, const ParamOverride *overrides, int override_count,
                             int64_t ranks, Diagnostics *diagnostics) {
    const int64_t errors_before = diagnostics->errors;
    const Tokens tokens = tokenize(arena, source.text, diagnostics);
    ProgramBuilder builder = {.arena = arena,
                              .diagnostics = diagnostics,
                              .overrides = overrides,
                              .override_count = override_count,
                              .is_mentioned = mentions,
                              .text = &tokens};
    Parser parser = {.arena = arena, .diagnostics = diagnostics, .tokens = tokens, .build = &builder};
    build_ranks(&builder, ranks);
    parse_all(&parser);
    check_overrides(&builder);
    if (diagnostics->errors > errors_before)
        return NULL;
    const Program program = build_finish(&builder, source);
    return arena_copy(arena, &program, sizeof program);
}

int64_t *program_param_values(const Program *program, Arena *arena) {
    int64_t *values = arena_array(arena, int64_t, program->param_count);
    for (int i = 0; i < program->param_count; i++)
        values[i] = program->params[i].value;
    return values;
}

Symbols program_symbols(const Program *program) {
    return (Symbols){
        .machine_count = program->machine_count,
        .machines = program->machines,
        .tensor_count = program->tensor_count,
        .tensors = program->tensors,
        .param_count = program->param_count,
        .params = program->param_names,
    };
}

static bool mentions_ranks(const IntExpr *expr) {
    if (!expr)
        return false;
    return (expr->op == INT_PARAM && expr->value == 0) || mentions_ranks(expr->left) ||
           mentions_ranks(expr->right);
}

static bool arg_uses_ranks(const Arg *arg) {
    bool uses = mentions_ranks(arg->value);
    for (int i = 0; i < arg->item_count && !uses; i++)
        uses = arg_uses_ranks(&arg->items[i]);
    return uses;
}

bool program_uses_ranks(const Program *program) {
    bool uses = false;
    for (int i = 1; i < program->param_count; i++)
        uses |= mentions_ranks(program->params[i].definition);
    for (int i = 0; i < program->machine_count; i++)
        for (int d = 0; d < program->machines[i]->order; d++)
            uses |= mentions_ranks(program->machines[i]->extents[d]);
    for (int i = 0; i < program->tensor_count; i++)
        for (int d = 0; d < program->tensors[i]->order; d++)
            uses |= mentions_ranks(program->tensors[i]->extents[d]);
    for (int i = 0; i < program->statement_count; i++)
        for (int c = 0; c < program->statements[i].command_count; c++)
            for (int a = 0; a < program->statements[i].commands[c].arg_count; a++)
                uses |= arg_uses_ranks(&program->statements[i].commands[c].args[a]);
    return uses;
}

typedef struct {
    const Tensor *tensor;
    bool found;
} Search;

static void search(void *context, const Access *access) {
    Search *it = context;
    it->found |= access->tensor == it->tensor;
}

bool program_is_input(const Program *program, const Tensor *tensor) {
    for (int i = 0; i < program->statement_count; i++) {
        const Assignment *assignment = program->statements[i].assignment;
        Search reads = {.tensor = tensor};
        expr_accesses(assignment->rhs, search, &reads);
        if (assignment->lhs->tensor == tensor)
            return assignment->accumulate;
        if (reads.found)
            return true;
    }
    return false;
}

bool program_is_output(const Program *program, const Tensor *tensor) {
    for (int i = 0; i < program->statement_count; i++)
        if (program->statements[i].assignment->lhs->tensor == tensor)
            return true;
    return false;
}
