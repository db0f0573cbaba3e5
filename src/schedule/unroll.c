// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/commands.h"
#include "schedule/transform.h"

static const Cin *unroll(Scheduler *scheduler, const Command *command, const Cin *cin) {
    Application application = {scheduler, command, cin};
    const Arg *args = command->args;
    int var;
    const IntExpr *factor;
    if (!argument_loop(&application, &args[0], &var) ||
        !loop_is_free(&application, args[0].span, var,
                      1u << DIRECTIVE_DISTRIBUTE | 1u << DIRECTIVE_SUBSTITUTE | 1u << DIRECTIVE_UNROLL |
                          1u << DIRECTIVE_PARALLELIZE) ||
        !argument_factor(&application, &args[1], &factor))
        return NULL;
    // One kernel serves all values of the params, but a C compiler unrolls by a constant.
    enum { MOST = 65535 };
    if (factor->op != INT_CONST || factor->value > MOST) {
        refuse(&application, args[1].span,
               "the number of iterations must be a number from 1 to %d, without params", MOST);
        return NULL;
    }
    Cin *result = cin_copy(cin);
    cin_add_directive(result, (Directive){.kind = DIRECTIVE_UNROLL,
                                          .span = command->span,
                                          .loop_count = 1,
                                          .loops = {var},
                                          .number = factor});
    return result;
}

const ScheduleCommand command_unroll = {
    .name = "unroll",
    .synopsis = "unroll(i, n)",
    .summary = "unroll i, n iterations at a time",
    .example = "# Four rows at a time.\n"
               "tensor A(1000): f64\n"
               "tensor B(1000, 3): f64\n"
               "tensor c(3): f64\n"
               "A(i) = B(i, j) * c(j)\n"
               "schedule A {\n"
               "  unroll(i, 4)\n"
               "}\n",
    .forms = {{"distal_unroll", 2, {{"the loop", TAKES_LOOP, false}, {"the factor", TAKES_INTEGER, false}}}},
    .apply = unroll,
};
