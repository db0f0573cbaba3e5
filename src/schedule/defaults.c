// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/distribution.h"
#include "schedule/positions.h"
#include "schedule/transform.h"

// Whether the placement determines where to compute: it partitions a mode or fixes a coordinate.
static bool says_where(const Tensor *tensor) {
    for (int d = 0; tensor->placement && tensor->order > 0 && d < tensor->placement->machine->order; d++)
        if (tensor->placement->entries[d].kind != PLACE_REPLICATE)
            return true;
    return false;
}

// Sparse tensors decide first, as moving their entries takes most; of them, and of dense ones, the left side
// before operands.
typedef struct {
    bool sparse;
    int before; // accesses to pass over
    const Access *found;
} Placed;

static void find_placed(void *context, const Access *access) {
    Placed *placed = context;
    if (!placed->found && tensor_is_sparse(access->tensor) == placed->sparse && says_where(access->tensor) &&
        placed->before-- == 0)
        placed->found = access;
}

// Number `index` of the accesses whose placements may determine where to compute; NULL: there are no more.
static const Access *placed_access(const Assignment *assignment, int index) {
    Placed placed = {.sparse = true, .before = index};
    for (int pass = 0; pass < 2 && !placed.found; pass++) {
        placed.sparse = pass == 0;
        find_placed(&placed, assignment->lhs);
        expr_accesses(assignment->rhs, find_placed, &placed);
    }
    return placed.found;
}

// A step for every dimension that partitions a mode; those of a later level divide the parts of an earlier
// one.
static void plan_steps(const Cin *cin, const Access *access, Distribution *distribution) {
    int modes[MAX_MACHINE_ORDER], dims[MAX_MACHINE_ORDER];
    int count = distribution_modes(access, modes, dims);
    for (int s = 0; s < count; s++) {
        const int target = access_mode_var(access, modes[s]);
        const IndexVar *var = &cin->vars[target];
        const char *base = var->name;
        for (int earlier = 0; earlier < s; earlier++)
            if (modes[earlier] == modes[s])
                base = distribution->steps[earlier].inner.name;
        DistributionStep *step = &distribution->steps[distribution->step_count++];
        *step = (DistributionStep){.target = target,
                                   .outer = transform_fresh_var(cin, base, 'o', var->span),
                                   .inner = transform_fresh_var(cin, base, 'i', var->span),
                                   .dim = dims[s]};
        distribution_divide_as(cin->arena, access->tensor, step);
    }
    distribution_add_fixed(cin, access->tensor->placement, distribution);
}

// An operand that is placed and indexed as the result is, at whose entries that has its own.
typedef struct {
    const Access *result, *found;
} Alike;

static void find_alike(void *context, const Access *access) {
    Alike *alike = context;
    const Tensor *tensor = access->tensor, *result = alike->result->tensor;
    bool same = tensor_is_sparse(tensor) && tensor->order == result->order &&
                placement_equal(tensor->placement, result->placement);
    for (int m = 0; same && m < tensor->order; m++)
        same = access->vars[m] == alike->result->vars[m];
    if (same && !alike->found)
        alike->found = access;
}

// A step for every level that divides the positions, or coordinates of which all positions are in one part.
// Equal levels divide as loops are divided; else each has the parts that entries give it.
static void divide_positions(const Cin *cin, const Access *access, int position, Distribution *distribution) {
    const Placement *placement = access->tensor->placement;
    int dims[MAX_MACHINE_ORDER];
    const int fused = distribution_fused(placement), count = placement_levels(placement, fused, dims);
    const char *inner = cin->vars[position].name;
    bool alike = true;
    for (int l = 0; l < count; l++)
        alike = alike && balanced_alike(&placement->entries[dims[l]], &placement->entries[dims[0]]);
    for (int l = 0; l < count; l++) {
        DistributionStep *step = &distribution->steps[distribution->step_count++];
        *step = (DistributionStep){.target = position,
                                   .outer = transform_fresh_var(cin, inner, 'o', access->span),
                                   .inner = transform_fresh_var(cin, inner, 'i', access->span),
                                   .dim = dims[l]};
        inner = step->inner.name;
        if (alike)
            continue;
        BalancedLevel *balanced = distribution_balanced(cin->arena, access->tensor, fused, l);
        balanced->positions = true;
        step->balanced = balanced;
    }
}

// The loops over fused modes become one over the positions of the tensor, which its dimensions divide. False
// where the statement has values elsewhere, or its loops or levels do not allow that.
static bool iterate_positions(Cin *cin, const Access *access, Distribution *distribution) {
    const Placement *placement = access->tensor->placement;
    const int last = distribution_fused(placement),
              count = last < 0 ? 0 : placement->entries[last].mode_count;
    int vars[MAX_VARS] = {0}, order[MAX_VARS] = {0}, level;
    StoredAccess *stored = arena_new(cin->arena, StoredAccess);
    if (count == 0)
        return true;
    if (access == cin->assignment->lhs) {
        Alike alike = {.result = access};
        expr_accesses(cin->assignment->rhs, find_alike, &alike);
        access = alike.found ? alike.found : access;
    }
    const Nest nest = cin_nest(cin, 0);
    Text name = text_create(cin->arena);
    VarSet fused = 0;
    for (int m = 0; m < count; m++) {
        vars[m] = order[m] = access->vars[placement->entries[last].modes[m]];
        fused |= (VarSet)1 << vars[m];
        text_append(&name, cin->vars[vars[m]].name);
        if (!cin_is_loop(cin, vars[m]))
            return false;
    }
    if (cin_nest_count(cin) > 1 || __builtin_popcountll(fused) < count ||
        cin->var_count + count - 1 + POSITION_VARS > MAX_VARS ||
        positions_fit(access, vars, count, stored, &level) != POSITIONS_FIT || stored->repeats ||
        !positions_required(nest.assign->rhs, assignment_type(cin->assignment), access))
        return false;
    for (int64_t d = 0; d < cin->directives.count; d++)
        for (int i = 0; i < cin->directives.items[d]->loop_count; i++)
            if (fused >> cin->directives.items[d]->loops[i] & 1)
                return false;
    for (int i = 0, next = count; i < nest.loop_count; i++)
        if (!(fused >> nest.loops[i] & 1))
            order[next++] = nest.loops[i];
    if (transform_reorder(cin, order, nest.loop_count))
        return false;
    const char *base = text_string(&name);
    int loop = vars[0];
    for (int m = 1; m < count; m++) {
        const NewVar collapsed = transform_fresh_var(cin, base, 'f', access->span);
        Relation relation = {&relation_collapse, access->span, .parent = {loop, vars[m]}};
        transform_derive(cin, &relation, &collapsed);
        loop = relation.child[0];
    }
    const NewVar position = transform_fresh_var(cin, base, 'p', access->span);
    Relation relation = {&relation_pos, access->span, .parent = {loop}, .access = stored};
    transform_derive(cin, &relation, &position);
    divide_positions(cin, access, relation.child[0], distribution);
    return true;
}

// Whether the variables to divide are still loops from which no other variable is derived.
static bool can_divide(const Cin *cin, const Distribution *distribution) {
    for (int s = 0; s < distribution->step_count; s++) {
        int target = distribution->steps[s].target;
        if (!cin_is_loop(cin, target))
            return false;
        for (int64_t r = 0; r < cin->relations.count; r++)
            if (!cin->relations.items[r]->kind->window &&
                relation_operands(cin->relations.items[r]) >> target & 1)
                return false;
    }
    return cin->var_count + MOST_NEW_VARS * distribution->step_count <= MAX_VARS;
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

// False where the loops do not allow it.
static bool distribute(Cin *cin, const Access *access, const Distribution *distribution) {
    if (!can_divide(cin, distribution) || distribution_apply(cin, access->span, distribution))
        return false;
    for (int s = 0; s < distribution->step_count; s++) {
        const int target = distribution->steps[s].target;
        move_directives(cin, target, distribution_local_part(cin, target));
    }
    return true;
}

const Access *schedule_placed(const Assignment *assignment) {
    return placed_access(assignment, 0);
}

const Cin *schedule_defaults(const Cin *cin) {
    for (int64_t d = 0; d < cin->directives.count; d++)
        if (cin->directives.items[d]->kind == DIRECTIVE_DISTRIBUTE)
            return cin;
    // The next one decides where a statement cannot be computed at the entries that a placement divides.
    const Access *access;
    Distribution distribution = {0};
    Cin *result = NULL;
    for (int index = 0; (access = placed_access(cin->assignment, index)); index++) {
        distribution = (Distribution){.machine = access->tensor->placement->machine, .outside_all = true};
        result = cin_copy(cin);
        if (!iterate_positions(result, access, &distribution))
            continue;
        plan_steps(result, access, &distribution);
        if (distribution.step_count > 0 || !assignment_window(cin->assignment))
            break;
    }
    return access && distribute(result, access, &distribution) ? result : cin;
}

DefaultPlace schedule_place(const Assignment *assignment, int index) {
    DefaultPlace place = {.access = placed_access(assignment, index)};
    int modes[MAX_MACHINE_ORDER];
    if (place.access)
        place.count = distribution_modes(place.access, modes, place.dims);
    for (int i = 0; i < place.count; i++)
        place.vars[i] = access_mode_var(place.access, modes[i]);
    return place;
}

const Cin *schedule_at(const Cin *cin, const Access *access) {
    Distribution distribution = {.machine = access->tensor->placement->machine, .outside_all = true};
    Cin *result = cin_copy(cin);
    plan_steps(result, access, &distribution);
    return distribution.step_count > 0 && distribute(result, access, &distribution) ? result : NULL;
}
