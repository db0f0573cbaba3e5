// SPDX-License-Identifier: BSD-3-Clause
#include "choose/writing.h"

#include <string.h>

static bool is_taken(const Writing *writing, const char *name) {
    const Program *program = writing->search->program;
    for (int p = 0; p < program->param_count; p++)
        if (strcmp(program->param_names[p], name) == 0)
            return true;
    for (int64_t n = 0; n < writing->names.count; n++)
        if (strcmp(writing->names.items[n], name) == 0)
            return true;
    return false;
}

void writing_use(Writing *writing, const char *name) {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(writing->search->arena, writing->names, name);
}

const char *writing_loop(Writing *writing, const char *base, const char *suffix) {
    Arena *arena = writing->search->arena;
    const char *name = arena_printf(arena, "%s%s", base, suffix);
    for (int number = 2; is_taken(writing, name); number++)
        name = arena_printf(arena, "%s%s%d", base, suffix, number);
    writing_use(writing, name);
    return name;
}

Arg name_arg(const char *name) {
    return (Arg){.kind = ARG_NAME, .name = name};
}

Arg list_arg(const Writing *writing, int count, const char *const *names) {
    Arg *items = arena_array(writing->search->arena, Arg, count);
    for (int i = 0; i < count; i++)
        items[i] = name_arg(names[i]);
    return (Arg){.kind = ARG_LIST, .item_count = count, .items = items};
}

Arg names_arg(const Writing *writing, int count, const char *const *names) {
    return count == 1 ? name_arg(names[0]) : list_arg(writing, count, names);
}

void write_command(Writing *writing, const char *name, int count, const Arg *args) {
    const Command command = {.name = name,
                             .arg_count = count,
                             .args = arena_copy(writing->search->arena, args, sizeof(Arg) * (size_t)count)};
    array_push(writing->search->arena, writing->commands, command);
}

void write_split(Writing *writing, const char *command, const char *target, const char *outer,
                 const char *inner, int64_t size) {
    const Arg args[] = {name_arg(target),
                        name_arg(outer),
                        name_arg(inner),
                        {.kind = ARG_INTEGER, .value = int_const(writing->search->arena, size)}};
    write_command(writing, command, 4, args);
}
