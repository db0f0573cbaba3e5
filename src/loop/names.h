// SPDX-License-Identifier: BSD-3-Clause
// Names in generated C: what users and the compiler call things, made legal and unique, unchanged where
// possible.
#ifndef DISTAL_LOOP_NAMES_H
#define DISTAL_LOOP_NAMES_H

#include "loop/loop.h"

typedef Array(const char *) NameArray;

typedef struct {
    Arena *arena;
    NameArray wanted; // names of users that no other name may take, as long as they are not taken themselves
    NameArray taken;
} Names;

Names names_create(Arena *arena);

// Announces a user's name, before any name is taken.
void names_want(Names *names, const char *name);

// A C identifier for `name` that nothing else has: the name itself, or with a number after it. `own` says
// that it is a name that was announced.
const char *names_take(Names *names, const char *name, bool own);

// The names of a kernel, by param, variable, array and transfer. Names in two bodies of which neither is in
// the other may be the same.
typedef struct {
    const char **params, **vars, **arrays, **views, **transfers;
    const char *execution, *param, *processor, *coordinates, *rows, *threads, *loops;
} LoopNames;
LoopNames loop_names(const LoopKernel *kernel);

// Values and index arithmetic as C.
void loop_print_int(const LoopKernel *kernel, const LoopNames *names, const IntExpr *expr, Text *to);
const char *loop_int_text(const LoopKernel *kernel, const LoopNames *names, const IntExpr *expr);
const char *loop_value_text(const LoopKernel *kernel, const LoopNames *names, const Value *value);
// The type of elements; on a GPU complex ones have a name that C and CUDA C have in common.
const char *loop_element_type(const LoopKernel *kernel, ElementType type);
// "B[i - B_lo0]", or the name of a scalar.
const char *loop_element_text(const LoopKernel *kernel, const LoopNames *names, int array,
                              const IntExpr *position);

#endif
