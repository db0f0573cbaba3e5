// SPDX-License-Identifier: BSD-3-Clause
// Statements and their schedules. Each statement is a separate program, with the tensors that it mentions and
// the params and machines of the context. Commands are applied by the calls that add them, so that a call
// returns the diagnostics of its own mistakes.
#include "api/planned.h"

#include "lang/check.h"
#include "lang/tokens.h"

#include <stdlib.h>
#include <string.h>

// The name of a source that calls have made: diagnostics have that of the call instead.
static const char made_by_calls[] = "distal";

static distal_statement *statement_new(distal_context *context) {
    Arena *arena = arena_create_within(context->arena);
    distal_statement *statement = calloc(1, sizeof *statement);
    if (!statement) {
        arena_free(arena);
        return NULL;
    }
    statement->arena = arena;
    statement->context = context;
    statement->references = 1;
    statement->source = text_create(arena);
    statement->build =
        (ProgramBuilder){.arena = arena, .outer = &context->build, .outside = &context->statement_names};
    distal_statement **end = &context->statements;
    while (*end)
        end = &(*end)->next;
    *end = statement;
    return statement;
}

void statement_release(distal_statement *statement) {
    if (--statement->references > 0)
        return;
    arena_free(statement->arena);
    free(statement);
}

void distal_statement_free(distal_statement *statement) {
    if (!statement)
        return;
    distal_statement **at = &statement->context->statements;
    while (*at != statement)
        at = &(*at)->next;
    *at = statement->next;
    statement->context = NULL;
    PlannedProgram *planned = statement->planned;
    statement->planned = NULL;
    planned_release(planned); // may remove a reference to the statement
    statement_release(statement);
}

// The statement's copy of a tensor of the context.
static const Tensor *own_tensor(void *context, const Tensor *declared) {
    distal_statement *statement = context;
    for (int64_t i = 0; i < statement->tensors.count; i++)
        if (strcmp(statement->tensors.items[i].tensor->name, declared->name) == 0)
            return statement->tensors.items[i].tensor;
    // `declared` may belong to a program that is being added to the context: the context's own tensor is
    // used.
    const distal_tensor *tensor = context_tensor(statement->context, declared->name);
    Tensor *copy = tensor_copy(statement->arena, tensor->tensor);
    copy->id = (int)statement->tensors.count;
    const StatementTensor added = {copy, tensor->serial};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(statement->arena, statement->build.tensors, copy);
    array_push(statement->arena, statement->tensors, added);
    return copy;
}

static const char *source_of(const distal_statement *statement) {
    return statement->shared ? statement->shared : text_string(&statement->source);
}

void statement_show(distal_statement *statement) {
    statement->build.diagnostics = statement->context->diagnostics;
    context_show(statement->context, statement->name == made_by_calls ? NULL : statement->name,
                 source_of(statement));
}

void statement_own_source(distal_statement *statement) {
    if (statement->shared)
        text_append(&statement->source, statement->shared);
    statement->shared = NULL;
    statement->lines = 0;
    for (const char *at = text_string(&statement->source); *at; at++)
        statement->lines += *at == '\n';
}

// Updates the program, as machines, params, tensors and commands may have been added.
static void refresh(distal_statement *statement) {
    const ProgramBuilder *shared = &statement->context->build;
    statement->written = (Statement){.assignment = statement->assignment,
                                     .has_schedule = statement->commands.count > 0,
                                     .command_count = (int)statement->commands.count,
                                     .commands = statement->commands.items};
    statement->program = (Program){.source = {statement->name, source_of(statement)},
                                   .param_count = (int)shared->params.count,
                                   .params = shared->params.items,
                                   .param_names = shared->param_names.items,
                                   .machine_count = (int)shared->machines.count,
                                   .machines = shared->machines.items,
                                   .tensor_count = (int)statement->build.tensors.count,
                                   .tensors = statement->build.tensors.items,
                                   .statement_count = 1,
                                   .statements = &statement->written};
    if (statement->pipeline)
        pipeline_extend(statement->pipeline, &statement->program);
}

static distal_status run(distal_statement *statement, Pass last) {
    statement_show(statement);
    return call_run_passes(statement->context, statement->pipeline, last);
}

// Initializes a statement whose source is set.
static distal_status begin(distal_statement *statement, const Assignment *assignment) {
    Text text = text_create(statement->arena);
    assignment_print(assignment, &text);
    statement->text = text_string(&text);
    statement->assignment = assignment_with_tensors(statement->arena, assignment, own_tensor, statement);
    statement->target = statement->assignment->lhs->tensor->name;
    refresh(statement);
    statement->pipeline = pipeline_of(statement->arena, &statement->program, statement->context->ranks);
    return run(statement, PASS_SCHEDULE);
}

distal_status statement_declare(distal_context *context, const Assignment *assignment, const char *name,
                                const char *source, distal_statement **result) {
    distal_statement *statement = *result = statement_new(context);
    if (!statement)
        return out_of_memory(context);
    statement->name = name ? name : made_by_calls;
    statement->shared = source;
    return begin(statement, assignment);
}

typedef struct {
    const char *text;
    int index;
    distal_statement *statement;
} StatementCall;

static distal_status create(distal_context *context, void *arguments) {
    StatementCall *call = arguments;
    const char *text = call->text;
    if (!text)
        return invalid(context, "the text of the statement is NULL");
    distal_statement *statement = call->statement = statement_new(context);
    if (!statement)
        return out_of_memory(context);
    statement->name = made_by_calls;
    text_printf(&statement->source, "%s\n", text);
    statement_show(statement);
    const Tokens tokens = tokenize(context->scratch, text, diagnostics_create(context->scratch, (Source){0}));
    if (tokens.items[0].kind == TOKEN_NAME && is_keyword(tokens.items[0].text))
        return invalid(context, "'%.60s' declares something besides a statement", text);
    bool is_one;
    if (fragment_statement(&statement->build, (Fragment){text, 1, 1}, &is_one))
        return begin(statement, statement->build.statements.items[0].statement.assignment);
    return is_one || context->diagnostics->errors > 0
               ? DISTAL_INVALID
               : invalid(context, "'%.60s' is not one statement such as A(i) = B(i, j) * c(j)", text);
}

distal_status distal_statement_create(distal_context *context, const char *text,
                                      distal_statement **statement) {
    if (statement)
        *statement = NULL;
    if (!context || !statement)
        return missing_argument(context, "distal_statement_create",
                                context ? "the place for the statement" : "the context");
    StatementCall call = {.text = text};
    const distal_status status =
        call_end(context, call_local(context, "distal_statement_create", create, &call));
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
        if (!statement->is_computed && strcmp(statement->target, call->text) == 0 && found++ == call->index)
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
    const distal_status status = call_local(context, "distal_statement_find", find, &call);
    *statement = call.statement;
    return call_end(context, status);
}

void statement_answer(distal_statement *statement, const char *text) {
    if (!statement->answers)
        statement->answers = arena_create_within(statement->arena);
    arena_reset(statement->answers);
    statement->answer = copy_text(statement->answers, text);
}

distal_status statement_return_text(distal_statement *statement, const char *call, CallBody body,
                                    const char **text) {
    if (text)
        *text = NULL;
    if (!statement || !text)
        return missing_argument(statement ? statement->context : NULL, call,
                                statement ? "the place for the text" : "the statement");
    const distal_status status = call_local(statement->context, call, body, statement);
    if (status == DISTAL_OK)
        *text = statement->answer;
    return call_end(statement->context, status);
}

static distal_status answer_text(distal_context *context, void *arguments) {
    distal_statement *statement = arguments;
    refresh(statement); // machines and params may have been declared since
    const Program program = statement->program;
    Text text = text_create(context->scratch);
    program_print(&program, program_used_params(&program, text.arena), &text);
    statement_answer(statement, text_string(&text));
    return DISTAL_OK;
}

distal_status distal_statement_text(distal_statement *statement, const char **text) {
    return statement_return_text(statement, "distal_statement_text", answer_text, text);
}

// False with a diagnostic if a workspace has the name of a tensor of the context, which the statement may not
// mention.
static bool check_workspace(distal_statement *statement, const Command *command) {
    const ScheduleCommand *row = schedule_command(command->name);
    for (int a = 0; row && a < command->arg_count && a < row->forms[0].count; a++) {
        const Arg *arg = &command->args[a];
        if (row->forms[0].arguments[a].kind == TAKES_WORKSPACE && arg->kind == ARG_NAME &&
            context_tensor(statement->context, arg->name))
            return diagnostics_error(
                statement->context->diagnostics, arg->span,
                "cannot %s: '%s' is already a tensor; choose another name for the workspace", command->name,
                arg->name);
    }
    return true;
}

// Copies tensors that were declared again in another way; sets *changed if there are any.
static distal_status update_tensors(distal_statement *statement, bool *changed) {
    distal_context *context = statement->context;
    for (int64_t i = 0; i < statement->tensors.count; i++) {
        StatementTensor *at = &statement->tensors.items[i];
        const distal_tensor *now = context_tensor(context, at->tensor->name);
        if (!now)
            return invalid(context, "tensor '%s' of the statement '%.60s' has been freed", at->tensor->name,
                           statement->text);
        if (now->serial == at->serial)
            continue;
        if (now->tensor->order != at->tensor->order)
            return invalid(context,
                           "tensor '%s' of the statement '%.60s' now has another number of modes, %d",
                           at->tensor->name, statement->text, now->tensor->order);
        if (!tensor_is_like(now->tensor, at->tensor)) {
            const int id = at->tensor->id;
            *at->tensor = *tensor_copy(statement->arena, now->tensor);
            at->tensor->id = id;
            *changed = true;
        }
        at->serial = now->serial;
    }
    return DISTAL_OK;
}

// Updates the statement to tensors that have been declared again.
static distal_status update(distal_statement *statement) {
    bool changed = false;
    statement_show(statement);
    distal_status status = update_tensors(statement, &changed);
    refresh(statement);
    if (status != DISTAL_OK)
        return status;
    if (changed) {
        assignment_take_extents(statement->arena, statement->assignment);
        statement->target = statement->assignment->lhs->tensor->name;
        statement->pipeline = pipeline_of(statement->arena, &statement->program, statement->context->ranks);
    }
    return check_extents(&statement->build, statement->assignment) &&
                   (!changed || check_assignment(&statement->build, statement->assignment))
               ? DISTAL_OK
               : DISTAL_INVALID;
}

distal_status statement_add_commands(distal_statement *statement, int64_t count, const Command *commands) {
    distal_status status = update(statement);
    const bool failed = statement->failed;
    const int64_t before = statement->commands.count;
    statement->failed = true; // in case memory runs out
    for (int64_t i = 0; i < count && status == DISTAL_OK; i++) {
        if (!check_workspace(statement, &commands[i]))
            status = DISTAL_INVALID;
        array_push(statement->arena, statement->commands,
                   command_copy(statement->arena, &commands[i], own_tensor, statement));
    }
    refresh(statement);
    if (status == DISTAL_OK)
        status = run(statement, PASS_SCHEDULE);
    if (status == DISTAL_OK) {
        statement->failed = failed;
        return status;
    }
    statement->commands.count = before;
    refresh(statement);
    return status;
}

// Reports the error of the failed command again.
static distal_status repeat_mistake(distal_statement *statement) {
    if (!statement->failed_call) // memory ran out
        return out_of_memory(statement->context);
    Diagnostics *diagnostics = statement->context->diagnostics;
    statement_show(statement);
    diagnostics_repeat_error(diagnostics, statement->mistake.span, statement->mistake.message);
    diagnostics_note(diagnostics, statement->mistake.span,
                     "%s of the statement '%.60s' has failed before with this error", statement->failed_call,
                     statement->text);
    return DISTAL_INVALID;
}

distal_status statement_compile(distal_statement *statement) {
    if (statement->failed)
        return repeat_mistake(statement);
    const distal_status status = update(statement);
    return status == DISTAL_OK ? run(statement, PASS_C) : status;
}
