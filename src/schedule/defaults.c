// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/distribution.h"
#include "schedule/transform.h"

// Whether the placement determines where to compute: it partitions a mode or fixes a coordinate.
static bool says_where(const Tensor *tensor) {
    for (int d = 0; tensor->placement && tensor->order > 0 && d < tensor->placement->machine->order; d++)
        if (tensor->placement->entries[d].kind != PLACE_REPLICATE)
            return true;
    return false;
}

static void first_placed(void *context, const Access *access) {
    const Access **found = context;
    if (!*found && says_where(access->tensor))
        *found = access;
}

static void first_sparse(void *context, const Access *access) {
    if (tensor_is_sparse(access->tensor))
        first_placed(context, access);
}

// A step for every dimension that partitions a mode; those of a later level divide the parts of an earlier
// one.
static void plan_steps(const Cin *cin, const Access *access, Distribution *distribution) {
    int modes[MAX_MACHINE_ORDER], dims[MAX_MACHINE_ORDER];
    int count = distribution_modes(access, modes, dims);
    for (int s = 0; s < count; s++) {
        const IndexVar *var = &cin->vars[access->vars[modes[s]]];
        const char *base = var->name;
        for (int earlier = 0; earlier < s; earlier++)
            if (modes[earlier] == modes[s])
                base = distribution->steps[earlier].inner.name;
        distribution->steps[distribution->step_count++] =
            (DistributionStep){.target = access->vars[modes[s]],
                               .outer = transform_fresh_var(cin, base, 'o', var->span),
                               .inner = transform_fresh_var(cin, base, 'i', var->span),
                               .dim = dims[s],
                               .cycle = access->tensor->placement->entries[dims[s]].cycle};
    }
    distribution_add_fixed(cin, access->tensor->placement, distribution);
}

// Whether the variables to divide are still loops from which no other variable is derived.
static bool can_divide(const Cin *cin, const Distribution *distribution) {
    for (int s = 0; s < distribution->step_count; s++) {
        int target = distribution->steps[s].target;
        if (!cin_is_loop(cin, target))
            return false;
        for (int64_t r = 0; r < cin->relations.count; r++)
            if (relation_operands(cin->relations.items[r]) >> target & 1)
                return false;
    }
    return cin->var_count + 2 * distribution->step_count <= MAX_VARS;
}

// Directives about the loop `from` apply to its part on one processor.
static void move_directives(Cin *cin, int from, int to) {
    for (int64_t d = 0; d < cin->directives.count; d++) {
        const Directive *directive = cin->directives.items[d];
        Directive *moved = arena_copy(cin->arena, directive, sizeof *directive);
        for (int i = 0; i < moved->loop_count; i++)
            if (moved->loops[i] == from)
                moved->loops[i] = to;
        cin->directives.items[d] = moved;
    }
}

// Sparse tensors decide first, as moving their entries takes most.
const Access *schedule_placed(const Assignment *assignment) {
    const Access *access = NULL;
    first_sparse(&access, assignment->lhs);
    expr_accesses(assignment->rhs, first_sparse, &access);
    first_placed(&access, assignment->lhs);
    expr_accesses(assignment->rhs, first_placed, &access);
    return access;
}

const Cin *schedule_defaults(const Cin *cin) {
    for (int64_t d = 0; d < cin->directives.count; d++)
        if (cin->directives.items[d]->kind == DIRECTIVE_DISTRIBUTE)
            return cin;
    const Access *access = schedule_placed(cin->assignment);
    if (!access)
        return cin;

    Distribution distribution = {.machine = access->tensor->placement->machine, .outside_all = true};
    plan_steps(cin, access, &distribution);
    if (!can_divide(cin, &distribution))
        return cin;
    Cin *result = cin_copy(cin);
    if (distribution_apply(result, access->span, &distribution))
        return cin;
    for (int s = 0; s < distribution.step_count; s++) {
        const int target = distribution.steps[s].target;
        move_directives(result, target, distribution_local_part(result, target));
    }
    return result;
}
