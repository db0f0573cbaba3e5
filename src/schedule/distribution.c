// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/distribution.h"

#include "schedule/transform.h"

// Whether the directive uses this dimension of the machine.
static bool uses(const Directive *directive, const Machine *machine, int dim) {
    return (directive->kind == DIRECTIVE_DISTRIBUTE || directive->kind == DIRECTIVE_FIX) &&
           directive->machine && directive->machine == machine && directive->dim == dim;
}

const Directive *distribution_taken(const Cin *cin, const Machine *machine, int dim, int var) {
    for (int64_t d = 0; d < cin->directives.count; d++) {
        const Directive *directive = cin->directives.items[d];
        if (uses(directive, machine, dim) &&
            (directive->kind == DIRECTIVE_FIX || cin_share_nest(cin, directive->loops[0], var)))
            return directive;
    }
    return NULL;
}

// Gives every distributed variable a dimension of its own, without a machine, and removes fixed coordinates.
static void unbind_all(Cin *cin) {
    int64_t kept = 0;
    for (int64_t d = 0; d < cin->directives.count; d++) {
        const Directive *directive = cin->directives.items[d];
        if (directive->kind == DIRECTIVE_FIX)
            continue;
        if (directive->kind == DIRECTIVE_DISTRIBUTE) {
            Directive *unbound = arena_copy(cin->arena, directive, sizeof *directive);
            unbound->machine = NULL;
            unbound->dim = 0;
            directive = unbound;
        }
        cin->directives.items[kept++] = directive;
    }
    cin->directives.count = kept;
}

bool distribution_bind(Cin *cin, Span span, int var, const Machine *machine, int dim) {
    for (int64_t d = 0; d < cin->directives.count; d++) {
        const Directive *directive = cin->directives.items[d];
        if ((directive->kind == DIRECTIVE_DISTRIBUTE || directive->kind == DIRECTIVE_FIX) &&
            directive->machine != machine) {
            machine = NULL;
            unbind_all(cin);
            break;
        }
    }
    cin_add_directive(cin, (Directive){.kind = DIRECTIVE_DISTRIBUTE,
                                       .span = span,
                                       .loop_count = 1,
                                       .loops = {var},
                                       .machine = machine,
                                       .dim = machine ? dim : 0});
    return machine != NULL;
}

void distribution_undo(Cin *cin, int var) {
    const Directive *distribute = cin_directive(cin, DIRECTIVE_DISTRIBUTE, var);
    int64_t kept = 0;
    for (int64_t d = 0; d < cin->directives.count; d++)
        if (cin->directives.items[d] != distribute)
            cin->directives.items[kept++] = cin->directives.items[d];
    cin->directives.count = kept;
}

// The operands are the parts of the levels around, whose relations have made the target.
static Relation balance_relation(const Cin *cin, Span span, int target, const IntExpr *size,
                                 const BalancedLevel *balanced) {
    Relation relation = {&relation_balance,    span,
                         .parent = {target},   .numbers = {size},
                         .balanced = balanced, .operand_count = balanced->level};
    for (int l = balanced->level - 1, var = target; l >= 0; l--) {
        const Relation *around = cin_made_by(cin, var);
        relation.operands[l] = around->child[0];
        var = around->parent[0];
    }
    return relation;
}

const char *distribution_apply(Cin *cin, Span span, const Distribution *distribution) {
    int order[2 * MAX_MACHINE_ORDER] = {0}, count = distribution->step_count;
    for (int s = 0; s < count; s++) {
        const DistributionStep *step = &distribution->steps[s];
        int target = step->target;
        while (cin_replaced_by(cin, target)) // by an earlier step
            target = cin_replaced_by(cin, target)->child[1];
        const IntExpr *size = distribution->machine->extents[step->dim];
        Relation relation = {&relation_divide, span, .parent = {target}, .numbers = {size}};
        if (step->cycle)
            relation = (Relation){&relation_cyclic, span, .parent = {target}, .numbers = {step->cycle, size}};
        if (step->balanced)
            relation = balance_relation(cin, span, target, size, step->balanced);
        transform_derive(cin, &relation, (const NewVar[]){step->outer, step->inner});
        order[s] = relation.child[0];
        order[count + s] = relation.child[1];
    }
    if (!distribution->outside_all)
        transform_reorder(cin, order, 2 * count); // where rows allow it; else local loops stay where they are
    const char *why = transform_hoist(cin, order, count,
                                      distribution->outside_all ? HOIST_OUTSIDE_ALL : HOIST_INSIDE_CHUNKS);
    bool bound = true;
    for (int s = 0; s < count; s++)
        bound = distribution_bind(cin, span, order[s], distribution->machine, distribution->steps[s].dim);
    for (int f = 0; bound && f < distribution->fix_count; f++)
        cin_add_directive(cin, (Directive){.kind = DIRECTIVE_FIX,
                                           .span = span,
                                           .machine = distribution->machine,
                                           .dim = distribution->fixed_dims[f],
                                           .number = int_const(cin->arena, distribution->coordinates[f])});
    return why ? why : cin_set_nests(cin, cin_nests(cin));
}

int distribution_local_part(const Cin *cin, int var) {
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        if (relation->kind->partitions && relation->parent[0] == var &&
            cin_directive(cin, DIRECTIVE_DISTRIBUTE, relation->child[0]))
            var = relation->child[1];
    }
    return var;
}

typedef struct {
    const Tensor *tensor;
    const Access *access;
    bool differs;
} AccessSearch;

static void find_access(void *context, const Access *access) {
    AccessSearch *search = context;
    if (access->tensor != search->tensor)
        return;
    for (int m = 0; search->access && m < access->tensor->order; m++)
        search->differs |= access->vars[m] != search->access->vars[m];
    if (!search->access)
        search->access = access;
}

const Access *distribution_access(const Assignment *assignment, const Tensor *tensor) {
    if (assignment->lhs->tensor == tensor)
        return assignment->lhs;
    AccessSearch search = {.tensor = tensor};
    expr_accesses(assignment->rhs, find_access, &search);
    return search.differs ? NULL : search.access;
}

static bool repeats_earlier_mode(const Access *access, int mode) {
    for (int m = 0; m < mode; m++)
        if (access_mode_var(access, m) == access_mode_var(access, mode))
            return true;
    return false;
}

int distribution_fused(const Placement *placement) {
    int fused = -1;
    for (int d = 0; d < placement->machine->order; d++)
        if (placement->entries[d].kind == PLACE_PARTITION && placement->entries[d].balance != BALANCE_NONE &&
            placement->entries[d].mode_count > 1)
            fused = d;
    return fused;
}

int distribution_modes(const Access *access, int *modes, int *dims) {
    const Placement *placement = access->tensor->placement;
    const int fused = distribution_fused(placement);
    int count = 0, levels[MAX_MACHINE_ORDER];
    bool by_positions[MAX_MACHINE_ORDER] = {false};
    for (int l = fused < 0 ? 0 : placement_levels(placement, fused, levels); l > 0; l--)
        by_positions[levels[l - 1]] = true;
    for (int d = 0; d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        if (entry->kind != PLACE_PARTITION || access_mode_var(access, entry->mode) < 0 ||
            repeats_earlier_mode(access, entry->mode) || by_positions[d])
            continue;
        modes[count] = entry->mode;
        dims[count++] = d;
    }
    return count;
}

BalancedLevel *distribution_balanced(Arena *arena, const Tensor *tensor, int dim, int level) {
    const Placement *placement = tensor->placement;
    int dims[MAX_MACHINE_ORDER];
    const int count = placement_levels(placement, dim, dims);
    BalancedLevel *balanced = arena_new(arena, BalancedLevel);
    balanced->level = level;
    balanced->division = placement_division_form(placement, tensor->name, dim);
    balanced->start_count = placement->entries[dims[0]].start_count;
    balanced->starts = placement->entries[dims[0]].starts;
    for (int l = 0; l < count; l++) {
        balanced->parts[l] = placement->machine->extents[dims[l]];
        balanced->cycles[l] = placement->entries[dims[l]].cycle;
    }
    return balanced;
}

void distribution_divide_as(Arena *arena, const Tensor *tensor, DistributionStep *step) {
    const PlaceEntry *entry = &tensor->placement->entries[step->dim];
    int dims[MAX_MACHINE_ORDER];
    step->cycle = entry->cycle;
    if (entry->balance == BALANCE_NONE)
        return;
    const int count = placement_levels(tensor->placement, step->dim, dims);
    step->balanced = distribution_balanced(arena, tensor, step->dim, count - 1);
}

void distribution_add_fixed(const Cin *cin, const Placement *placement, Distribution *distribution) {
    for (int d = 0; d < placement->machine->order; d++) {
        bool taken = false;
        for (int64_t i = 0; i < cin->directives.count; i++)
            taken = taken || uses(cin->directives.items[i], placement->machine, d);
        if (placement->entries[d].kind != PLACE_FIX || taken)
            continue;
        distribution->fixed_dims[distribution->fix_count] = d;
        distribution->coordinates[distribution->fix_count++] = placement->entries[d].coordinate;
    }
}
