// SPDX-License-Identifier: BSD-3-Clause
// A call for each schedule command. Its arguments, which are text, are parsed as its row in the table of
// commands says (schedule/schedule.h), and the command is applied.
#include "api/context.h"

#include <ctype.h>
#include <string.h>

// By kind of argument: its name in diagnostics, and its characters besides letters and digits.
static const struct {
    const char *is, *marks;
    bool is_list;
} kinds[] = {
    [TAKES_LOOP] = {"a name", "_", false},
    [TAKES_NEW_LOOP] = {"a name", "_", false},
    [TAKES_WORKSPACE] = {"a name", "_", false},
    [TAKES_CHOICE] = {"a name", "_", false},
    [TAKES_MACHINE_OR_TENSOR] = {"a name", "_.", false},
    [TAKES_NAMES] = {"a list of names", "_, ", true},
    [TAKES_VARIABLES] = {"a list of names", "_, ", true},
    [TAKES_INTEGER] = {"an integer expression", "_+-*/() ", false},
    [TAKES_EXPRESSION] = {"a tensor expression", "_+-*/(),. ", false},
    [TAKES_ACCESS] = {"a tensor expression", "_+-*/(),. ", false},
};

typedef struct {
    distal_statement *statement;
    const char *call;
    const char *const *texts; // of the arguments, in order
} CommandCall;

// Whether `text` is one argument, without commas outside of parentheses.
static bool is_one_argument(const char *text) {
    int open = 0;
    for (; *text; text++) {
        open += (*text == '(') - (*text == ')');
        if (open < 0 || (open == 0 && *text == ','))
            return false;
    }
    return open == 0;
}

static bool check_argument(distal_context *context, const ArgumentForm *form, const char *text) {
    if (!text)
        return diagnostics_error(context->diagnostics, (Span){0}, "%s is NULL", form->what);
    bool good = *text != '\0' || form->kind == TAKES_VARIABLES;
    for (const char *at = text; *at; at++)
        good = good && (isalnum((unsigned char)*at) || strchr(kinds[form->kind].marks, *at));
    good = good && (kinds[form->kind].is_list || is_one_argument(text));
    return good || diagnostics_error(context->diagnostics, (Span){0}, "%s, '%.60s', is not %s", form->what,
                                     text, kinds[form->kind].is);
}

// Adds the command to the statement's source, as its next line, and parses its arguments.
static distal_status read_command(distal_context *context, const CommandCall *call, Command *command) {
    const CommandForm *form;
    const ScheduleCommand *row = schedule_command_of_call(call->call, &form);
    int given = 0;
    for (; given < form->count; given++) {
        const ArgumentForm *argument = &form->arguments[given];
        if (argument->optional && !call->texts[given])
            break;
        if (!check_argument(context, argument, call->texts[given]))
            return DISTAL_INVALID;
    }
    distal_statement *statement = call->statement;
    statement_own_source(statement);
    Text *source = &statement->source;
    const size_t line = source->length;
    const int32_t number = statement->lines + 1;
    Fragment fragments[MAX_COMMAND_ARGUMENTS];
    Arg *args = arena_array(context->scratch, Arg, form->count);
    *command = (Command){.name = row->name, .args = args, .arg_count = given};
    text_printf(source, "  %s", row->name);
    for (int a = 0; a < given; a++) {
        const ArgumentForm *argument = &form->arguments[a];
        const bool is_list = kinds[argument->kind].is_list;
        text_append(source, a ? ", " : "(");
        text_append(source, is_list ? "{" : "");
        fragments[a] = (Fragment){call->texts[a], number, (int32_t)(source->length - line) + 1};
        text_printf(source, "%s%s", call->texts[a], is_list ? "}" : "");
    }
    text_append(source, ")\n");
    command->name_span = (Span){number, 3, (int32_t)strlen(row->name)};
    command->span = (Span){number, 3, (int32_t)(source->length - line) - 3};
    statement_show(statement);
    statement->build.arena = context->scratch;
    bool ok = true;
    for (int a = 0; a < given; a++)
        ok &= fragment_argument(&statement->build, fragments[a], form->arguments[a].kind, &args[a]);
    return ok ? DISTAL_OK : DISTAL_INVALID;
}

static distal_status apply(distal_context *context, void *arguments) {
    const CommandCall *call = arguments;
    Command command;
    const distal_status status = read_command(context, call, &command);
    call->statement->build.arena = call->statement->arena;
    return status == DISTAL_OK ? statement_add_commands(call->statement, 1, &command) : status;
}

// The first error, and the name of the call, which is a literal.
static distal_status keep_mistake(distal_context *context, void *arguments) {
    distal_statement *statement = ((const CommandCall *)arguments)->statement;
    for (int64_t i = 0; i < context->diagnostics->list.count && !statement->failed_call; i++) {
        const Diagnostic *mistake = &context->diagnostics->list.items[i];
        if (mistake->severity != SEVERITY_ERROR)
            continue;
        statement->mistake = *mistake;
        statement->mistake.message = copy_text(statement->arena, mistake->message);
        statement->failed_call = context->call;
    }
    return DISTAL_OK;
}

// After a failed call, the statement cannot be compiled.
static distal_status run(const char *name, CallBody body, CommandCall *call) {
    distal_statement *statement = call->statement;
    if (!statement)
        return missing_argument(NULL, name, "the statement");
    const distal_status status = call_local(statement->context, name, body, call);
    statement->build.arena = statement->arena;
    statement->failed |= status != DISTAL_OK;
    if (status == DISTAL_INVALID && !statement->failed_call)
        call_continue(statement->context, keep_mistake, call);
    return call_end(statement->context, status);
}

#define COMMAND(name, ...)                                                                                   \
    run("distal_" name, apply, &(CommandCall){statement, "distal_" name, (const char *const[]){__VA_ARGS__}})

distal_status distal_divide(distal_statement *statement, const char *var, const char *outer,
                            const char *inner, const char *parts) {
    return COMMAND("divide", var, outer, inner, parts);
}

distal_status distal_split(distal_statement *statement, const char *var, const char *outer, const char *inner,
                           const char *size) {
    return COMMAND("split", var, outer, inner, size);
}

distal_status distal_collapse(distal_statement *statement, const char *outer, const char *inner,
                              const char *fused) {
    return COMMAND("collapse", outer, inner, fused);
}

distal_status distal_reorder(distal_statement *statement, const char *vars) {
    return COMMAND("reorder", vars);
}

distal_status distal_distribute(distal_statement *statement, const char *vars) {
    return COMMAND("distribute", vars);
}

distal_status distal_distribute_onto(distal_statement *statement, const char *targets, const char *outer,
                                     const char *inner, const char *onto) {
    return COMMAND("distribute_onto", targets, outer, inner, onto);
}

distal_status distal_communicate(distal_statement *statement, const char *tensors, const char *var) {
    return COMMAND("communicate", tensors, var);
}

distal_status distal_rotate(distal_statement *statement, const char *target, const char *vars,
                            const char *rotated) {
    return COMMAND("rotate", target, vars, rotated);
}

distal_status distal_substitute(distal_statement *statement, const char *vars, const char *kernel) {
    return COMMAND("substitute", vars, kernel);
}

distal_status distal_parallelize(distal_statement *statement, const char *var, const char *unit,
                                 const char *race) {
    return COMMAND("parallelize", var, unit, race);
}

distal_status distal_unroll(distal_statement *statement, const char *var, const char *factor) {
    return COMMAND("unroll", var, factor);
}

distal_status distal_precompute(distal_statement *statement, const char *expression, const char *vars,
                                const char *workspace_vars, const char *workspace, const char *format) {
    return COMMAND("precompute", expression, vars, workspace_vars, workspace, format);
}

distal_status distal_pos(distal_statement *statement, const char *var, const char *position,
                         const char *access) {
    return COMMAND("pos", var, position, access);
}

static distal_status apply_text(distal_context *context, void *arguments) {
    const CommandCall *call = arguments;
    distal_statement *statement = call->statement;
    const char *text = call->texts[0];
    if (!text)
        return invalid(context, "the text of the commands is NULL");
    statement_own_source(statement);
    const int32_t line = statement->lines + 1;
    text_printf(&statement->source, "%s\n", text);
    statement_show(statement);
    CommandArray commands = {0};
    bool is_all;
    statement->build.arena = context->scratch;
    const bool ok = fragment_commands(&statement->build, (Fragment){text, line, 1}, &commands, &is_all);
    statement->build.arena = statement->arena;
    if (!ok && context->diagnostics->errors == 0)
        return invalid(context, "expected schedule commands, separated by ';' or newlines, found '%.60s'",
                       text);
    return ok ? statement_add_commands(statement, commands.count, commands.items) : DISTAL_INVALID;
}

distal_status distal_schedule(distal_statement *statement, const char *commands) {
    return run("distal_schedule", apply_text,
               &(CommandCall){statement, "distal_schedule", (const char *const[]){commands}});
}
