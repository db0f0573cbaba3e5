// SPDX-License-Identifier: BSD-3-Clause
// split and divide: a loop becomes a loop over blocks and, inside, a loop over one block. They differ in
// which of the two extents is given.
#include "schedule/commands.h"
#include "schedule/transform.h"

static const Cin *blocks(Scheduler *scheduler, const Command *command, const Cin *cin, RelationKind kind) {
    Application application = {scheduler, command, cin};
    const Arg *args = command->args, *names[] = {&args[1], &args[2]};
    int parent;
    NewVar vars[2];
    const IntExpr *factor;
    if (!argument_loop(&application, &args[0], &parent) ||
        !loop_is_derivable(&application, args[0].span, parent) ||
        !argument_new_vars(&application, names, 2, vars) || !argument_factor(&application, &args[3], &factor))
        return NULL;
    Cin *result = cin_copy(cin);
    int children[2];
    transform_blocks(result, kind, command->span, parent, vars[0], vars[1], factor, children);
    return result;
}

static const Cin *split(Scheduler *scheduler, const Command *command, const Cin *cin) {
    return blocks(scheduler, command, cin, REL_SPLIT);
}

static const Cin *divide(Scheduler *scheduler, const Command *command, const Cin *cin) {
    return blocks(scheduler, command, cin, REL_DIVIDE);
}

const ScheduleCommand command_split = {
    .name = "split",
    .synopsis = "split(i, io, ii, s)",
    .summary = "i becomes io and, inside, ii with extent s",
    .min_args = 4,
    .max_args = 4,
    .apply = split,
};

const ScheduleCommand command_divide = {
    .name = "divide",
    .synopsis = "divide(i, io, ii, c)",
    .summary = "i becomes io with extent c and, inside, ii",
    .min_args = 4,
    .max_args = 4,
    .apply = divide,
};
