// SPDX-License-Identifier: BSD-3-Clause
// A call for each schedule command: its arguments become the command's text.
#include "api/context.h"

#include <ctype.h>
#include <string.h>

// What an argument of a command is; lists of names stand in braces in the language.
typedef enum { NAME, OPTIONAL_NAME, NAMES, NAMES_OR_NONE, INTEGER, EXPRESSION } ArgumentKind;

typedef struct {
    const char *what, *text;
    ArgumentKind kind;
} Argument;

typedef struct {
    distal_statement *statement;
    const char *name;
    int count;
    const Argument *arguments;
} CommandCall;

static const struct {
    const char *is;
    const char *marks; // that stand in it besides letters and digits
    bool may_be_empty, braces;
} kinds[] = {
    [NAME] = {"a name", "_.", false, false},
    [OPTIONAL_NAME] = {"a name", "_.", false, false},
    [NAMES] = {"a list of names", "_,. ", false, true},
    [NAMES_OR_NONE] = {"a list of names", "_,. ", true, true},
    [INTEGER] = {"an integer expression", "_+-*/() ", false, false},
    [EXPRESSION] = {"a tensor expression", "_+-*/(),. ", false, false},
};

// Whether `text` stays one argument when it stands between commas.
static bool is_one_argument(const char *text) {
    int open = 0;
    for (; *text; text++) {
        open += (*text == '(') - (*text == ')');
        if (open < 0 || (open == 0 && *text == ','))
            return false;
    }
    return open == 0;
}

static bool check_argument(distal_context *context, const CommandCall *call, const Argument *argument) {
    const char *text = argument->text;
    const ArgumentKind kind = argument->kind;
    if (!text)
        return diagnostics_error(context->diagnostics, (Span){0}, "%s: %s is NULL", call->name,
                                 argument->what);
    bool good = *text != '\0' || kinds[kind].may_be_empty;
    for (const char *at = text; *at; at++)
        good = good && (isalnum((unsigned char)*at) || strchr(kinds[kind].marks, *at));
    good = good && (kinds[kind].braces || is_one_argument(text));
    return good || diagnostics_error(context->diagnostics, (Span){0}, "%s: %s, '%.60s', is not %s",
                                     call->name, argument->what, text, kinds[kind].is);
}

static distal_status apply(distal_context *context, void *arguments) {
    const CommandCall *call = arguments;
    Text text = text_create(context->scratch);
    text_append(&text, call->name);
    for (int i = 0; i < call->count; i++) {
        const Argument *argument = &call->arguments[i];
        if (argument->kind == OPTIONAL_NAME && !argument->text)
            continue;
        if (!check_argument(context, call, argument)) {
            call->statement->failed = true;
            return DISTAL_INVALID;
        }
        text_printf(&text, kinds[argument->kind].braces ? "%s{%s}" : "%s%s", i ? ", " : "(", argument->text);
    }
    text_append(&text, ")");
    return statement_command(call->statement, text_string(&text));
}

static distal_status command(distal_statement *statement, const char *name, int count,
                             const Argument *arguments) {
    if (!statement)
        return missing_argument(NULL, name, "the statement");
    CommandCall call = {statement, name, count, arguments};
    return call_end(statement->context, call_local(statement->context, apply, &call));
}

#define COMMAND(name, ...)                                                                                   \
    command(statement, name, (int)(sizeof((const Argument[]){__VA_ARGS__}) / sizeof(Argument)),              \
            (const Argument[]){__VA_ARGS__})

distal_status distal_divide(distal_statement *statement, const char *var, const char *outer,
                            const char *inner, const char *parts) {
    return COMMAND("divide", {"the loop", var, NAME}, {"the outer loop", outer, NAME},
                   {"the inner loop", inner, NAME}, {"the number of parts", parts, INTEGER});
}

distal_status distal_split(distal_statement *statement, const char *var, const char *outer, const char *inner,
                           const char *size) {
    return COMMAND("split", {"the loop", var, NAME}, {"the outer loop", outer, NAME},
                   {"the inner loop", inner, NAME}, {"the size", size, INTEGER});
}

distal_status distal_collapse(distal_statement *statement, const char *outer, const char *inner,
                              const char *fused) {
    return COMMAND("collapse", {"the outer loop", outer, NAME}, {"the inner loop", inner, NAME},
                   {"the new loop", fused, NAME});
}

distal_status distal_reorder(distal_statement *statement, const char *vars) {
    return COMMAND("reorder", {"the list of loops", vars, NAMES});
}

distal_status distal_distribute(distal_statement *statement, const char *vars) {
    return COMMAND("distribute", {"the list of loops", vars, NAMES});
}

distal_status distal_distribute_onto(distal_statement *statement, const char *targets, const char *outer,
                                     const char *inner, const char *onto) {
    return COMMAND("distribute", {"the list of targets", targets, NAMES},
                   {"the list of outer loops", outer, NAMES}, {"the list of inner loops", inner, NAMES},
                   {"the machine or tensor", onto, NAME});
}

distal_status distal_communicate(distal_statement *statement, const char *tensors, const char *var) {
    return COMMAND("communicate", {"the list of tensors", tensors, NAMES}, {"the loop", var, NAME});
}

distal_status distal_rotate(distal_statement *statement, const char *target, const char *vars,
                            const char *rotated) {
    return COMMAND("rotate", {"the target", target, NAME}, {"the list of loops", vars, NAMES},
                   {"the new loop", rotated, NAME});
}

distal_status distal_substitute(distal_statement *statement, const char *vars, const char *kernel) {
    return COMMAND("substitute", {"the list of loops", vars, NAMES}, {"the kernel", kernel, NAME});
}

distal_status distal_parallelize(distal_statement *statement, const char *var, const char *unit,
                                 const char *race) {
    return COMMAND("parallelize", {"the loop", var, NAME}, {"the unit", unit, NAME},
                   {"the treatment of races", race, OPTIONAL_NAME});
}

distal_status distal_unroll(distal_statement *statement, const char *var, const char *factor) {
    return COMMAND("unroll", {"the loop", var, NAME}, {"the factor", factor, INTEGER});
}

distal_status distal_precompute(distal_statement *statement, const char *expression, const char *vars,
                                const char *workspace_vars, const char *workspace) {
    return COMMAND("precompute", {"the expression", expression, EXPRESSION},
                   {"the list of variables", vars, NAMES_OR_NONE},
                   {"the list of variables of the workspace", workspace_vars, NAMES_OR_NONE},
                   {"the workspace", workspace, NAME});
}

distal_status distal_pos(distal_statement *statement, const char *var, const char *position,
                         const char *access) {
    return COMMAND("pos", {"the loop", var, NAME}, {"the new loop", position, NAME},
                   {"the access", access, EXPRESSION});
}

static distal_status apply_text(distal_context *context, void *arguments) {
    const CommandCall *call = arguments;
    if (!call->name) {
        call->statement->failed = true;
        return invalid(context, "the text of the commands is NULL");
    }
    return statement_command(call->statement, call->name);
}

distal_status distal_schedule(distal_statement *statement, const char *commands) {
    if (!statement)
        return missing_argument(NULL, "distal_schedule", "the statement");
    CommandCall call = {.statement = statement, .name = commands};
    return call_end(statement->context, call_local(statement->context, apply_text, &call));
}
