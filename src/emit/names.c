// SPDX-License-Identifier: BSD-3-Clause
#include "emit/names.h"

#include "base/function.h"

#include <string.h>

// Keywords of C (up to C23, and those that compilers add), macros of the headers that a kernel includes,
// macros that compilers predefine, and the functions of the prelude.
static const char *const reserved[] = {
    "alignas",
    "alignof",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "nullptr",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "thread_local",
    "true",
    "typedef",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "I",
    "complex",
    "imaginary",
    "CMPLX",
    "CMPLXF",
    "CMPLXL",
    "NULL",
    "linux",
    "unix",
    "int32_t",
    "int64_t",
    "min",
    "max",
    "ceil_div",
    "floor_div",
    "SIZE_MAX",
    "WCHAR_MIN",
    "WCHAR_MAX",
    "WINT_MIN",
    "WINT_MAX",
    "INFINITY",
    "NAN",
    "MAXFLOAT",
    "math_errhandling",
    "signgam",
};

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
    return !has_reserved_start(name) && !is_function(name) &&
           !is_among(name, reserved, sizeof reserved / sizeof *reserved) &&
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
