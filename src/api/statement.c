// SPDX-License-Identifier: BSD-3-Clause
// Statements and their schedules. Every command is text of the language, tried at once on the statement with
// the commands before it, so that a mistake is found in the call that makes it.
#include "api/planned.h"

#include <stdlib.h>
#include <string.h>

// The program of a statement with the tensors that `mentions` names.
static const char *program_with(const distal_statement *statement, const char *mentions) {
    Text program = context_program(statement->context, mentions, NULL);
    text_printf(&program, "\n%s\n", statement->text);
    if (statement->commands.count > 0) {
        text_printf(&program, "\nschedule %s {\n", statement->target);
        for (int64_t i = 0; i < statement->commands.count; i++)
            text_printf(&program, "  %s\n", statement->commands.items[i]);
        text_append(&program, "}\n");
    }
    return text_string(&program);
}

const char *statement_program(distal_statement *statement) {
    Text words = text_create(statement->context->scratch);
    text_append(&words, statement->text);
    for (int64_t i = 0; i < statement->commands.count; i++)
        text_printf(&words, "\n%s", statement->commands.items[i]);
    return program_with(statement, text_string(&words));
}

// Whether the statement with its commands is right; `text` is its program.
static distal_status try(distal_statement *statement, const char *text) {
    distal_context *context = statement->context;
    bool ok;
    const Pipeline *pipeline = context_compile(context, context->scratch, text, PASS_SCHEDULE, NULL, &ok);
    if (!ok)
        return pipeline_status(pipeline, ok);
    if (pipeline->program->statement_count != 1)
        return invalid(context, "'%.60s' is not one statement such as A(i) = B(i, j) * c(j)",
                       statement->text);
    const Tensor *target = pipeline->program->statements[0].assignment->lhs->tensor;
    if (!statement->target)
        statement->target = copy_text(statement->arena, target->name);
    // What is declared inside of a statement or of its schedule would be lost with it.
    int tensors;
    context_mentioned(context, text, &tensors);
    if (pipeline->program->tensor_count != tensors || strcmp(statement->target, target->name) != 0)
        return invalid(context, "'%.60s' declares something besides the statement", statement->text);
    return DISTAL_OK;
}

static distal_statement *statement_new(distal_context *context) {
    Arena *arena = arena_create_within(context->arena);
    distal_statement *statement = calloc(1, sizeof *statement);
    if (!statement) {
        arena_free(arena);
        return NULL;
    }
    statement->arena = arena;
    statement->context = context;
    distal_statement **end = &context->statements;
    while (*end)
        end = &(*end)->next;
    *end = statement;
    return statement;
}

void distal_statement_free(distal_statement *statement) {
    if (!statement)
        return;
    distal_statement **at = &statement->context->statements;
    while (*at != statement)
        at = &(*at)->next;
    *at = statement->next;
    planned_release(statement->planned);
    arena_free(statement->arena);
    free(statement);
}

distal_status statement_declare(distal_context *context, const char *text, int command_count,
                                const char *const *commands, distal_statement **result) {
    distal_statement *statement = *result = statement_new(context);
    if (!statement) {
        context->diagnostics = context->no_memory;
        return DISTAL_FAILED;
    }
    statement->text = copy_text(statement->arena, text);
    distal_status status = try(statement, statement_program(statement));
    // A name that is misspelt is likely to be that of a tensor which the statement does not mention.
    if (status == DISTAL_INVALID)
        status = try(statement, program_with(statement, context_tensor_names(context)));
    for (int i = 0; i < command_count; i++)
        array_push(statement->arena, statement->commands, copy_text(statement->arena, commands[i]));
    return status == DISTAL_OK && command_count > 0 ? try(statement, statement_program(statement)) : status;
}

typedef struct {
    const char *text;
    int index;
    distal_statement *statement;
} StatementCall;

static distal_status create(distal_context *context, void *arguments) {
    StatementCall *call = arguments;
    if (!call->text)
        return invalid(context, "the text of the statement is NULL");
    return statement_declare(context, call->text, 0, NULL, &call->statement);
}

distal_status distal_statement_create(distal_context *context, const char *text,
                                      distal_statement **statement) {
    if (statement)
        *statement = NULL;
    if (!context || !statement)
        return missing_argument(context, "distal_statement_create",
                                context ? "the place for the statement" : "the context");
    StatementCall call = {.text = text};
    distal_status status = call_end(context, call_local(context, create, &call));
    if (status == DISTAL_OK)
        *statement = call.statement;
    else
        distal_statement_free(call.statement);
    return status;
}

static distal_status find(distal_context *context, void *arguments) {
    StatementCall *call = arguments;
    if (!check_name(context, "tensor", call->text))
        return DISTAL_INVALID;
    int found = 0;
    for (distal_statement *statement = context->statements; statement; statement = statement->next)
        if (strcmp(statement->target, call->text) == 0 && found++ == call->index)
            call->statement = statement;
    if (call->statement)
        return DISTAL_OK;
    if (found == 0)
        return invalid(context, "no statement assigns '%s'", call->text);
    return invalid(context, "%d statement%s '%s', and none of them has index %d", found,
                   found == 1 ? " assigns" : "s assign", call->text, call->index);
}

distal_status distal_statement_find(distal_context *context, const char *target, int index,
                                    distal_statement **statement) {
    if (statement)
        *statement = NULL;
    if (!context || !statement)
        return missing_argument(context, "distal_statement_find",
                                context ? "the place for the statement" : "the context");
    StatementCall call = {.text = target, .index = index};
    distal_status status = call_local(context, find, &call);
    *statement = call.statement;
    return call_end(context, status);
}

void statement_answer(distal_statement *statement, const char *text) {
    if (!statement->answers)
        statement->answers = arena_create_within(statement->arena);
    arena_reset(statement->answers);
    statement->answer = copy_text(statement->answers, text);
}

static distal_status answer_text(distal_context *context, void *arguments) {
    (void)context;
    distal_statement *statement = arguments;
    statement_answer(statement, statement_program(statement));
    return DISTAL_OK;
}

distal_status distal_statement_text(distal_statement *statement, const char **text) {
    if (text)
        *text = NULL;
    if (!statement || !text)
        return missing_argument(statement ? statement->context : NULL, "distal_statement_text",
                                statement ? "the place for the text" : "the statement");
    distal_status status = call_local(statement->context, answer_text, statement);
    if (status == DISTAL_OK)
        *text = statement->answer;
    return call_end(statement->context, status);
}

distal_status statement_command(distal_statement *statement, const char *command) {
    const int64_t before = statement->commands.count;
    const bool failed = statement->failed;
    statement->failed = true; // should memory run out
    array_push(statement->arena, statement->commands, copy_text(statement->arena, command));
    distal_status status = try(statement, statement_program(statement));
    if (status == DISTAL_OK)
        statement->failed = failed;
    else
        statement->commands.count = before;
    return status;
}

distal_status statement_compile(distal_statement *statement, Arena *arena, Pass last, const Home *homes,
                                Pipeline **pipeline) {
    distal_context *context = statement->context;
    *pipeline = NULL;
    if (statement->failed)
        return invalid(context, "a schedule command of the statement '%.60s' has failed before",
                       statement->text);
    bool ok;
    *pipeline = context_compile(context, arena, statement_program(statement), last, homes, &ok);
    return pipeline_status(*pipeline, ok);
}
