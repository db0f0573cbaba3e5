// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/commands.h"
#include "schedule/transform.h"

// Whether some nest accesses the tensor under the loop.
static bool accessed_under(const Cin *cin, const Tensor *tensor, int var) {
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest nest = cin_nest(cin, n);
        if (nest_has(&nest, var) && assignment_has(nest.assign, tensor))
            return true;
    }
    return false;
}

// The loop at which the tensor is already communicated in a nest that also has `var`, or -1.
static int communicated_at(const Cin *cin, const Tensor *tensor, int var) {
    for (int64_t d = 0; d < cin->directives.count; d++) {
        const Directive *directive = cin->directives.items[d];
        if (directive->kind != DIRECTIVE_COMMUNICATE || directive->tensor != tensor)
            continue;
        for (int n = 0; n < cin_nest_count(cin); n++) {
            Nest nest = cin_nest(cin, n);
            if (nest_has(&nest, var) && nest_has(&nest, directive->loops[0]) &&
                assignment_has(nest.assign, tensor))
                return directive->loops[0];
        }
    }
    return -1;
}

static bool communicate_one(const Application *application, Cin *result, const Arg *arg, int var) {
    const Tensor *tensor;
    if (!argument_tensor(application, arg, &tensor))
        return false;
    if (tensor->around)
        return refuse(application, arg->span, "'%s' lives inside of an iteration, so nothing of it moves",
                      arg->name);
    const int already = communicated_at(result, tensor, var);
    if (already >= 0)
        return refuse(application, arg->span, "'%s' is already communicated at '%s'", arg->name,
                      result->vars[already].name);
    if (!accessed_under(result, tensor, var))
        return refuse(application, arg->span, "'%s' is not accessed under the loop '%s'", arg->name,
                      result->vars[var].name);
    cin_add_directive(result, (Directive){.kind = DIRECTIVE_COMMUNICATE,
                                          .span = application->command->span,
                                          .loop_count = 1,
                                          .loops = {var},
                                          .tensor = tensor});
    return true;
}

static const Cin *communicate(Scheduler *scheduler, const Command *command, const Cin *cin) {
    Application application = {scheduler, command, cin};
    const Arg *tensors;
    int count, var;
    if (!argument_names(&application, &command->args[0], &tensors, &count) ||
        !argument_loop(&application, &command->args[1], &var) ||
        !loop_is_free(&application, command->args[1].span, var,
                      1u << DIRECTIVE_SUBSTITUTE | 1u << DIRECTIVE_PARALLELIZE))
        return NULL;
    Cin *result = cin_copy(cin);
    for (int i = 0; i < count; i++)
        if (!communicate_one(&application, result, &tensors[i], var))
            return NULL;
    const char *why = cin_set_nests(result, cin_nests(result));
    if (why) {
        refuse(&application, command->args[1].span, "%s", why);
        return NULL;
    }
    return result;
}

const ScheduleCommand command_communicate = {
    .name = "communicate",
    .synopsis = "communicate({T, ...}, i)",
    .summary = "gather what each T needs under one iteration of i at its start",
    .example = "# All of C passes by every processor, 100 rows at a time.\n"
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
               "  split(k, ko, ki, 100)\n"
               "  reorder({ko, ii, j, ki})\n"
               "  communicate(C, ko)\n"
               "}\n",
    .forms = {{"distal_communicate",
               2,
               {{"the list of tensors", TAKES_NAMES, false}, {"the loop", TAKES_LOOP, false}}}},
    .apply = communicate,
};
