// SPDX-License-Identifier: BSD-3-Clause
// Params and machines, and declarations put together as a program of the language.
#include "api/context.h"

#include "base/integer.h"
#include "lang/tokens.h"

#include <ctype.h>
#include <inttypes.h>
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
                                 "'%s' cannot name a %s: it begins a declaration", name, what);
    return true;
}

bool check_line(distal_context *context, const char *what, const char *text) {
    if (!text)
        return diagnostics_error(context->diagnostics, (Span){0}, "the %s is NULL", what);
    int open = 0;
    bool good = text[strspn(text, " \t")] != '\0';
    for (const char *at = text; good && *at; at++) {
        open += *at == '(' || *at == '{';
        open -= *at == ')' || *at == '}';
        good = open >= 0 && !strchr("\r\n;#", *at);
    }
    return (good && open == 0) ||
           diagnostics_error(context->diagnostics, (Span){0},
                             "the %s, '%.60s', is not on one line with its brackets closed", what, text);
}

distal_tensor *context_tensor(const distal_context *context, const char *name) {
    for (distal_tensor *tensor = context->tensors; tensor; tensor = tensor->next)
        if (strcmp(tensor->name, name) == 0)
            return tensor;
    return NULL;
}

static bool mentioned(const Tokens *tokens, const char *name) {
    for (int64_t i = 0; i < tokens->count; i++)
        if (tokens->items[i].kind == TOKEN_NAME && strcmp(tokens->items[i].text, name) == 0)
            return true;
    return false;
}

distal_tensor **context_mentioned(distal_context *context, const char *mentions, int *count) {
    Arena *arena = context->scratch;
    // What is wrong in it is found when it is parsed.
    Tokens tokens = tokenize(arena, mentions ? mentions : "", diagnostics_create(arena, (Source){0}));
    Array(distal_tensor *) found = {0};
    for (distal_tensor *tensor = context->tensors; tensor; tensor = tensor->next)
        if (mentioned(&tokens, tensor->name))
            // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
            array_push(arena, found, tensor);
    *count = (int)found.count;
    return found.items;
}

static void append_params(const distal_context *context, Text *to) {
    for (const Parameter *param = context->parameters; param; param = param->next)
        if (param->given)
            text_printf(to, "param %s = %" PRId64 "\n", param->name, param->value);
        else
            text_printf(to, "param %s = %s\n", param->name, param->definition);
}

Text context_program(distal_context *context, const char *mentions, const distal_tensor *also) {
    Text text = text_create(context->scratch);
    int count;
    distal_tensor **used = context_mentioned(context, mentions, &count);
    const distal_tensor **all = arena_array(context->scratch, const distal_tensor *, count + 1);
    for (int i = 0; i < count; i++)
        all[i] = used[i];
    if (also)
        all[count++] = also;
    append_params(context, &text);
    for (int i = 0; i < count; i++)
        if (all[i]->dims)
            text_printf(&text, "param %s\n", all[i]->dims);
    for (const MachineText *machine = context->machines; machine; machine = machine->next)
        text_printf(&text, "%s\n", machine->text);
    for (int i = 0; i < count; i++)
        text_printf(&text, "%s\n", all[i]->declaration);
    for (int i = 0; i < count; i++)
        if (all[i]->placement)
            text_printf(&text, "%s\n", all[i]->placement);
    return text;
}

// Diagnostics for the end of the call, which may come after that of the arena they are in.
static Diagnostics *keep_diagnostics(distal_context *context, const Diagnostics *from) {
    const Source source = {from->source.name, copy_text(context->scratch, from->source.text)};
    Diagnostics *kept = diagnostics_create(context->scratch, source);
    for (int64_t i = 0; i < from->list.count; i++) {
        Diagnostic one = from->list.items[i];
        one.message = copy_text(context->scratch, one.message);
        array_push(context->scratch, kept->list, one);
    }
    kept->errors = from->errors;
    return kept;
}

Pipeline *context_compile(distal_context *context, Arena *arena, const char *text, Pass last,
                          const Home *homes, bool *ok) {
    Pipeline *pipeline =
        pipeline_create(arena, (Source){"distal", copy_text(arena, text)}, NULL, 0, context->ranks);
    *ok = pipeline_run(pipeline, PASS_PROGRAM);
    if (*ok) {
        const Program *program = pipeline->program;
        // A machine that this program does not use may still be why there are more ranks than it has
        // processors.
        int64_t largest =
            plan_natural_ranks(program->machine_count, program->machines, 0, NULL, pipeline->params);
        pipeline->plan_options = (PlanOptions){.homes = homes, .largest = largest};
        *ok = pipeline_run(pipeline, last);
    }
    if (!*ok)
        context->diagnostics = keep_diagnostics(context, pipeline->diagnostics);
    return pipeline;
}

// The status of a pipeline that has ended.
distal_status pipeline_status(const Pipeline *pipeline, bool ok) {
    if (ok)
        return DISTAL_OK;
    return pipeline->diagnostics == pipeline->no_memory ? DISTAL_FAILED : DISTAL_INVALID;
}

Parameter *context_param(const distal_context *context, const char *name) {
    for (Parameter *param = context->parameters; param; param = param->next)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

Parameter *context_add_param(distal_context *context, const char *name) {
    Parameter *param = arena_new(context->arena, Parameter), **end = &context->parameters;
    param->name = copy_text(context->arena, name);
    while (*end)
        end = &(*end)->next;
    return *end = param;
}

static void remove_param(distal_context *context, const Parameter *param) {
    Parameter **at = &context->parameters;
    while (*at != param)
        at = &(*at)->next;
    *at = param->next;
}

const char *context_tensor_names(distal_context *context) {
    Text names = text_create(context->scratch);
    for (const distal_tensor *tensor = context->tensors; tensor; tensor = tensor->next)
        text_printf(&names, "%s ", tensor->name);
    return text_string(&names);
}

// Whether a tensor in memory looks as before with the values that params have now.
static bool is_untouched(distal_context *context, const distal_tensor *tensor) {
    const Text text = context_program(context, NULL, tensor);
    bool ok;
    const Pipeline *pipeline =
        context_compile(context, context->scratch, text_string(&text), PASS_PLAN, NULL, &ok);
    bool same = ok && (!tensor->placement || home_equal(&tensor->home, &pipeline->plan->homes[0]));
    for (int d = 0; same && d < tensor->tensor->order; d++) {
        int64_t extent;
        same = int_eval(pipeline->program->tensors[0]->extents[d], pipeline->params, NULL, &extent) &&
               extent == tensor->extents[d];
    }
    return same;
}

// What a new value of a param makes of the tensors that there are.
static distal_status follow_param(distal_context *context, const char *param) {
    const Text text = context_program(context, context_tensor_names(context), NULL);
    bool ok;
    const Pipeline *pipeline =
        context_compile(context, context->scratch, text_string(&text), PASS_PROGRAM, NULL, &ok);
    if (!ok)
        return pipeline_status(pipeline, ok);
    Array(distal_tensor *) movable = {0};
    for (distal_tensor *tensor = context->tensors; tensor; tensor = tensor->next) {
        const bool in_memory = tensor->storage || tensor->references > 1;
        if (in_memory && !is_untouched(context, tensor))
            return invalid(context,
                           "param '%s' cannot change: tensor '%s', which is in memory, depends on it", param,
                           tensor->name);
        if (!in_memory)
            // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
            array_push(context->scratch, movable, tensor);
    }
    return tensors_settle(context, movable.count, movable.items);
}

typedef struct {
    const char *name;
    int64_t value;
    Parameter *param, before;
    bool added;
} SetParam;

static distal_status set_param(distal_context *context, void *arguments) {
    SetParam *at = arguments;
    if (!check_name(context, "param", at->name))
        return DISTAL_INVALID;
    at->param = context_param(context, at->name);
    at->added = !at->param;
    if (at->added)
        at->param = context_add_param(context, at->name);
    at->before = *at->param;
    if (at->param->given && at->param->value == at->value)
        return DISTAL_OK;
    at->param->given = true;
    at->param->value = at->value;
    return follow_param(context, at->name);
}

distal_status distal_param(distal_context *context, const char *name, int64_t value) {
    if (!context)
        return missing_argument(NULL, "distal_param", "the context");
    SetParam at = {.name = name, .value = value};
    distal_status status = call_local(context, set_param, &at);
    if (status != DISTAL_OK && at.param) {
        if (at.added)
            remove_param(context, at.param);
        else
            *at.param = at.before;
    }
    return call_end(context, status);
}
