// SPDX-License-Identifier: BSD-3-Clause
#include "lang/build.h"

#include "format/level_list.h"
#include "lang/check.h"

#include <string.h>

const char *const name_kinds[] = {
    [NAME_PARAM] = "param", [NAME_MACHINE] = "machine", [NAME_TENSOR] = "tensor"};

// Reports that a limit of the language is exceeded, after which nothing is added. Always false.
static bool stop(ProgramBuilder *builder, Span span, const char *what, int most) {
    builder->stopped = true;
    return diagnostics_error(builder->diagnostics, span, "a program has at most %d %s", most, what);
}

static uint64_t hash_of(const char *name) {
    uint64_t hash = 0xcbf29ce484222325U;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3U;
    return hash;
}

// The bucket of the name, or the free one where it would be.
static int64_t *bucket_of(const ProgramBuilder *builder, const char *name) {
    const uint64_t last = (uint64_t)builder->bucket_count - 1; // a power of two
    for (uint64_t at = hash_of(name) & last;; at = (at + 1) & last) {
        int64_t *bucket = &builder->buckets[at];
        if (*bucket == 0 || strcmp(builder->names.items[*bucket - 1].name, name) == 0)
            return bucket;
    }
}

static void add_name(ProgramBuilder *builder, Name name) {
    array_push(builder->arena, builder->names, name);
    if (2 * builder->names.count <= builder->bucket_count) {
        *bucket_of(builder, name.name) = builder->names.count;
        return;
    }
    const int64_t count = builder->bucket_count ? 2 * builder->bucket_count : 16;
    builder->buckets = arena_array(builder->arena, int64_t, count);
    builder->bucket_count = count;
    for (int64_t i = 0; i < builder->names.count; i++)
        *bucket_of(builder, builder->names.items[i].name) = i + 1;
}

static const Name *find_own(const ProgramBuilder *builder, const char *name) {
    const int64_t index = builder->bucket_count ? *bucket_of(builder, name) : 0;
    return index ? &builder->names.items[index - 1] : NULL;
}

bool build_find(const ProgramBuilder *builder, const char *name, Name *found) {
    const Name *own = find_own(builder, name);
    if (!own && builder->outer)
        own = find_own(builder->outer, name);
    if (own)
        *found = *own;
    return own || (builder->outside && builder->outside->find(builder->outside->context, name, found));
}

static void list_own(const ProgramBuilder *builder, NameKind kind, Arena *arena, NameArray *names) {
    for (int64_t i = 0; builder && i < builder->names.count; i++)
        if (builder->names.items[i].kind == kind)
            array_push(arena, *names, builder->names.items[i]);
}

NameArray build_names(const ProgramBuilder *builder, NameKind kind, Arena *arena) {
    NameArray names = {0};
    list_own(builder->outer, kind, arena, &names);
    list_own(builder, kind, arena, &names);
    if (builder->outside)
        builder->outside->list(builder->outside->context, kind, arena, &names);
    return names;
}

const char *const *build_param_names(const ProgramBuilder *builder) {
    return builder->outer ? builder->outer->param_names.items : builder->param_names.items;
}

const int64_t *build_param_values(const ProgramBuilder *builder) {
    return builder->outer ? builder->outer->param_values.items : builder->param_values.items;
}

int64_t build_value(const ProgramBuilder *builder, const IntExpr *expr) {
    int64_t value = 0;
    int_eval(expr, build_param_values(builder), NULL, &value);
    return value;
}

bool build_name_is_free(ProgramBuilder *builder, const char *name, NameKind kind, Span span) {
    Name old;
    if (kind == NAME_TENSOR && function_by_name(name))
        return diagnostics_error(builder->diagnostics, span,
                                 "'%s' is a function; choose another name for the tensor", name);
    if (!build_find(builder, name, &old))
        return true;
    if (old.kind == NAME_PARAM && old.param == 0)
        return diagnostics_error(builder->diagnostics, span,
                                 "'%s' is built in: the number of processes; choose another name", name);
    diagnostics_error(builder->diagnostics, span, "'%s' is already declared as a %s; choose another name",
                      name, name_kinds[old.kind]);
    if (old.span.line > 0)
        diagnostics_note(builder->diagnostics, old.span, "it is declared here");
    return false;
}

static bool declare(ProgramBuilder *builder, Name name) {
    if (!build_name_is_free(builder, name.name, name.kind, name.span))
        return false;
    if (builder->names.count > MAX_NAMES)
        return stop(builder, name.span, "declarations", MAX_NAMES);
    add_name(builder, name);
    return true;
}

static void push_param(ProgramBuilder *builder, Param param) {
    array_push(builder->arena, builder->params, param);
    array_push(builder->arena, builder->param_names, param.name);
    array_push(builder->arena, builder->param_values, param.value);
}

void build_ranks(ProgramBuilder *builder, int64_t ranks) {
    add_name(builder, (Name){.name = "ranks", .kind = NAME_PARAM});
    push_param(builder, (Param){.name = "ranks", .value = ranks > 0 ? ranks : 1});
}

void build_inherit(ProgramBuilder *builder) {
    add_name(builder, (Name){.name = "ranks", .kind = NAME_PARAM});
    for (int64_t i = 0; i < builder->inherits->params.count; i++)
        push_param(builder, builder->inherits->params.items[i]);
}

bool build_param(ProgramBuilder *builder, Param param, bool usable) {
    const Name *old = builder->inherits ? find_own(builder->inherits, param.name) : NULL;
    if (old && old->kind == NAME_PARAM && old->param > 0)
        return declare(
            builder, (Name){.name = param.name, .span = param.span, .kind = NAME_PARAM, .param = old->param});
    for (int i = 0; i < builder->override_count; i++) {
        if (strcmp(builder->overrides[i].name, param.name) == 0) {
            param.value = builder->overrides[i].value;
            param.definition = int_const(builder->arena, param.value);
        }
    }
    const Name name = {.name = param.name,
                       .span = param.span,
                       .kind = NAME_PARAM,
                       .failed = !usable,
                       .param = (int)builder->params.count};
    if (!declare(builder, name))
        return false;
    push_param(builder, param);
    return usable;
}

bool build_machine(ProgramBuilder *builder, const Machine *machine, bool usable) {
    usable = usable && check_machine(builder, machine);
    const Name name = {.name = machine->name,
                       .span = machine->span,
                       .kind = NAME_MACHINE,
                       .failed = !usable,
                       .machine = machine};
    if (!declare(builder, name))
        return false;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(builder->arena, builder->machines, machine);
    return usable;
}

bool build_set_widths(const ProgramBuilder *builder, Tensor *tensor) {
    int64_t extents[MAX_ORDER];
    for (int d = 0; d < tensor->order; d++)
        extents[d] = build_value(builder, tensor->extents[d]);
    return level_list_set_widths(tensor->order, tensor->levels, tensor->mode_order, extents);
}

bool build_tensor(ProgramBuilder *builder, Tensor *tensor, bool usable) {
    usable = usable && check_tensor(builder, tensor);
    if (usable)
        build_set_widths(builder, tensor);
    tensor->id = (int)builder->tensors.count;
    const Name name = {
        .name = tensor->name, .span = tensor->span, .kind = NAME_TENSOR, .failed = !usable, .tensor = tensor};
    if (!declare(builder, name))
        return false;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(builder->arena, builder->tensors, tensor);
    array_push(builder->arena, builder->placed, false);
    return usable;
}

bool build_statement(ProgramBuilder *builder, const char *target, const Assignment *assignment, Span span) {
    if (builder->statements.count >= MAX_STATEMENTS)
        return stop(builder, span, "statements", MAX_STATEMENTS);
    if (assignment && !check_assignment(builder, assignment))
        assignment = NULL;
    array_push(builder->arena, builder->statements,
               (BuiltStatement){.statement.assignment = assignment, .target = target});
    return assignment != NULL;
}

int build_repetition(ProgramBuilder *builder, Span span, int outer) {
    const int first = (int)builder->statements.count;
    array_push(builder->arena, builder->repetitions,
               (Repetition){.span = span, .first = first, .last = first, .outer = outer});
    return (int)builder->repetitions.count - 1;
}

bool build_repeated(ProgramBuilder *builder, int repetition, const IntExpr *count, const Assignment *until,
                    const Expr *limit) {
    Repetition *at = &builder->repetitions.items[repetition];
    at->last = (int)builder->statements.count;
    at->count = count;
    at->until = until;
    at->limit = limit;
    return check_repetition(builder, at);
}

BuildMark build_mark(const ProgramBuilder *builder) {
    return (BuildMark){builder->names.count, builder->params.count, builder->machines.count,
                       builder->tensors.count, builder->statements.count};
}

void build_reset(ProgramBuilder *builder, BuildMark mark) {
    // The latest name is at the end of its chain of buckets, or memory ran out before it got one.
    for (; builder->names.count > mark.names; builder->names.count--) {
        int64_t *bucket = builder->bucket_count
                              ? bucket_of(builder, builder->names.items[builder->names.count - 1].name)
                              : NULL;
        if (bucket)
            *bucket = 0;
    }
    builder->params.count = builder->param_names.count = builder->param_values.count = mark.params;
    builder->machines.count = mark.machines;
    builder->tensors.count = builder->placed.count = mark.tensors;
    builder->statements.count = mark.statements;
    builder->stopped = false;
}

Program build_finish(const ProgramBuilder *builder, Source source) {
    const ProgramBuilder *shared = builder->outer ? builder->outer : builder;
    Statement *statements = arena_array(builder->arena, Statement, builder->statements.count);
    for (int64_t i = 0; i < builder->statements.count; i++)
        statements[i] = builder->statements.items[i].statement;
    return (Program){
        .source = source,
        .param_count = (int)shared->params.count,
        .params = shared->params.items,
        .param_names = shared->param_names.items,
        .machine_count = (int)shared->machines.count,
        .machines = shared->machines.items,
        .tensor_count = (int)builder->tensors.count,
        .tensors = builder->tensors.items,
        .statement_count = (int)builder->statements.count,
        .statements = statements,
        .repetition_count = (int)builder->repetitions.count,
        .repetitions = builder->repetitions.items,
    };
}
