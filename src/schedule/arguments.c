// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/arguments.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    Arena *arena;
    TensorMap tensor;
    void *context;
} Copying;

static const char *copy_name(const Copying *copying, const char *name) {
    return name ? arena_string(copying->arena, name, strlen(name)) : NULL;
}

static const Arg *copy_args(const Copying *copying, const Arg *args, int count) {
    Arg *copies = arena_array(copying->arena, Arg, count);
    for (int i = 0; i < count; i++) {
        Arg *copy = &copies[i];
        *copy = args[i];
        copy->name = copy_name(copying, copy->name);
        copy->level = copy_name(copying, copy->level);
        copy->value = int_copy(copying->arena, copy->value);
        copy->items = copy_args(copying, copy->items, copy->item_count);
        if (copy->expression)
            copy->expression =
                assignment_with_tensors(copying->arena, copy->expression, copying->tensor, copying->context);
    }
    return copies;
}

Command command_copy(Arena *arena, const Command *command, TensorMap tensor, void *context) {
    const Copying copying = {arena, tensor, context};
    Command copy = *command;
    copy.name = copy_name(&copying, command->name);
    copy.args = copy_args(&copying, command->args, command->arg_count);
    return copy;
}

bool refuse(const Application *application, Span span, const char *format, ...) {
    char reason[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    const char *name = application->command->name, *verb = schedule_command(name)->verb;
    diagnostics_error(application->scheduler->diagnostics, span, "cannot %s: %s", verb ? verb : name, reason);
    return false;
}

const char *nest_loop_list(const Cin *cin, const Nest *nest) {
    Text list = text_create(cin->arena);
    for (int i = 0; i < nest->loop_count; i++)
        text_printf(&list, "%s%s", i ? " " : "", cin->vars[nest->loops[i]].name);
    return nest->loop_count ? text_string(&list) : "none";
}

const char *loop_list(const Cin *cin) {
    Nest all = {0};
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest nest = cin_nest(cin, n);
        for (int i = 0; i < nest.loop_count; i++)
            if (!nest_has(&all, nest.loops[i]))
                all.loops[all.loop_count++] = nest.loops[i];
    }
    return nest_loop_list(cin, &all);
}

static bool is_name(const Arg *arg) {
    return arg->kind == ARG_NAME && !arg->level;
}

bool argument_names(const Application *application, const Arg *arg, const Arg **items, int *count) {
    *count = 0;
    if (is_name(arg)) {
        *items = arg;
        *count = 1;
        return true;
    }
    if (arg->kind != ARG_LIST)
        return refuse(application, arg->span, "expected a name, or names in braces");
    if (arg->item_count == 0)
        return refuse(application, arg->span, "the list is empty");
    for (int i = 0; i < arg->item_count; i++)
        if (!is_name(&arg->items[i]))
            return refuse(application, arg->items[i].span, "expected a name");
    *items = arg->items;
    *count = arg->item_count;
    return true;
}

// How a variable that is no longer a loop was replaced: "split into 'ko' and 'ki'".
static const char *fate(const Cin *cin, const Relation *relation) {
    const char *names[2];
    for (int c = 0; c < relation->kind->children; c++)
        names[c] = arena_printf(cin->arena, "'%s'", cin->vars[relation->child[c]].name);
    return arena_printf(cin->arena, "%s into %s", relation->kind->done,
                        enumeration(cin->arena, names, relation->kind->children));
}

bool argument_loop(const Application *application, const Arg *arg, int *var) {
    const Cin *cin = application->cin;
    *var = -1;
    if (!is_name(arg))
        return refuse(application, arg->span, "expected the name of a loop (loops: %s)", loop_list(cin));
    *var = cin_var(cin, arg->name);
    const Relation *relation = *var >= 0 ? cin_replaced_by(cin, *var) : NULL;
    if (relation)
        return refuse(application, arg->span, "'%s' is no longer a loop: it was %s (loops: %s)", arg->name,
                      fate(cin, relation), loop_list(cin));
    if (*var < 0 || !cin_is_loop(cin, *var))
        return refuse(application, arg->span, "'%s' is not a loop of this statement (loops: %s)", arg->name,
                      loop_list(cin));
    return true;
}

bool argument_loops(const Application *application, const Arg *arg, int *vars, int *count) {
    const Arg *items;
    int item_count;
    if (!argument_names(application, arg, &items, &item_count))
        return false;
    *count = 0;
    for (int i = 0; i < item_count; i++) {
        int var;
        if (!argument_loop(application, &items[i], &var))
            return false;
        for (int k = 0; k < *count; k++)
            if (vars[k] == var)
                return refuse(application, items[i].span, "'%s' appears twice in the list", items[i].name);
        vars[(*count)++] = var;
    }
    return true;
}

bool argument_new_vars(const Application *application, const Arg *const *args, int count, NewVar *vars) {
    const Cin *cin = application->cin;
    for (int i = 0; i < count; i++) {
        if (!is_name(args[i]))
            return refuse(application, args[i]->span, "expected a name for a new loop");
        int old = cin_var(cin, args[i]->name);
        if (old >= 0)
            return refuse(application, args[i]->span,
                          "'%s' is already %s of this statement; choose another name for the new loop",
                          args[i]->name, cin_is_loop(cin, old) ? "a loop" : "a variable");
        for (int k = 0; k < i; k++)
            if (strcmp(args[k]->name, args[i]->name) == 0)
                return refuse(application, args[i]->span, "'%s' names two new loops", args[i]->name);
        vars[i] = (NewVar){args[i]->name, args[i]->span};
    }
    if (cin->var_count + count > MAX_VARS)
        return refuse(application, application->command->span, TOO_MANY_VARS, MAX_VARS);
    return true;
}

bool argument_factor(const Application *application, const Arg *arg, const IntExpr **factor) {
    if (arg->kind == ARG_NAME && !arg->value)
        return refuse(application, arg->span, "'%s' is not a param", arg->name);
    if (!arg->value)
        return refuse(application, arg->span, "expected a number");
    if (arg->value->op == INT_CONST && arg->value->value < 1)
        return refuse(application, arg->span, "expected a number that is at least 1, not %" PRId64,
                      arg->value->value);
    *factor = arg->value;
    return true;
}

bool assignment_has(const Stmt *assign, const Tensor *tensor) {
    return assign->lhs->tensor == tensor || expr_access_of(assign->rhs, tensor);
}

typedef struct {
    Arena *arena;
    Array(const Tensor *) tensors;
} TensorList;

static void list_tensor(void *context, const Access *access) {
    TensorList *list = context;
    for (int64_t i = 0; i < list->tensors.count; i++)
        if (list->tensors.items[i] == access->tensor)
            return;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(list->arena, list->tensors, access->tensor);
}

bool argument_tensor(const Application *application, const Arg *arg, const Tensor **tensor) {
    const Cin *cin = application->cin;
    if (!is_name(arg))
        return refuse(application, arg->span, "expected the name of a tensor");
    TensorList list = {.arena = application->scheduler->arena};
    list_tensor(&list, cin->assignment->lhs);
    expr_accesses(cin->assignment->rhs, list_tensor, &list);
    for (int p = 0; p < cin->part_count; p++)
        list_tensor(&list, cin->parts[p]->lhs);
    const char **names = arena_array(list.arena, const char *, list.tensors.count);
    for (int64_t i = 0; i < list.tensors.count; i++) {
        *tensor = list.tensors.items[i];
        names[i] = (*tensor)->name;
        if (strcmp(names[i], arg->name) == 0)
            return true;
    }
    return refuse(application, arg->span, "'%s' is not a tensor of this statement%s", arg->name,
                  did_you_mean(list.arena, arg->name, "tensors", names, list.tensors.count));
}

bool argument_choice(const Application *application, const Arg *arg, const char *what,
                     const char *const *names, int count, int *choice) {
    const char *name = is_name(arg) ? arg->name : "";
    for (*choice = 0; *choice < count; ++*choice)
        if (strcmp(names[*choice], name) == 0)
            return true;
    const char *choices = did_you_mean(application->scheduler->arena, name, "choices", names, count);
    if (!is_name(arg))
        return refuse(application, arg->span, "expected a %s%s", what, choices);
    return refuse(application, arg->span, "unknown %s '%s'%s", what, name, choices);
}

bool loop_is_free(const Application *application, Span span, int var, unsigned kinds) {
    const Cin *cin = application->cin;
    for (int kind = 0; kind < DIRECTIVE_COUNT; kind++) {
        const Directive *directive = kinds >> kind & 1u ? cin_directive(cin, (DirectiveKind)kind, var) : NULL;
        if (!directive)
            continue;
        Text text = text_create(application->scheduler->arena);
        cin_print_directive(cin, directive, application->scheduler->symbols.params, &text);
        return refuse(application, span, "'%s' is already used by %s", cin->vars[var].name,
                      text_string(&text));
    }
    return true;
}

bool loop_is_derivable(const Application *application, Span span, int var) {
    const Cin *cin = application->cin;
    const char *const *params = application->scheduler->symbols.params;
    Text user = text_create(application->scheduler->arena);
    for (int64_t r = 0; r < cin->relations.count && user.length == 0; r++)
        if (!cin->relations.items[r]->kind->window && relation_operands(cin->relations.items[r]) >> var & 1)
            cin_print_relation(cin, cin->relations.items[r], params, &user);
    for (int64_t d = 0; d < cin->directives.count && user.length == 0; d++)
        if (directive_is_about(cin->directives.items[d], var))
            cin_print_directive(cin, cin->directives.items[d], params, &user);
    return user.length == 0 || refuse(application, span, "'%s' is used by %s; apply %s before that",
                                      cin->vars[var].name, text_string(&user), application->command->name);
}

const char *name_taken_by(const Scheduler *scheduler, const char *name) {
    const Symbols *symbols = &scheduler->symbols;
    for (int t = 0; t < symbols->tensor_count; t++)
        if (strcmp(symbols->tensors[t]->name, name) == 0)
            return "a tensor";
    for (int m = 0; m < symbols->machine_count; m++)
        if (strcmp(symbols->machines[m]->name, name) == 0)
            return "a machine";
    for (int p = 0; p < symbols->param_count; p++)
        if (strcmp(symbols->params[p], name) == 0)
            return "a param";
    for (int64_t w = 0; w < scheduler->workspaces.count; w++)
        if (strcmp(scheduler->workspaces.items[w]->name, name) == 0)
            return "a workspace";
    return function_by_name(name) ? "a function" : NULL;
}

const char *workspace_name(const Scheduler *scheduler, const char *stem) {
    const char *name = stem;
    for (int number = 2; name_taken_by(scheduler, name); number++)
        name = arena_printf(scheduler->arena, "%s%d", stem, number);
    return name;
}
