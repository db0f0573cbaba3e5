// SPDX-License-Identifier: BSD-3-Clause
// Arguments of schedule commands. Each function resolves what one argument refers to, or adds a diagnostic
// "cannot COMMAND: reason" at its span and returns false.
#ifndef DISTAL_SCHEDULE_ARGUMENTS_H
#define DISTAL_SCHEDULE_ARGUMENTS_H

#include "schedule/schedule.h"

// A command that is being applied to a statement.
typedef struct {
    Scheduler *scheduler;
    const Command *command;
    const Cin *cin;
} Application;

// Adds "cannot COMMAND: ..."; always false.
bool refuse(const Application *application, Span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The items of a list of names, which is not empty; a name alone is a list of one.
bool argument_names(const Application *application, const Arg *arg, const Arg **items, int *count);
// A loop of the statement; several different ones.
bool argument_loop(const Application *application, const Arg *arg, int *var);
bool argument_loops(const Application *application, const Arg *arg, int *vars, int *count);
// `count` different new variables.
bool argument_new_vars(const Application *application, const Arg *const *args, int count, NewVar *vars);
// An integer expression over params, at least 1 where it is constant.
bool argument_factor(const Application *application, const Arg *arg, const IntExpr **factor);
// A tensor that the statement accesses, workspaces included.
bool argument_tensor(const Application *application, const Arg *arg, const Tensor **tensor);
// One of the `count` names; `what` is the noun for the diagnostic ("kernel").
bool argument_choice(const Application *application, const Arg *arg, const char *what,
                     const char *const *names, int count, int *choice);

// False with a diagnostic if a directive of one of `kinds` (bits 1 << DirectiveKind) is about the loop.
bool loop_is_free(const Application *application, Span span, int var, unsigned kinds);
// False with a diagnostic if the loop can no longer be replaced by other variables, because a directive is
// about it or another variable depends on it.
bool loop_is_derivable(const Application *application, Span span, int var);

// "a tensor": what has the name already, so that a workspace cannot; NULL: nothing.
const char *name_taken_by(const Scheduler *scheduler, const char *name);
// "stem", or "stem2" and so on where that is taken: the name of a workspace that no command gives.
const char *workspace_name(const Scheduler *scheduler, const char *stem);

// Whether an access of the assignment has this tensor.
bool assignment_has(const Stmt *assign, const Tensor *tensor);
// "io jo ii ji k": the loops of a nest; of all nests, in order.
const char *nest_loop_list(const Cin *cin, const Nest *nest);
const char *loop_list(const Cin *cin);

#endif
