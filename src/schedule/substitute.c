// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/commands.h"
#include "schedule/transform.h"

static bool some_nest_has(const Cin *cin, const Directive *directive) {
    for (int n = 0; n < cin_nest_count(cin); n++) {
        const Nest nest = cin_nest(cin, n);
        int count = 0;
        for (int i = 0; i < directive->loop_count; i++)
            count += nest_has(&nest, directive->loops[i]);
        if (count == directive->loop_count)
            return true;
    }
    return false;
}

static const Cin *substitute(Scheduler *scheduler, const Command *command, const Cin *cin) {
    Application application = {scheduler, command, cin};
    Directive directive = {.kind = DIRECTIVE_SUBSTITUTE, .span = command->span};
    int kernel;
    if (!argument_loops(&application, &command->args[0], directive.loops, &directive.loop_count))
        return NULL;
    for (int i = 0; i < directive.loop_count; i++)
        if (!loop_is_free(&application, command->args[0].span, directive.loops[i],
                          1u << DIRECTIVE_DISTRIBUTE | 1u << DIRECTIVE_SUBSTITUTE |
                              1u << DIRECTIVE_COMMUNICATE | 1u << DIRECTIVE_PARALLELIZE |
                              1u << DIRECTIVE_UNROLL))
            return NULL;
    if (!some_nest_has(cin, &directive)) {
        refuse(&application, command->args[0].span, "no nest of this statement has all of these loops");
        return NULL;
    }
    if (!argument_choice(&application, &command->args[1], "kernel", kernel_names, KERNEL_COUNT, &kernel))
        return NULL;
    directive.kernel = (KernelName)kernel;
    Cin *result = cin_copy(cin);
    cin_add_directive(result, directive);
    return result;
}

const ScheduleCommand command_substitute = {
    .name = "substitute",
    .synopsis = "substitute({i, ...}, KERNEL)",
    .summary = "the named innermost loops become a library call: gemm, gemv, ger, dot, axpy, blas, loops",
    .example = "# A matrix product for each i, by the BLAS.\n"
               "tensor A(20, 300, 200): f64\n"
               "tensor B(20, 300, 100): f64\n"
               "tensor C(100, 200): f64\n"
               "A(i, j, l) = B(i, j, k) * C(k, l)\n"
               "schedule A {\n"
               "  substitute({j, l, k}, gemm)\n"
               "}\n",
    .forms = {{"distal_substitute",
               2,
               {{"the list of loops", TAKES_NAMES, false}, {"the kernel", TAKES_CHOICE, false}}}},
    .apply = substitute,
};
