// SPDX-License-Identifier: BSD-3-Clause
// split and divide: a loop becomes a loop over blocks and, inside, a loop over one block. They differ in
// which of the two extents is given.
#include "schedule/commands.h"
#include "schedule/transform.h"

static const Cin *blocks(Scheduler *scheduler, const Command *command, const Cin *cin,
                         const RelationKind *kind) {
    Application application = {scheduler, command, cin};
    const Arg *args = command->args, *names[] = {&args[1], &args[2]};
    NewVar vars[2];
    Relation relation = {.kind = kind, .span = command->span};
    if (!argument_loop(&application, &args[0], &relation.parent[0]) ||
        !loop_is_derivable(&application, args[0].span, relation.parent[0]) ||
        !argument_new_vars(&application, names, 2, vars) ||
        !argument_factor(&application, &args[3], &relation.numbers[0]))
        return NULL;
    Cin *result = cin_copy(cin);
    transform_derive(result, &relation, vars);
    return result;
}

static const Cin *split(Scheduler *scheduler, const Command *command, const Cin *cin) {
    return blocks(scheduler, command, cin, &relation_split);
}

static const Cin *divide(Scheduler *scheduler, const Command *command, const Cin *cin) {
    return blocks(scheduler, command, cin, &relation_divide);
}

const ScheduleCommand command_split = {
    .name = "split",
    .synopsis = "split(i, io, ii, s)",
    .summary = "i becomes io and, inside, ii with extent s",
    .example = "# A part of c that fits into a cache is used for every row before the next part.\n"
               "tensor A(1000): f64\n"
               "tensor B(1000, 5000): f64\n"
               "tensor c(5000): f64\n"
               "A(i) = B(i, j) * c(j)\n"
               "schedule A {\n"
               "  split(j, jo, ji, 512)\n"
               "  reorder({jo, i, ji})\n"
               "}\n",
    .forms = {{"distal_split",
               4,
               {{"the loop", TAKES_LOOP, false},
                {"the outer loop", TAKES_NEW_LOOP, false},
                {"the inner loop", TAKES_NEW_LOOP, false},
                {"the size", TAKES_INTEGER, false}}}},
    .apply = split,
};

const ScheduleCommand command_divide = {
    .name = "divide",
    .synopsis = "divide(i, io, ii, c)",
    .summary = "i becomes io with extent c and, inside, ii",
    .example = "# Eight equal parts of the rows, one for each of eight threads.\n"
               "tensor A(1000): f64\n"
               "tensor B(1000, 5000): f64\n"
               "tensor c(5000): f64\n"
               "A(i) = B(i, j) * c(j)\n"
               "schedule A {\n"
               "  divide(i, io, ii, 8)\n"
               "  parallelize(io, cpu_thread)\n"
               "}\n",
    .forms = {{"distal_divide",
               4,
               {{"the loop", TAKES_LOOP, false},
                {"the outer loop", TAKES_NEW_LOOP, false},
                {"the inner loop", TAKES_NEW_LOOP, false},
                {"the number of parts", TAKES_INTEGER, false}}}},
    .apply = divide,
};
