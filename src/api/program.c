// SPDX-License-Identifier: BSD-3-Clause
// A whole program as text: taken apart into the declarations that calls would have made one by one.
#include "api/context.h"

#include "lang/tokens.h"

#include <string.h>

typedef struct {
    const char *name, *text;
} ProgramCall;

// What the caller has set, for the params that the text declares.
static ParamOverride *find_overrides(distal_context *context, const char *text, int *count) {
    Array(ParamOverride) overrides = {0};
    const Tokens tokens =
        tokenize(context->scratch, text, diagnostics_create(context->scratch, (Source){"", NULL}));
    for (int64_t i = 0; i + 1 < tokens.count; i++) {
        if (tokens.items[i].kind != TOKEN_NAME || tokens.items[i + 1].kind != TOKEN_ASSIGN)
            continue;
        const Parameter *param = context_param(context, tokens.items[i].text);
        if (param && param->given)
            array_push(context->scratch, overrides, (ParamOverride){param->name, param->value});
    }
    *count = (int)overrides.count;
    return overrides.items;
}

static void declare_params(distal_context *context, const Program *program) {
    const IntNames names = {.params = program->param_names};
    for (int i = 1; i < program->param_count; i++) {
        const Param *from = &program->params[i];
        if (context_param(context, from->name))
            continue;
        Text definition = text_create(context->arena);
        int_print(from->definition, names, &definition);
        context_add_param(context, from->name)->definition = text_string(&definition);
    }
}

// The text without the newline that a printer ends it with.
static const char *line(const Text *text) {
    text->data[text->length - 1] = '\0';
    return text->data;
}

static distal_status declare_machines(distal_context *context, const Program *program) {
    distal_status status = DISTAL_OK;
    for (int i = 0; i < program->machine_count && status == DISTAL_OK; i++) {
        Text text = text_create(context->scratch);
        machine_print(program, program->machines[i], &text);
        status = machine_declare(context, line(&text));
    }
    return status;
}

static distal_status declare_tensors(distal_context *context, const Program *program) {
    distal_status status = DISTAL_OK;
    for (int i = 0; i < program->tensor_count && status == DISTAL_OK; i++) {
        Text text = text_create(context->scratch), place = text_create(context->scratch);
        tensor_print(program, program->tensors[i], &text);
        placement_print(program, program->tensors[i], &place);
        distal_tensor *tensor = NULL;
        status = tensor_declare(context, NULL, line(&text), place.length ? line(&place) : NULL, &tensor);
        if (status != DISTAL_OK && tensor)
            tensor_release(tensor);
    }
    return status;
}

static distal_status declare_statements(distal_context *context, const Program *program) {
    distal_status status = DISTAL_OK;
    for (int i = 0; i < program->statement_count && status == DISTAL_OK; i++) {
        const Statement *from = &program->statements[i];
        const char **commands = arena_array(context->scratch, const char *, from->command_count);
        for (int c = 0; c < from->command_count; c++) {
            Text command = text_create(context->scratch);
            command_print(program, &from->commands[c], &command);
            commands[c] = text_string(&command);
        }
        Text text = text_create(context->scratch);
        assignment_print(from->assignment, &text);
        distal_statement *statement = NULL;
        status = statement_declare(context, text_string(&text), from->command_count, commands, &statement);
        if (status != DISTAL_OK)
            distal_statement_free(statement);
    }
    return status;
}

static distal_status declare_all(distal_context *context, void *arguments) {
    const ProgramCall *call = arguments;
    if (!call->text)
        return invalid(context, "the text of the program is NULL");
    const Source source = {copy_text(context->scratch, call->name ? call->name : "program"),
                           copy_text(context->scratch, call->text)};
    int override_count;
    const ParamOverride *overrides = find_overrides(context, call->text, &override_count);
    Pipeline *pipeline = pipeline_create(context->scratch, source, overrides, override_count, context->ranks);
    if (!pipeline_run(pipeline, PASS_SCHEDULE)) {
        context->diagnostics = pipeline->diagnostics;
        return pipeline_status(pipeline, false);
    }
    declare_params(context, pipeline->program);
    distal_status status = declare_machines(context, pipeline->program);
    if (status == DISTAL_OK)
        status = declare_tensors(context, pipeline->program);
    return status == DISTAL_OK ? declare_statements(context, pipeline->program) : status;
}

// The ends of the lists of a context, to go back to.
typedef struct {
    Parameter **parameters;
    MachineText **machines;
    distal_tensor **tensors;
    distal_statement **statements;
} Ends;

static Ends find_ends(distal_context *context) {
    Ends ends = {&context->parameters, &context->machines, &context->tensors, &context->statements};
    while (*ends.parameters)
        ends.parameters = &(*ends.parameters)->next;
    while (*ends.machines)
        ends.machines = &(*ends.machines)->next;
    while (*ends.tensors)
        ends.tensors = &(*ends.tensors)->next;
    while (*ends.statements)
        ends.statements = &(*ends.statements)->next;
    return ends;
}

distal_status distal_program(distal_context *context, const char *name, const char *text) {
    if (!context)
        return missing_argument(NULL, "distal_program", "the context");
    const Ends ends = find_ends(context);
    distal_status status = call_local(context, declare_all, &(ProgramCall){name, text});
    if (status != DISTAL_OK) {
        while (*ends.statements)
            distal_statement_free(*ends.statements);
        while (*ends.tensors)
            distal_tensor_free(*ends.tensors);
        *ends.machines = NULL;
        *ends.parameters = NULL;
    }
    return call_end(context, status);
}
