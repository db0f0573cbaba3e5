// SPDX-License-Identifier: BSD-3-Clause
// The forms of distribute: loops as they are; targets divided by the dimensions of a machine; targets divided
// as the placement of a tensor divides its modes.
#include "schedule/commands.h"
#include "schedule/distribution.h"

#include <string.h>

enum {
    OTHERWISE_EXECUTED = 1u << DIRECTIVE_SUBSTITUTE | 1u << DIRECTIVE_PARALLELIZE | 1u << DIRECTIVE_UNROLL
};

static bool fits(const Cin *cin, const Machine *machine, int dim, int var) {
    return int_equal(machine->extents[dim], cin->vars[var].extent) &&
           !distribution_taken(cin, machine, dim, var);
}

// The dimension along which a loop is distributed if no machine is named: the first free dimension with its
// extent, of the machine that the statement uses if there is one. Machine NULL where there is none.
static const Machine *fitting_dimension(const Application *application, const Cin *cin, int var, int *dim) {
    const Symbols *symbols = &application->scheduler->symbols;
    bool bound = false;
    const Machine *machine = NULL;
    for (int64_t d = 0; d < cin->directives.count && !bound; d++) {
        bound = cin->directives.items[d]->kind == DIRECTIVE_DISTRIBUTE;
        machine = cin->directives.items[d]->machine;
    }
    for (int m = 0; m < symbols->machine_count; m++) {
        if (bound && symbols->machines[m] != machine)
            continue;
        for (*dim = 0; *dim < symbols->machines[m]->order; ++*dim)
            if (fits(cin, symbols->machines[m], *dim, var))
                return symbols->machines[m];
    }
    return NULL;
}

// Parts of different lengths have as many iterations as the longest, which is known with boundaries. Where
// positions are divided, lowering says what can be distributed.
static bool has_known_extent(const Application *application, Span span, int var) {
    const Cin *cin = application->cin;
    for (const Relation *by = cin_made_by(cin, var); by; by = cin_made_by(cin, by->parent[0]))
        if (by->kind->stored)
            return true;
    return int_is_closed(cin->vars[var].extent) ||
           refuse(application, span,
                  "'%s' runs over parts of different lengths; divide(%s, ...), and distribute its outer loop",
                  cin->vars[var].name, cin->vars[var].name);
}

static const Cin *distribute_loops(const Application *application) {
    const Command *command = application->command;
    int vars[MAX_VARS], count;
    if (!argument_loops(application, &command->args[0], vars, &count))
        return NULL;
    Cin *result = cin_copy(application->cin);
    for (int i = 0; i < count; i++) {
        if (!loop_is_free(application, command->args[0].span, vars[i],
                          1u << DIRECTIVE_DISTRIBUTE | OTHERWISE_EXECUTED) ||
            !has_known_extent(application, command->args[0].span, vars[i]))
            return NULL;
        int dim = 0;
        const Machine *machine = fitting_dimension(application, result, vars[i], &dim);
        distribution_bind(result, command->span, vars[i], machine, dim);
    }
    const char *why = cin_set_nests(result, cin_nests(result));
    if (why) {
        refuse(application, command->args[0].span, "%s", why);
        return NULL;
    }
    return result;
}

// The three lists of the compound forms as steps without dimensions.
static bool resolve_lists(const Application *application, Distribution *distribution) {
    const Arg *args = application->command->args, *outer, *inner, *names[2 * MAX_MACHINE_ORDER];
    int targets[MAX_VARS], count, outer_count, inner_count;
    NewVar vars[2 * MAX_MACHINE_ORDER];
    if (!argument_loops(application, &args[0], targets, &count) ||
        !argument_names(application, &args[1], &outer, &outer_count) ||
        !argument_names(application, &args[2], &inner, &inner_count))
        return false;
    if (outer_count != count || inner_count != count)
        return refuse(application, args[outer_count != count ? 1 : 2].span,
                      "%d name%s for %d target%s: each target becomes one distributed and one local loop",
                      outer_count != count ? outer_count : inner_count,
                      (outer_count != count ? outer_count : inner_count) == 1 ? "" : "s", count,
                      count == 1 ? "" : "s");
    if (count > MAX_MACHINE_ORDER)
        return refuse(application, args[0].span, "a machine has at most %d dimensions", MAX_MACHINE_ORDER);
    for (int i = 0; i < count; i++) {
        const Arg *target = args[0].kind == ARG_LIST ? &args[0].items[i] : &args[0];
        if (!loop_is_free(application, target->span, targets[i], 1u << DIRECTIVE_DISTRIBUTE) ||
            !loop_is_derivable(application, target->span, targets[i]))
            return false;
        names[i] = &outer[i];
        names[count + i] = &inner[i];
    }
    if (!argument_new_vars(application, names, 2 * count, vars))
        return false;
    for (int i = 0; i < count; i++)
        distribution->steps[i] =
            (DistributionStep){.target = targets[i], .outer = vars[i], .inner = vars[count + i]};
    distribution->step_count = count;
    return true;
}

// A nest may use each dimension once.
static bool dimensions_are_free(const Application *application, const Distribution *distribution) {
    const Arg *onto = &application->command->args[3];
    for (int s = 0; s < distribution->step_count; s++) {
        const Directive *taken =
            distribution_taken(application->cin, distribution->machine, distribution->steps[s].dim,
                               distribution->steps[s].target);
        if (!taken)
            continue;
        Text text = text_create(application->scheduler->arena);
        cin_print_directive(application->cin, taken, application->scheduler->symbols.params, &text);
        return refuse(application, onto->span, "that dimension of '%s' is already used by %s",
                      distribution->machine->name, text_string(&text));
    }
    return true;
}

static bool onto_machine(const Application *application, const Machine *machine, Distribution *distribution) {
    const Arg *onto = &application->command->args[3];
    int first = 0, order = machine->order;
    if (onto->level) {
        const MachineLevel *level = machine_level(machine, onto->level);
        if (!level) {
            const char *names[MAX_MACHINE_LEVELS];
            for (int l = 0; l < machine->level_count; l++)
                names[l] = machine->levels[l].name;
            if (machine->level_count == 1 && !*names[0])
                return refuse(application, onto->span, "the machine '%s' is flat, it has no level '%s'",
                              machine->name, onto->level);
            return refuse(application, onto->span, "'%s' has no level '%s'%s", machine->name, onto->level,
                          did_you_mean(application->scheduler->arena, onto->level, "levels", names,
                                       machine->level_count));
        }
        first = level->first;
        order = level->order;
    }
    if (distribution->step_count != order)
        return refuse(application, application->command->args[0].span,
                      "'%s%s%s' has %d dimension%s, but the list has %d target%s", machine->name,
                      onto->level ? "." : "", onto->level ? onto->level : "", order, order == 1 ? "" : "s",
                      distribution->step_count, distribution->step_count == 1 ? "" : "s");
    distribution->machine = machine;
    for (int s = 0; s < order; s++)
        distribution->steps[s].dim = first + s;
    return dimensions_are_free(application, distribution);
}

// A dimension of the machine by which the placement of a tensor partitions a mode, and the loop that it
// divides.
typedef struct {
    int dim, loop;
} Cut;

// Whether modes[first .. last] has a mode more than once.
static bool repeats(const int *modes, int first, int last) {
    for (int i = first; i < last; i++)
        if (modes[i] == modes[last])
            return true;
    return false;
}

// Whether a nest with loops over the modes of the tensor already uses the dimension of its machine.
static bool is_taken_for(const Cin *cin, const Access *access, int dim) {
    const VarSet vars = cin_derived(cin, access_vars(access));
    for (int v = 0; v < cin->var_count; v++)
        if (vars >> v & 1 && distribution_taken(cin, access->tensor->placement->machine, dim, v))
            return true;
    return false;
}

// The cuts of one command: those that no command has made yet, up to a level that cuts a mode again. *all:
// the number of cuts of all levels.
static int next_cuts(const Cin *cin, const Access *access, Cut *cuts, int *all) {
    const Machine *machine = access->tensor->placement->machine;
    int modes[MAX_MACHINE_ORDER], dims[MAX_MACHINE_ORDER], first = 0;
    *all = distribution_modes(access, modes, dims);
    while (first < *all && is_taken_for(cin, access, dims[first]))
        first++;
    int end = first;
    while (end < *all && !repeats(modes, first, end))
        end++;
    while (end < *all && machine_level_of(machine, dims[end - 1]) == machine_level_of(machine, dims[end]))
        end--;
    for (int i = first; i < end; i++)
        cuts[i - first] = (Cut){dims[i], distribution_local_part(cin, access_mode_var(access, modes[i]))};
    return end - first;
}

// Whether a relation divides by a level around that of another one.
static bool is_level_of(const BalancedLevel *around, const BalancedLevel *inside) {
    const DivisionLevel *own = around->division.levels, *other = inside->division.levels;
    bool same = strcmp(around->division.tensor, inside->division.tensor) == 0 &&
                around->start_count == inside->start_count;
    for (int l = 0; same && l <= around->level; l++)
        same = own[l].balance == other[l].balance || *around->division.tensor;
    for (int64_t i = 0; same && i < around->start_count; i++)
        same = int_equal(around->starts[i], inside->starts[i]);
    return same;
}

// Where entries balance a level inside of others, whether the loop is what these have left: each was divided
// by them along their dimension. False with a diagnostic.
static bool is_divided_around(const Application *application, const Tensor *tensor,
                              const DistributionStep *step, Span span) {
    const Cin *cin = application->cin;
    const Placement *placement = tensor->placement;
    int dims[MAX_MACHINE_ORDER];
    const int count = placement_levels(placement, step->dim, dims);
    for (int l = count - 2, var = step->target; l >= 0 && step->balanced; l--) {
        const bool balanced = placement->entries[dims[l]].balance != BALANCE_NONE;
        const Relation *by = cin_made_by(cin, var);
        const Directive *directive =
            by && by->child[1] == var ? cin_directive(cin, DIRECTIVE_DISTRIBUTE, by->child[0]) : NULL;
        if (!directive || directive->machine != placement->machine || directive->dim != dims[l] ||
            by->kind != (balanced ? &relation_balance : &relation_divide) ||
            (balanced && !is_level_of(by->balanced, step->balanced)))
            return refuse(
                application, span,
                "at level '%s' the placement of '%s' balances parts, and '%s' comes from a loop that is "
                "divided otherwise: distribute onto '%s' at that level, too",
                machine_level_of(placement->machine, dims[l])->name, tensor->name,
                cin->vars[step->target].name, tensor->name);
        var = by->parent[0];
    }
    return true;
}

// "i and j": the loops that the placement divides.
static const char *cut_loops(const Application *application, const Cut *cuts, int count) {
    const char *names[MAX_MACHINE_ORDER];
    for (int i = 0; i < count; i++)
        names[i] = application->cin->vars[cuts[i].loop].name;
    return enumeration(application->scheduler->arena, names, count);
}

static bool onto_tensor(const Application *application, const Tensor *tensor, Distribution *distribution) {
    const Cin *cin = application->cin;
    const Arg *targets = &application->command->args[0];
    Span span = application->command->args[3].span;
    if (!tensor->placement)
        return refuse(application, span, "'%s' has no placement; write 'place %s(...) -> ...'", tensor->name,
                      tensor->name);
    const Access *access = distribution_access(cin->assignment, tensor);
    if (!access)
        return refuse(application, span,
                      "'%s' is accessed with different variables, so it does not say which loops to "
                      "distribute; distribute onto the machine '%s' instead",
                      tensor->name, tensor->placement->machine->name);
    if (distribution_fused(tensor->placement) >= 0)
        return refuse(application, span,
                      "the placement of '%s' divides its entries, which no loop over coordinates does: "
                      "collapse the loops and apply pos, divide and distribute, or leave out the schedule",
                      tensor->name);
    Cut cuts[MAX_MACHINE_ORDER];
    int all;
    const int count = next_cuts(cin, access, cuts, &all);
    if (count == 0)
        return refuse(application, span,
                      all ? "all modes that the placement of '%s' partitions are already distributed"
                          : "the placement of '%s' partitions no mode",
                      tensor->name);
    distribution->machine = tensor->placement->machine;
    const char *loops = cut_loops(application, cuts, count);
    for (int s = 0; s < distribution->step_count; s++) {
        DistributionStep *step = &distribution->steps[s];
        int i = 0;
        while (i < count && cuts[i].loop != step->target)
            i++;
        if (i == count)
            return refuse(application, targets->kind == ARG_LIST ? targets->items[s].span : targets->span,
                          "the placement of '%s' does not partition '%s' (it partitions %s)", tensor->name,
                          cin->vars[step->target].name, loops);
        step->dim = cuts[i].dim;
        distribution_divide_as(cin->arena, tensor, step);
        if (!is_divided_around(application, tensor, step,
                               targets->kind == ARG_LIST ? targets->items[s].span : targets->span))
            return false;
    }
    if (distribution->step_count != count)
        return refuse(application, targets->span,
                      "the placement of '%s' partitions %s: give each as a target", tensor->name, loops);
    distribution_add_fixed(cin, tensor->placement, distribution);
    return dimensions_are_free(application, distribution);
}

static bool resolve_onto(const Application *application, Distribution *distribution) {
    const Symbols *symbols = &application->scheduler->symbols;
    const Arg *onto = &application->command->args[3];
    if (onto->kind != ARG_NAME)
        return refuse(application, onto->span, "expected a machine, a level of it, or a tensor");
    for (int m = 0; m < symbols->machine_count; m++)
        if (strcmp(symbols->machines[m]->name, onto->name) == 0)
            return onto_machine(application, symbols->machines[m], distribution);
    Array(const char *) names = {0};
    for (int m = 0; m < symbols->machine_count; m++)
        array_push(application->scheduler->arena, names, symbols->machines[m]->name);
    for (int t = 0; t < symbols->tensor_count; t++) {
        if (strcmp(symbols->tensors[t]->name, onto->name) == 0) {
            const Tensor *tensor;
            return argument_tensor(application, onto, &tensor) &&
                   onto_tensor(application, tensor, distribution);
        }
        array_push(application->scheduler->arena, names, symbols->tensors[t]->name);
    }
    return refuse(application, onto->span, "'%s' is neither a machine nor a tensor%s", onto->name,
                  did_you_mean(application->scheduler->arena, onto->name, "names", names.items, names.count));
}

static const Cin *distribute(Scheduler *scheduler, const Command *command, const Cin *cin) {
    Application application = {scheduler, command, cin};
    if (command->arg_count == 1)
        return distribute_loops(&application);
    Distribution distribution = {0};
    if (!resolve_lists(&application, &distribution) || !resolve_onto(&application, &distribution))
        return NULL;
    Cin *result = cin_copy(cin);
    const char *why = distribution_apply(result, command->span, &distribution);
    if (why) {
        refuse(&application, command->args[0].span, "%s", why);
        return NULL;
    }
    return result;
}

const ScheduleCommand command_distribute = {
    .name = "distribute",
    .synopsis = "distribute({i, ...}, {io, ...}, {ii, ...}, M)",
    .summary = "iterations of i on different processors; with M, a machine, a level of it or a tensor, i is "
               "divided into io, distributed, and ii",
    .example = "# Each of 2 x 2 processors computes the block of A that it holds.\n"
               "machine M = grid(2, 2)\n"
               "tensor A(1000, 1000): f64\n"
               "tensor b(1000): f64\n"
               "tensor c(1000): f64\n"
               "place A(x, y) -> M(x, y)\n"
               "place b(x) -> M(x, 0)\n"
               "place c(x) -> M(0, x)\n"
               "A(i, j) = b(i) * c(j)\n"
               "schedule A {\n"
               "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n"
               "}\n",
    .forms = {{"distal_distribute_onto",
               4,
               {{"the list of targets", TAKES_NAMES, false},
                {"the list of outer loops", TAKES_NAMES, false},
                {"the list of inner loops", TAKES_NAMES, false},
                {"the machine or tensor", TAKES_MACHINE_OR_TENSOR, false}}},
              {"distal_distribute", 1, {{"the list of loops", TAKES_NAMES, false}}}},
    .apply = distribute,
};
