// SPDX-License-Identifier: BSD-3-Clause
// Declarations of a context: names, params, and the effects of a new value of a param.
#include "api/context.h"

#include "lang/check.h"
#include "lang/tokens.h"

#include <ctype.h>
#include <string.h>

bool check_name(distal_context *context, const char *what, const char *name) {
    if (!name)
        return diagnostics_error(context->diagnostics, (Span){0}, "the name of the %s is NULL", what);
    bool good = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (const char *at = name; *at; at++)
        good = good && (isalnum((unsigned char)*at) || *at == '_');
    if (!good)
        return diagnostics_error(context->diagnostics, (Span){0},
                                 "'%.60s' cannot name a %s: a name has letters, digits and _", name, what);
    if (is_keyword(name))
        return diagnostics_error(context->diagnostics, (Span){0},
                                 "'%s' cannot name a %s: it is a reserved word", name, what);
    return true;
}

bool check_line(distal_context *context, const char *what, const char *text) {
    if (!text)
        return diagnostics_error(context->diagnostics, (Span){0}, "the %s is NULL", what);
    if (text[strspn(text, " \t")] == '\0')
        return diagnostics_error(context->diagnostics, (Span){0},
                                 "the %s is empty, where a line of the language is expected", what);
    int open = 0;
    bool good = true;
    for (const char *at = text; good && *at; at++) {
        open += *at == '(' || *at == '{';
        open -= *at == ')' || *at == '}';
        good = open >= 0 && !strchr("\r\n;#", *at);
    }
    return (good && open == 0) ||
           diagnostics_error(context->diagnostics, (Span){0},
                             "the %s, '%.60s', is not one line with matching brackets", what, text);
}

distal_tensor *context_tensor(const distal_context *context, const char *name) {
    for (distal_tensor *tensor = context->tensors; tensor; tensor = tensor->next)
        if (strcmp(tensor->name, name) == 0)
            return tensor;
    return NULL;
}

static bool find_tensor(void *context, const char *name, Name *found) {
    const distal_tensor *tensor = context_tensor(context, name);
    if (tensor)
        // The pointer is to non-const as a program that is being read may add placements to its own tensors;
        // it does not to these.
        *found = (Name){.name = tensor->name, .kind = NAME_TENSOR, .tensor = (Tensor *)tensor->tensor};
    return tensor != NULL;
}

static void list_tensors(void *context, NameKind kind, Arena *arena, NameArray *names) {
    const distal_context *it = context;
    for (const distal_tensor *tensor = it->tensors; tensor && kind == NAME_TENSOR; tensor = tensor->next)
        if (!tensor->is_internal)
            array_push(arena, *names, (Name){.name = tensor->name, .kind = NAME_TENSOR});
}

// Finds "A_dim0" for a tensor A whose extents are params of its own.
static bool find_extent(const distal_context *context, const char *name, Name *found) {
    for (int64_t i = 1; i < context->build.params.count; i++) {
        if (context->origins.items[i] != PARAM_OF_TENSOR ||
            strcmp(context->build.param_names.items[i], name) != 0)
            continue;
        *found = (Name){.name = context->build.param_names.items[i], .kind = NAME_PARAM, .param = (int)i};
        return true;
    }
    return false;
}

static bool find_in_statement(void *context, const char *name, Name *found) {
    return find_tensor(context, name, found) || (strstr(name, "_dim") && find_extent(context, name, found));
}

void context_begin_declarations(distal_context *context) {
    context->names = (Outside){find_tensor, list_tensors, context};
    context->statement_names = (Outside){find_in_statement, list_tensors, context};
    context->build = (ProgramBuilder){.arena = context->arena, .outside = &context->names};
    build_ranks(&context->build, context->ranks);
    array_push(context->arena, context->origins, PARAM_GIVEN);
}

void context_show(distal_context *context, const char *name, const char *text) {
    context->diagnostics->source = (Source){name ? name : context->call, text};
}

DeclarationMark context_mark(distal_context *context) {
    DeclarationMark mark = {build_mark(&context->build), &context->tensors, &context->statements};
    while (*mark.tensors)
        mark.tensors = &(*mark.tensors)->next;
    while (*mark.statements)
        mark.statements = &(*mark.statements)->next;
    return mark;
}

void context_reset(distal_context *context, DeclarationMark mark) {
    while (*mark.statements)
        distal_statement_free(*mark.statements);
    while (*mark.tensors)
        distal_tensor_free(*mark.tensors);
    build_reset(&context->build, mark.build);
    context->origins.count = mark.build.params;
}

int context_add_param(distal_context *context, Param param, ParamOrigin origin) {
    Name extent;
    if (find_extent(context, param.name, &extent)) {
        invalid(context, "param '%s' is an extent of a tensor; choose another name", param.name);
        return -1;
    }
    array_push(context->arena, context->origins, origin);
    const bool added = build_param(&context->build, param, true);
    context->origins.count = context->build.params.count;
    return added ? (int)context->build.params.count - 1 : -1;
}

// Exchanges the values of params with those of `values`.
static void exchange_values(distal_context *context, int64_t *values) {
    for (int64_t i = 0; i < context->build.params.count; i++) {
        const int64_t old = context->build.param_values.items[i];
        context->build.param_values.items[i] = context->build.params.items[i].value = values[i];
        values[i] = old;
    }
}

// The values of all params if one has this value; NULL after a diagnostic.
static int64_t *values_with(distal_context *context, int param, int64_t value) {
    const int64_t count = context->build.params.count;
    int64_t *values =
        arena_copy(context->scratch, context->build.param_values.items, sizeof(int64_t) * (size_t)count);
    values[param] = value;
    for (int64_t i = param + 1; i < count; i++) {
        const Param *other = &context->build.params.items[i];
        if (context->origins.items[i] == PARAM_DEFINED &&
            !int_eval(other->definition, values, NULL, &values[i])) {
            invalid(context, "with '%s' = %lld, param '%s' has no value that fits into 64 bits",
                    context->build.param_names.items[param], (long long)value, other->name);
            return NULL;
        }
    }
    return values;
}

// Whether all declarations are correct with the current values of params.
static distal_status check_declarations(distal_context *context, const int64_t *old_values,
                                        const char *param) {
    bool ok = true;
    for (int64_t i = 0; i < context->build.machines.count; i++)
        ok &= check_machine(&context->build, context->build.machines.items[i]);
    distal_status status = ok ? DISTAL_OK : DISTAL_INVALID;
    for (distal_tensor *tensor = context->tensors; tensor && status == DISTAL_OK; tensor = tensor->next)
        status = tensor_check_values(context, tensor, old_values, param);
    return status;
}

typedef struct {
    const char *name;
    int64_t value;
    int param;             // index, once it is known
    int64_t *other_values; // the old values while new ones are tried; else NULL
} SetParam;

static distal_status change_param(distal_context *context, SetParam *at) {
    const bool is_given = context->origins.items[at->param] == PARAM_GIVEN;
    if (is_given && context->build.param_values.items[at->param] == at->value)
        return DISTAL_OK;
    int64_t *values = values_with(context, at->param, at->value);
    if (!values)
        return DISTAL_INVALID;
    exchange_values(context, values);
    at->other_values = values;
    const distal_status status = check_declarations(context, values, at->name);
    if (status != DISTAL_OK)
        return status;
    at->other_values = NULL;
    context->origins.items[at->param] = PARAM_GIVEN;
    context->build.params.items[at->param].definition = NULL;
    for (distal_tensor *tensor = context->tensors; tensor; tensor = tensor->next)
        tensor_take_values(context, tensor, values);
    return DISTAL_OK;
}

static distal_status set_param(distal_context *context, void *arguments) {
    SetParam *at = arguments;
    Name found;
    if (!check_name(context, "param", at->name))
        return DISTAL_INVALID;
    if (build_find(&context->build, at->name, &found) && found.kind == NAME_PARAM && found.param > 0) {
        at->param = found.param;
        return change_param(context, at);
    }
    const Param param = {.name = copy_text(context->arena, at->name), .value = at->value};
    return context_add_param(context, param, PARAM_GIVEN) < 0 ? DISTAL_INVALID : DISTAL_OK;
}

distal_status distal_param(distal_context *context, const char *name, int64_t value) {
    if (!context)
        return missing_argument(NULL, "distal_param", "the context");
    const DeclarationMark mark = {.build = build_mark(&context->build)};
    SetParam at = {.name = name, .value = value};
    const distal_status status = call_local(context, "distal_param", set_param, &at);
    if (at.other_values)
        exchange_values(context, at.other_values);
    if (status != DISTAL_OK) {
        build_reset(&context->build, mark.build);
        context->origins.count = mark.build.params;
    }
    return call_end(context, status);
}
