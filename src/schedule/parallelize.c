// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/commands.h"
#include "schedule/transform.h"

// Whether different iterations of the loop may update the same element of the left side, because it is
// derived from a variable that is summed over. One pass in order of derivation, as the number of paths may be
// large.
static bool reduces(const Cin *cin, const Nest *nest, int var) {
    if (!nest->assign->accumulate)
        return false;
    VarSet summed = ~access_vars(nest->assign->lhs);
    for (int64_t i = 0; i < cin->relations.count; i++) {
        const Relation *relation = cin->relations.items[i];
        if (!(relation_parents(relation) & summed) && !(relation->access && relation->access->repeats))
            summed &= ~relation_children(relation);
    }
    return summed >> var & 1;
}

// The left side of the first nest in which the loop reduces, where threads would race; or NULL.
static const Tensor *raced_for(const Cin *cin, int var) {
    for (int n = 0; n < cin_nest_count(cin); n++) {
        const Nest nest = cin_nest(cin, n);
        if (nest_has(&nest, var) && reduces(cin, &nest, var))
            return nest.assign->lhs->tensor;
    }
    return NULL;
}

static const Cin *parallelize(Scheduler *scheduler, const Command *command, const Cin *cin) {
    Application application = {scheduler, command, cin};
    const Arg *args = command->args;
    int var, unit, race = RACE_NONE;
    if (!argument_loop(&application, &args[0], &var) ||
        !loop_is_free(&application, args[0].span, var,
                      1u << DIRECTIVE_DISTRIBUTE | 1u << DIRECTIVE_SUBSTITUTE | 1u << DIRECTIVE_COMMUNICATE |
                          1u << DIRECTIVE_PARALLELIZE | 1u << DIRECTIVE_UNROLL))
        return NULL;
    if (!argument_choice(&application, &args[1], "unit", parallel_unit_names, PARALLEL_UNIT_COUNT, &unit) ||
        (command->arg_count > 2 &&
         !argument_choice(&application, &args[2], "race strategy", race_names, RACE_COUNT, &race)))
        return NULL;
    const Tensor *raced = raced_for(cin, var);
    if (unit != UNIT_CPU_VECTOR && race == RACE_NONE && raced) {
        refuse(&application, args[0].span,
               "threads would race: iterations of '%s' add to the same elements of '%s'; "
               "give a race strategy (atomic, reduction or temporary)",
               args[0].name, raced->name);
        return NULL;
    }
    Cin *result = cin_copy(cin);
    cin_add_directive(result, (Directive){.kind = DIRECTIVE_PARALLELIZE,
                                          .span = command->span,
                                          .loop_count = 1,
                                          .loops = {var},
                                          .unit = (ParallelUnit)unit,
                                          .race = (RaceStrategy)race});
    return result;
}

const ScheduleCommand command_parallelize = {
    .name = "parallelize",
    .synopsis = "parallelize(i, UNIT, RACE)",
    .summary = "iterations of i onto cpu_thread, cpu_vector, gpu_block, gpu_warp or gpu_thread; RACE (none, "
               "atomic, reduction, temporary) may "
               "be left out",
    .example = "# Threads add up parts of the sum of their own, and vectors do within each.\n"
               "tensor s: f64\n"
               "tensor b(1000000): f64\n"
               "tensor c(1000000): f64\n"
               "s = b(i) * c(i)\n"
               "schedule s {\n"
               "  split(i, io, ii, 4096)\n"
               "  parallelize(io, cpu_thread, reduction)\n"
               "  parallelize(ii, cpu_vector)\n"
               "}\n",
    .forms = {{"distal_parallelize",
               3,
               {{"the loop", TAKES_LOOP, false},
                {"the unit", TAKES_CHOICE, false},
                {"the treatment of races", TAKES_CHOICE, true}}}},
    .apply = parallelize,
};
