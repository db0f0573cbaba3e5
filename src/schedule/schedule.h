// SPDX-License-Identifier: BSD-3-Clause
// Schedule commands: functions from one Cin to the next, or a diagnostic (docs/language.md; DISTAL, sections
// 3.3 and 5.2). One file a command; commands.h lists them.
#ifndef DISTAL_SCHEDULE_SCHEDULE_H
#define DISTAL_SCHEDULE_SCHEDULE_H

#include "index/cin.h"

// An argument as it was written.
typedef enum {
    ARG_NAME,       // identifier, or identifier.identifier (M.node); `value` is set when it names a param
    ARG_LIST,       // { argument, ... } of names
    ARG_INTEGER,    // an integer expression over params
    ARG_ACCESS,     // B(i, j): `name` and its `items`
    ARG_EXPRESSION, // a tensor expression, its text in `name`, and `expression` where the command takes one
} ArgKind;

typedef struct Arg Arg;
struct Arg {
    ArgKind kind;
    Span span;
    const char *name;  // ARG_NAME, ARG_ACCESS, ARG_EXPRESSION
    const char *level; // of ARG_NAME: what follows the dot, or NULL
    const IntExpr *value;
    int item_count;
    const Arg *items;
    const Assignment *expression; // the expression is its right side, with variables of its own; no left side
};

// One command as it was written: `name(args)`.
typedef struct {
    const char *name;
    Span span;      // of the whole command
    Span name_span; // of its name
    int arg_count;
    const Arg *args;
} Command;

// What names in a command may refer to.
typedef struct {
    int machine_count;
    const Machine *const *machines;
    int tensor_count;
    const Tensor *const *tensors;
    int param_count;
    const char *const *params;
} Symbols;

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
    Symbols symbols;
    // That `precompute` has made, in all statements: their ids follow those of the tensors of the program.
    Array(const Tensor *) workspaces;
} Scheduler;

// A schedule command. `apply` returns the new Cin, or NULL after adding a diagnostic.
typedef struct {
    const char *name;
    const char *alias;    // another name for it, or NULL
    const char *synopsis; // "split(i, io, ii, s)"
    const char *summary;  // one line, for help
    const char *example;  // a program that uses it in its first statement, for help; NULL: none yet
    int min_args, max_args;
    bool takes_expression; // its first argument is a tensor expression, and lists may be empty
    const Cin *(*apply)(Scheduler *scheduler, const Command *command, const Cin *cin);
} ScheduleCommand;

// All commands, in the order of the documentation; *count is set.
const ScheduleCommand *const *schedule_commands(int *count);
const ScheduleCommand *schedule_command(const char *name); // aliases too; NULL where there is none

// Looks the command up, checks the number of its arguments, applies it.
const Cin *schedule_apply(Scheduler *scheduler, const Command *command, const Cin *cin);

// What happens where the user says nothing (docs/language.md): without any `distribute`, the work goes onto
// the placement of the left-hand tensor, else of the first placed tensor on the right, else onto one process.
// Returns `cin` itself where there is nothing to add.
const Cin *schedule_defaults(const Cin *cin);

#endif
