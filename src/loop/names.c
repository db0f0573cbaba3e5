// SPDX-License-Identifier: BSD-3-Clause
#include "loop/names.h"

#include "base/function.h"

#include <string.h>

// Keywords of C (up to C23, and those that compilers add), macros of the headers that a kernel includes,
// macros that compilers predefine, and the functions of the prelude.
static const char reserved[] =
    " alignas alignof asm auto bool break case char const constexpr continue default do double"
    " else enum extern false float for goto if inline int long nullptr register restrict return"
    " short signed sizeof static static_assert struct switch thread_local true typedef typeof"
    " typeof_unqual union unsigned void volatile while I complex imaginary CMPLX CMPLXF CMPLXL"
    " NULL linux unix int32_t int64_t min max ceil_div floor_div SIZE_MAX WCHAR_MIN WCHAR_MAX"
    " WINT_MIN WINT_MAX INFINITY NAN MAXFLOAT math_errhandling signgam ";

static bool is_reserved(const char *name) {
    const size_t length = strlen(name);
    for (const char *at = reserved; length && (at = strstr(at + 1, name));)
        if (at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

static bool is_among(const char *name, const char *const *names, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

// The implementation's, the runtime's, and constants of <stdint.h> and <math.h>.
static bool has_reserved_start(const char *name) {
    static const char *const starts[] = {"_",           "distal_", "DISTAL_", "INT", "UINT", "PTRDIFF_",
                                         "SIG_ATOMIC_", "HUGE",    "FP_",     "M_",  "MATH_"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static bool is_function(const char *name) {
    for (int i = 0; i < function_count(); i++)
        for (int type = 0; type < TYPE_COUNT; type++)
            if (function_at(i)->c_names[type] && strcmp(function_at(i)->c_names[type], name) == 0)
                return true;
    return false;
}

Names names_create(Arena *arena) {
    return (Names){.arena = arena};
}

void names_want(Names *names, const char *name) {
    array_push(names->arena, names->wanted, name);
}

static bool is_free(const Names *names, const char *name, bool own) {
    return !has_reserved_start(name) && !is_function(name) && !is_reserved(name) &&
           !is_among(name, names->taken.items, names->taken.count) &&
           (own || !is_among(name, names->wanted.items, names->wanted.count));
}

const char *names_take(Names *names, const char *name, bool own) {
    const char *free_name = name;
    const char *stem = arena_printf(names->arena, "%s%s", has_reserved_start(name) ? "v" : "", name);
    for (int number = 2; !is_free(names, free_name, own && free_name == name); number++)
        free_name = arena_printf(names->arena, "%s_%d", stem, number);
    array_push(names->arena, names->taken, free_name);
    return free_name;
}

// Names of a kernel: those of params first, then of the user's variables, then what the compiler itself
// needs, then, as a walk meets them, arrays and variables of the compiler.
typedef struct {
    const LoopKernel *kernel;
    Names names;
    LoopNames result;
} Namer;

static void name_var(Namer *namer, int id) {
    const LoopVar *var = &namer->kernel->vars.items[id];
    if (var->given)
        return; // named at the beginning
    const char *stem = var->stem_array >= 0 ? namer->result.arrays[var->stem_array]
                       : var->stem_var >= 0 ? namer->result.vars[var->stem_var]
                                            : NULL;
    const char *wanted = stem ? arena_printf(namer->names.arena, "%s_%s", stem, var->name) : var->name;
    namer->result.vars[id] = names_take(&namer->names, wanted, false);
}

static void name_array(Namer *namer, int id, bool view) {
    const LoopArray *array = &namer->kernel->arrays.items[id];
    const char *name = names_take(&namer->names, array->name, array->given);
    namer->result.arrays[id] = name;
    if (view)
        namer->result.views[id] =
            names_take(&namer->names, arena_printf(namer->names.arena, "%s_view", name), false);
}

static void name_body(Namer *namer, const LoopBody *body) {
    const int64_t outer = namer->names.taken.count;
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const int fields = loop_kind(node->kind)->fields;
        const int64_t inner = namer->names.taken.count;
        for (int d = 0; d < node->dim_count; d++)
            if (node->coordinates[d] >= 0)
                name_var(namer, node->coordinates[d]);
        if (fields & BINDS_VAR)
            name_var(namer, node->var);
        if (fields & BINDS_ARRAY)
            name_array(namer, node->array, node->transfer >= 0);
        if (node->own >= 0)
            name_array(namer, node->own, false);
        for (int f = 0; f < node->field_count; f++)
            name_var(namer, node->fields[f].var);
        for (int a = 0; a < node->view_array_count; a++)
            name_array(namer, node->view_arrays[a].array, false);
        name_body(namer, &node->body);
        if (fields & BINDS_INSIDE)
            namer->names.taken.count = inner;
    }
    namer->names.taken.count = outer;
}

LoopNames loop_names(const LoopKernel *kernel) {
    Arena *arena = kernel->arena;
    Namer namer = {.kernel = kernel, .names = names_create(arena)};
    Names *names = &namer.names;
    LoopNames *result = &namer.result;
    result->params = arena_array(arena, const char *, kernel->param_count + 1);
    result->vars = arena_array(arena, const char *, kernel->vars.count + 1);
    result->arrays = arena_array(arena, const char *, kernel->arrays.count + 1);
    result->views = arena_array(arena, const char *, kernel->arrays.count + 1);
    result->transfers = arena_array(arena, const char *, kernel->transfer_count + 1);
    for (int p = 0; p < kernel->param_count; p++)
        names_want(names, kernel->params[p]);
    for (int64_t v = 0; v < kernel->vars.count; v++)
        if (kernel->vars.items[v].given)
            names_want(names, kernel->vars.items[v].name);
    for (int64_t a = 0; a < kernel->arrays.count; a++)
        if (kernel->arrays.items[a].given)
            names_want(names, kernel->arrays.items[a].name);
    for (int p = 0; p < kernel->param_count; p++)
        result->params[p] = names_take(names, kernel->params[p], true);
    for (int64_t v = 0; v < kernel->vars.count; v++)
        if (kernel->vars.items[v].given)
            result->vars[v] = names_take(names, kernel->vars.items[v].name, true);
    for (int t = 0; t < kernel->transfer_count; t++)
        result->transfers[t] = names_take(names, kernel->transfers[t].name, false);
    result->execution = names_take(names, "execution", false);
    result->param = names_take(names, "param", false);
    result->processor = names_take(names, "processor", false);
    result->coordinates = names_take(names, "coordinates", false);
    result->rows = names_take(names, "rows", false);
    result->threads = names_take(names, "threads", false);
    result->loops = names_take(names, "loops", false);
    name_body(&namer, &kernel->body);
    return namer.result;
}
