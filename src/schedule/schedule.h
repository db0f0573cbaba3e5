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

// A copy in `arena` with all that it refers to, for other tensors.
Command command_copy(Arena *arena, const Command *command, TensorMap tensor, void *context);

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

// What an argument of a command is.
typedef enum {
    TAKES_LOOP,              // a name: of a loop, of a new loop, of a workspace, of a unit, ...
    TAKES_NEW_LOOP,          //
    TAKES_WORKSPACE,         //
    TAKES_CHOICE,            // kernel, unit or treatment of races
    TAKES_MACHINE_OR_TENSOR, // or a level of a machine
    TAKES_NAMES,             // a list of names, of which there is at least one; one alone needs no braces
    TAKES_VARIABLES,         // the same, and may be empty
    TAKES_INTEGER,           // an integer expression over params
    TAKES_EXPRESSION,        // a tensor expression
    TAKES_ACCESS,            // B(i, ...)
} ArgumentKind;

typedef struct {
    const char *what; // "the outer loop", for messages
    ArgumentKind kind;
    bool optional; // the last one may be left out
} ArgumentForm;

// One way to write a command, and the call of the library that has its arguments as text.
enum { MAX_COMMAND_ARGUMENTS = 4 };
typedef struct {
    const char *call; // "distal_split"; NULL: there is no such form
    int count;
    ArgumentForm arguments[MAX_COMMAND_ARGUMENTS];
} CommandForm;

// A schedule command. `apply` returns the new Cin, or NULL after adding a diagnostic.
typedef struct {
    const char *name;
    const char *alias;    // another name for it, or NULL
    const char *synopsis; // "split(i, io, ii, s)"
    const char *summary;  // one line, for help
    const char *example;  // a program that uses it in its first statement, for help; NULL: none yet
    CommandForm forms[2]; // the ways to write it; the second may have no call
    const Cin *(*apply)(Scheduler *scheduler, const Command *command, const Cin *cin);
} ScheduleCommand;

// All commands, in the order of the documentation; *count is set.
const ScheduleCommand *const *schedule_commands(int *count);
const ScheduleCommand *schedule_command(const char *name); // aliases too; NULL where there is none
// The command that a call of the library is for, and in which form; NULL where there is none.
const ScheduleCommand *schedule_command_of_call(const char *call, const CommandForm **form);

// Looks the command up, checks the number of its arguments, applies it.
const Cin *schedule_apply(Scheduler *scheduler, const Command *command, const Cin *cin);

// The default where there is no `distribute` (docs/language.md): the work is distributed onto the placement
// of the left-hand tensor, else of the first placed tensor on the right, else onto one process. Returns `cin`
// itself where there is nothing to add.
const Cin *schedule_defaults(const Cin *cin);

#endif
