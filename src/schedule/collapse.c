// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/commands.h"
#include "schedule/distribution.h"
#include "schedule/transform.h"

static bool directly_nested(const Application *application, int outer, int inner) {
    const Cin *cin = application->cin;
    const char *outer_name = cin->vars[outer].name, *inner_name = cin->vars[inner].name;
    Span span = application->command->args[1].span;
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest nest = cin_nest(cin, n);
        int at = nest_position(&nest, outer), inner_at = nest_position(&nest, inner);
        if (at < 0 && inner_at < 0)
            continue;
        if (at < 0 || inner_at < 0)
            return refuse(application, span,
                          "a term of this statement has '%s' without '%s' (loops: %s); collapse loops that "
                          "every term has together",
                          at < 0 ? inner_name : outer_name, at < 0 ? outer_name : inner_name,
                          nest_loop_list(cin, &nest));
        if (inner_at != at + 1)
            return refuse(application, span, "'%s' is not directly inside of '%s' (loops: %s); reorder first",
                          inner_name, outer_name, nest_loop_list(cin, &nest));
    }
    return true;
}

// If both loops are distributed, the collapsed loop is distributed over their processors.
static const Cin *collapse(Scheduler *scheduler, const Command *command, const Cin *cin) {
    Application application = {scheduler, command, cin};
    const Arg *args = command->args, *name = &args[2];
    int outer, inner;
    NewVar var;
    if (!argument_loop(&application, &args[0], &outer) || !argument_loop(&application, &args[1], &inner))
        return NULL;
    if (outer == inner) {
        refuse(&application, args[1].span, "'%s' and '%s' are the same loop; expected two", args[0].name,
               args[1].name);
        return NULL;
    }
    Cin *result = cin_copy(cin);
    bool distributed = cin_directive(cin, DIRECTIVE_DISTRIBUTE, outer) != NULL &&
                       cin_directive(cin, DIRECTIVE_DISTRIBUTE, inner) != NULL;
    if (distributed) {
        distribution_undo(result, outer);
        distribution_undo(result, inner);
        application.cin = result;
    }
    if (!loop_is_derivable(&application, args[0].span, outer) ||
        !loop_is_derivable(&application, args[1].span, inner) ||
        !argument_new_vars(&application, &name, 1, &var) || !directly_nested(&application, outer, inner))
        return NULL;
    Relation relation = {&relation_collapse, command->span, .parent = {outer, inner}};
    transform_derive(result, &relation, &var);
    if (distributed)
        distribution_bind(result, command->span, relation.child[0], NULL, 0);
    cin_set_nests(result, cin_nests(result));
    return result;
}

const ScheduleCommand command_collapse = {
    .name = "collapse",
    .alias = "fuse",
    .synopsis = "collapse(i, j, f)",
    .summary = "i and j, directly nested, become one loop f",
    .example = "# Three rows are too few for many threads; three times 100000 elements are not.\n"
               "tensor A(3, 100000): f64\n"
               "tensor B(3, 100000): f64\n"
               "A(i, j) = sqrt(B(i, j))\n"
               "schedule A {\n"
               "  collapse(i, j, f)\n"
               "  parallelize(f, cpu_thread)\n"
               "}\n",
    .forms = {{"distal_collapse",
               3,
               {{"the outer loop", TAKES_LOOP, false},
                {"the inner loop", TAKES_LOOP, false},
                {"the new loop", TAKES_NEW_LOOP, false}}}},
    .apply = collapse,
};
