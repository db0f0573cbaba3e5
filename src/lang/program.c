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
    {"place", parse_place}, {"schedule", parse_schedule}, {"repeat", parse_repetition},
};

// What stands between the braces of a repetition is executed; names are declared outside.
static bool is_repeated(const char *keyword) {
    return strcmp(keyword, "schedule") == 0 || strcmp(keyword, "repeat") == 0;
}

static bool parse_statement(Parser *parser) {
    const Token *token = peek(parser);
    if (token->kind == TOKEN_NAME)
        for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++)
            if (strcmp(declarations[i].keyword, token->text) == 0)
                return parser->repetition < 0 || is_repeated(token->text)
                           ? declarations[i].parse(parser)
                           : diagnostics_error(parser->diagnostics, token->span,
                                               "'%s' stands before a repetition, not inside of it: there are "
                                               "statements and their schedules only",
                                               token->text);
    return parse_assignment(parser);
}

void parse_statements(Parser *parser) {
    const TokenKind end = parser->repetition < 0 ? TOKEN_END : TOKEN_CLOSE_BRACE;
    while (peek(parser)->kind != TOKEN_END && peek(parser)->kind != end) {
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
}

const Program *program_read(ProgramBuilder *builder, Source source) {
    const int64_t errors_before = builder->diagnostics->errors;
    const Tokens tokens = tokenize(builder->arena, source.text, builder->diagnostics);
    Parser parser = {.arena = builder->arena,
                     .diagnostics = builder->diagnostics,
                     .tokens = tokens,
                     .repetition = -1,
                     .build = builder};
    if (builder->inherits)
        build_inherit(builder);
    parse_statements(&parser);
    if (builder->diagnostics->errors >= MAX_ERRORS)
        diagnostics_note(builder->diagnostics, (Span){0}, "reading stops after %d errors", MAX_ERRORS);
    check_overrides(builder);
    if (builder->diagnostics->errors > errors_before)
        return NULL;
    const Program program = build_finish(builder, source);
    return arena_copy(builder->arena, &program, sizeof program);
}

const Program *program_parse(Arena *arena, Source source, const ParamOverride *overrides, int override_count,
                             int64_t ranks, Diagnostics *diagnostics) {
    ProgramBuilder builder = {
        .arena = arena, .diagnostics = diagnostics, .overrides = overrides, .override_count = override_count};
    build_ranks(&builder, ranks);
    return program_read(&builder, source);
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

static void mark(const IntExpr *expr, bool *used) {
    if (!expr)
        return;
    if (expr->op == INT_PARAM)
        used[expr->value] = true;
    mark(expr->left, used);
    mark(expr->right, used);
}

static void mark_expr(const Expr *expr, bool *used) {
    if (!expr)
        return;
    mark(expr->param, used);
    mark_expr(expr->left, used);
    mark_expr(expr->right, used);
}

static void mark_arg(const Arg *arg, bool *used) {
    mark(arg->value, used);
    for (int i = 0; i < arg->item_count; i++)
        mark_arg(&arg->items[i], used);
}

static void mark_entry(const PlaceEntry *entry, bool *used) {
    mark(entry->cycle, used);
    for (int64_t i = 0; i < entry->start_count; i++)
        mark(entry->starts[i], used);
}

static void mark_tensor(const Tensor *tensor, bool placements, bool *used) {
    for (int d = 0; d < tensor->order; d++)
        mark(tensor->extents[d], used);
    for (int d = 0; placements && tensor->placement && d < tensor->placement->machine->order; d++)
        mark_entry(&tensor->placement->entries[d], used);
}

// `placements`: params in the blocks of placements count as well.
static bool *used_params(const Program *program, bool placements, Arena *arena) {
    bool *used = arena_array(arena, bool, program->param_count);
    for (int i = 0; i < program->machine_count; i++)
        for (int d = 0; d < program->machines[i]->order; d++)
            mark(program->machines[i]->extents[d], used);
    for (int i = 0; i < program->tensor_count; i++)
        mark_tensor(program->tensors[i], placements, used);
    for (int i = 0; i < program->statement_count; i++) {
        mark_expr(program->statements[i].assignment->rhs, used);
        for (int c = 0; c < program->statements[i].command_count; c++)
            for (int a = 0; a < program->statements[i].commands[c].arg_count; a++)
                mark_arg(&program->statements[i].commands[c].args[a], used);
    }
    for (int i = 0; i < program->repetition_count; i++)
        mark(program->repetitions[i].count, used);
    // Definitions mention earlier params only.
    for (int i = program->param_count - 1; i > 0; i--)
        if (used[i])
            mark(program->params[i].definition, used);
    return used;
}

bool *program_used_params(const Program *program, Arena *arena) {
    return used_params(program, true, arena);
}

bool program_uses_ranks(const Program *program, Arena *arena) {
    bool *used = used_params(program, false, arena);
    for (int i = 1; i < program->param_count; i++)
        mark(program->params[i].definition, used);
    return used[0];
}

bool program_is_input(const Program *program, const Tensor *tensor) {
    for (int i = 0; i < program->statement_count; i++) {
        const Assignment *assignment = program->statements[i].assignment;
        if (assignment->lhs->tensor == tensor)
            return assignment_reads_target(assignment);
        if (expr_access_of(assignment->rhs, tensor))
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
