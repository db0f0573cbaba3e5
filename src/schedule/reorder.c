// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/commands.h"
#include "schedule/transform.h"

static const Cin *reorder(Scheduler *scheduler, const Command *command, const Cin *cin) {
    Application application = {scheduler, command, cin};
    int vars[MAX_VARS], count;
    if (!argument_loops(&application, &command->args[0], vars, &count))
        return NULL;
    Cin *result = cin_copy(cin);
    const char *why = transform_reorder(result, vars, count);
    if (why) {
        refuse(&application, command->args[0].span, "%s", why);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        result->ordered[vars[i]] = true;
    return result;
}

const ScheduleCommand command_reorder = {
    .name = "reorder",
    .synopsis = "reorder({i, ...})",
    .summary = "the named loops, in this order, in the places that they hold now",
    .example = "# The innermost loop j reads and writes rows of A and C in the order of memory.\n"
               "tensor A(500, 500): f64\n"
               "tensor B(500, 500): f64\n"
               "tensor C(500, 500): f64\n"
               "A(i, j) = abs(B(i, k) - C(k, j))\n"
               "schedule A {\n"
               "  reorder({i, k, j})\n"
               "}\n",
    .forms = {{"distal_reorder", 1, {{"the list of loops", TAKES_NAMES, false}}}},
    .apply = reorder,
};
