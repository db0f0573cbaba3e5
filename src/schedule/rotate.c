// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/commands.h"
#include "schedule/transform.h"

// The value of `target` depends on those of `vars`, so these must be loops outside of it.
static bool outside_of(const Application *application, const int *vars, int count, int target) {
    const Cin *cin = application->cin;
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest nest = cin_nest(cin, n);
        int at = nest_position(&nest, target);
        for (int i = 0; at >= 0 && i < count; i++) {
            const char *var = cin->vars[vars[i]].name, *rotated = cin->vars[target].name;
            const Span span = application->command->args[1].span;
            const int position = nest_position(&nest, vars[i]);
            if (position < 0)
                return refuse(application, span,
                              "a term of this statement has '%s' without '%s' (loops: %s); rotate by loops "
                              "that every term with '%s' has",
                              rotated, var, nest_loop_list(cin, &nest), rotated);
            if (position == at)
                return refuse(application, span, "'%s' cannot be rotated by itself", rotated);
            if (position > at)
                return refuse(application, span,
                              "'%s' must be a loop outside of '%s' (loops: %s); reorder first", var, rotated,
                              nest_loop_list(cin, &nest));
        }
    }
    return true;
}

static const Cin *rotate(Scheduler *scheduler, const Command *command, const Cin *cin) {
    Application application = {scheduler, command, cin};
    const Arg *args = command->args, *name = &args[2];
    int target;
    NewVar var;
    Relation relation = {.kind = &relation_rotate, .span = command->span};
    if (!argument_loop(&application, &args[0], &target) ||
        !loop_is_derivable(&application, args[0].span, target) ||
        !argument_loops(&application, &args[1], relation.operands, &relation.operand_count) ||
        !argument_new_vars(&application, &name, 1, &var) ||
        !outside_of(&application, relation.operands, relation.operand_count, target))
        return NULL;
    Cin *result = cin_copy(cin);
    relation.parent[0] = target;
    transform_derive(result, &relation, &var);
    return result;
}

const ScheduleCommand command_rotate = {
    .name = "rotate",
    .synopsis = "rotate(t, {i, ...}, r)",
    .summary = "t = (r + i + ...) mod extent(t): the systolic shift",
    .example = "# Each processor begins with the rows of C that it holds, then gets those that its neighbour "
               "has used.\n"
               "machine M = grid(4)\n"
               "tensor A(1000, 1000): f64\n"
               "tensor B(1000, 1000): f64\n"
               "tensor C(1000, 1000): f64\n"
               "place A(x, y) -> M(x)\n"
               "place B(x, y) -> M(x)\n"
               "place C(x, y) -> M(x)\n"
               "A(i, j) = B(i, k) * C(k, j)\n"
               "schedule A {\n"
               "  distribute({i}, {io}, {ii}, M)\n"
               "  divide(k, ko, ki, 4)\n"
               "  reorder({ko, ii, j, ki})\n"
               "  rotate(ko, {io}, kos)\n"
               "  communicate(C, kos)\n"
               "}\n",
    .forms = {{"distal_rotate",
               3,
               {{"the target", TAKES_LOOP, false},
                {"the list of loops", TAKES_NAMES, false},
                {"the new loop", TAKES_NEW_LOOP, false}}}},
    .apply = rotate,
};
