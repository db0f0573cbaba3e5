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
    ARG_EXPRESSION, // a tensor expression; its text is `name`, and `expression` is set if the command takes
                    // one
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
    const Assignment *expression; // its right side is the expression, with its own variables; no left side
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

// The objects that names in a command may refer to.
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
    // Made by `precompute`, in all statements: their ids follow those of the tensors of the program.
    Array(const Tensor *) workspaces;
} Scheduler;

// What a command takes as an argument.
typedef enum {
    TAKES_LOOP,              // the name of a loop
    TAKES_NEW_LOOP,          // a new name
    TAKES_WORKSPACE,         // a new name
    TAKES_CHOICE,            // the name of a kernel, a unit or a race strategy
    TAKES_MACHINE_OR_TENSOR, // its name, or that of a level of a machine
    TAKES_NAMES,             // a list of names, not empty; braces may be omitted around a single name
    TAKES_VARIABLES,         // a list of names, which may be empty
    TAKES_INTEGER,           // an integer expression over params
    TAKES_EXPRESSION,        // a tensor expression
    TAKES_ACCESS,            // B(i, ...)
} ArgumentKind;

typedef struct {
    const char *what; // "the outer loop", for messages
    ArgumentKind kind;
    bool optional; // possible for the last argument
} ArgumentForm;

// One form of a command, and the call of the library that takes its arguments as text. Without one, the
// library applies the command by distal_schedule.
enum { MAX_COMMAND_ARGUMENTS = 5 };
typedef struct {
    const char *call; // "distal_split", or NULL
    int count;        // 0: there is no such form
    ArgumentForm arguments[MAX_COMMAND_ARGUMENTS];
} CommandForm;

// A schedule command. `apply` returns the new Cin, or NULL after adding a diagnostic.
typedef struct {
    const char *name;
    const char *verb;     // "iterate over positions", for messages; NULL: the name is one
    const char *alias;    // another name for it, or NULL
    const char *synopsis; // "split(i, io, ii, s)"
    const char *summary;  // one line, for help
    const char *example;  // a program that uses it in its first statement, for help; NULL: none yet
    CommandForm forms[2]; // the second one may be missing
    const Cin *(*apply)(Scheduler *scheduler, const Command *command, const Cin *cin);
} ScheduleCommand;

// All commands, in the order of the documentation; *count is set.
const ScheduleCommand *const *schedule_commands(int *count);
const ScheduleCommand *schedule_command(const char *name); // aliases too; NULL where there is none
// The command of a call of the library, and its form; NULL where there is none.
const ScheduleCommand *schedule_command_of_call(const char *call, const CommandForm **form);

// Finds the command in the table, checks the number of its arguments, and applies it.
const Cin *schedule_apply(Scheduler *scheduler, const Command *command, const Cin *cin);

// The access whose placement determines first where the statement is computed: the first one whose placement
// partitions a mode or fixes a coordinate, of sparse tensors before dense ones, and of each of these the left
// side before operands; NULL where there is none.
const Access *schedule_placed(const Assignment *assignment);

// The default if there is no `distribute` (docs/language.md): the work is distributed onto the placement of
// schedule_placed, else onto one process. Where a placement divides entries, and the statement has values
// elsewhere, the next tensor in that order decides. Returns `cin` itself if there is nothing to add.
const Cin *schedule_defaults(const Cin *cin);

// Number `index` of the accesses in the order of schedule_placed, `access` NULL where there are no more, and
// the variables that its placement divides, each along a dimension of the machine.
typedef struct {
    const Access *access;
    int count, vars[MAX_MACHINE_ORDER], dims[MAX_MACHINE_ORDER];
} DefaultPlace;
DefaultPlace schedule_place(const Assignment *assignment, int index);
// The default of a statement of dense tensors if this access decides; NULL where the loops do not allow that,
// or it divides none.
const Cin *schedule_at(const Cin *cin, const Access *access);

#endif
