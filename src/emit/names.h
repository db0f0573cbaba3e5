// SPDX-License-Identifier: BSD-3-Clause
// Names in generated C: what users and the compiler call things, made legal and unique, unchanged where
// possible.
#ifndef DISTAL_EMIT_NAMES_H
#define DISTAL_EMIT_NAMES_H

#include "base/arena.h"

#include <stdbool.h>

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

#endif
