// SPDX-License-Identifier: BSD-3-Clause
#include "lower/stages.h"

#include "format/level_list.h"
#include "lower/assembly.h"
#include "lower/lattice.h"

typedef struct {
    Spmd *spmd;
    Diagnostics *diagnostics;
    const Access *converted; // the operand whose structure the result shares once that is converted; or NULL
} Choosing;

typedef struct {
    const Cin *cin;
    const Access *access; // the only one of a sparse tensor
    int count;
    const Tensor *row; // a workspace in which elements without a value are zero; NULL: there is none
} Operands;

// Dense workspaces stand for what they are computed from.
static void find_operand(void *context, const Access *access) {
    Operands *operands = context;
    const Tensor *tensor = access->tensor;
    operands->row = tensor->partial || tensor->around ? tensor : operands->row;
    if (!tensor_is_sparse(tensor)) {
        const Assignment *part = cin_part(operands->cin, tensor);
        if (part)
            expr_accesses(part->rhs, find_operand, operands);
        return;
    }
    if (operands->access && access_equal(operands->access, access))
        return;
    operands->access = access;
    operands->count++;
}

// Whether both are indexed alike and store modes in the same order and levels, whatever their entries are.
static bool stored_alike(const Access *a, const Access *b) {
    const Tensor *left = a->tensor, *right = b->tensor;
    bool alike = left->order == right->order;
    for (int m = 0; alike && m < left->order; m++)
        alike = a->vars[m] == b->vars[m] && left->mode_order[m] == right->mode_order[m] &&
                level_type_equal(left->levels[m], right->levels[m]);
    return alike;
}

// The nest that writes a tensor; -1 where there are several.
static int only_writer(const Cin *cin, const Tensor *target) {
    int writer = -1;
    for (int n = 0; n < cin_nest_count(cin); n++) {
        if (cin_nest(cin, n).assign->lhs->tensor != target)
            continue;
        if (writer >= 0)
            return -1;
        writer = n;
    }
    return writer;
}

static int equal_operand(void *context, const Access *access) {
    return access_equal(context, access) ? 0 : -1;
}

// Whether a nest has a value only where an operand has an entry.
static bool requires(const Cin *cin, int nest, const Access *operand) {
    return set_requires(set_of(cin->arena, cin_nest(cin, nest).assign->rhs, assignment_type(cin->assignment),
                               equal_operand, (void *)operand),
                        0);
}

// Whether no command says in which order loops run and who executes them.
static bool has_default_order(const Cin *cin) {
    for (int64_t d = 0; d < cin->directives.count; d++)
        if (cin->directives.items[d]->kind >= DIRECTIVE_SUBSTITUTE)
            return false;
    for (int64_t r = 0; r < cin->relations.count; r++)
        if (cin->relations.items[r]->kind->stored)
            return false;
    const Nest nest = cin_nest(cin, 0);
    for (int i = 0; i < nest.loop_count; i++)
        if (cin->ordered[nest.loops[i]])
            return false;
    return cin_nest_count(cin) == 1;
}

// The only sparse operand with the levels of the result, which is indexed by the same variables and may store
// them otherwise; NULL where that cannot be. Its entries have to stay where they are.
static const Access *convert_as_result(const Cin *cin, const Access *operand) {
    const Access *result = cin->assignment->lhs;
    bool same = true;
    for (int m = 0; m < operand->tensor->order; m++)
        same = same && operand->tensor->order == result->tensor->order && operand->vars[m] == result->vars[m];
    if (!has_default_order(cin) || (!same && (result->tensor->placement || operand->tensor->placement)))
        return NULL;
    return leaf_stored_as(cin->arena, operand, result);
}

static int mode_of(const Access *access, int var) {
    int mode = 0;
    while (mode < access->tensor->order && access->vars[mode] != var)
        mode++;
    return mode;
}

// Whether ranks that do not share elements have the same coordinates of the modes of both at home, and of the
// operand all coordinates of its other modes: neither is placed, or both are placed alike.
static bool placed_as_leading(const Choosing *choosing, const Access *result, const Access *operand) {
    const Tensor *left = result->tensor;
    const Placement *a = left->placement, *b = operand->tensor->placement;
    if (!a || !b)
        return !a && !b && choosing->spmd->dim_count == 0;
    // Last levels in full have coordinates of the rank only, unless there are others below them.
    bool alike = a->machine == b->machine && a->memory == b->memory &&
                 !level_is_padded(left->order, left->levels, left->order - 1);
    for (int d = 0; alike && d < a->machine->order; d++) {
        const PlaceEntry *x = &a->entries[d], *y = &b->entries[d];
        alike = x->kind == y->kind && x->kind != PLACE_REPLICATE && x->coordinate == y->coordinate &&
                x->balance == BALANCE_NONE && y->balance == BALANCE_NONE && int_equal(x->cycle, y->cycle) &&
                (x->kind != PLACE_PARTITION || mode_of(operand, result->vars[x->mode]) == y->mode);
    }
    return alike;
}

// Whether the result has the first levels of an operand with an entry below each of their positions: its
// other modes are summed over, all of its levels are iterated over in order, and each rank that has entries
// of the operand has all that those of the result follow from.
static bool stored_as_leading(const Choosing *choosing, const Access *result, const Access *operand) {
    const Tensor *left = result->tensor, *right = operand->tensor;
    const int order = left->order;
    bool leading = order > 0 && order < right->order && !left->levels[order - 1].nonunique &&
                   has_default_order(choosing->spmd->cin);
    for (int l = 0; leading && l < right->order; l++) {
        const int var = operand->vars[right->mode_order[l]];
        leading = l >= order || (var == result->vars[left->mode_order[l]] &&
                                 level_type_equal(left->levels[l], right->levels[l]));
        for (int other = 0; other < l; other++)
            leading = leading && var != operand->vars[right->mode_order[other]];
    }
    return leading && placed_as_leading(choosing, result, operand);
}

// An update has the structure that is there, at whose entries it is computed.
static bool keep_structure(const Choosing *choosing, const Assignment *part, Stage *stage) {
    stage->result = RESULT_SHARED;
    stage->shared = expr_access_of(part->rhs, stage->target);
    return stage->shared ||
           diagnostics_error(
               choosing->diagnostics, part->lhs->span,
               "an update of '%s', which is sparse, reads it where it is computed, and not in a "
               "workspace alone: leave the 'precompute' out",
               stage->target->name);
}

// What is sparse has the structure of an operand if that is the only sparse one, is indexed like it, and the
// right side is present where it is: B(i, j) in A(i, j) = B(i, j) * C(i, k) * D(k, j). Where it is stored
// otherwise, as in a conversion or a transposition, it is converted, and the result has the structure of the
// copy. With workspaces, what writes the result has to read that operand.
static bool choose_result(Choosing *choosing, Stage *stage) {
    const Cin *cin = choosing->spmd->cin;
    if (!tensor_is_sparse(stage->target))
        return true;
    stage->result = RESULT_ASSEMBLED;
    const Assignment *part = cin_part(cin, stage->target);
    if (stage->target == cin->assignment->lhs->tensor && assignment_is_update(cin->assignment))
        return keep_structure(choosing, part, stage);
    Operands operands = {.cin = cin};
    expr_accesses(part->rhs, find_operand, &operands);
    // Where indices or ranges leave out iterations, there are fewer entries.
    const int writer = assignment_window(cin->assignment) ? -1 : only_writer(cin, stage->target);
    const bool alike = operands.count == 1 && stored_alike(part->lhs, operands.access);
    const Access *converted = operands.count == 1 && !alike ? convert_as_result(cin, operands.access) : NULL;
    if ((alike || converted) && writer >= 0 && !part->accumulate &&
        placement_equal(stage->target->placement, operands.access->tensor->placement) &&
        (cin->part_count == 1 || requires(cin, writer, operands.access))) {
        stage->result = RESULT_SHARED;
        stage->shared = converted ? converted : operands.access;
        choosing->converted = converted ? operands.access : NULL;
        choosing->spmd->converts = converted && cin->part_count == 1 && part->rhs->kind == EXPR_ACCESS &&
                                   stage->target->type == operands.access->tensor->type;
    }
    if (!stage->shared && operands.count == 1 && writer >= 0 && !part->accumulate && cin->part_count == 1 &&
        stored_as_leading(choosing, part->lhs, operands.access) && requires(cin, writer, operands.access)) {
        stage->result = RESULT_LEADING;
        stage->shared = operands.access;
    }
    return stage->shared || !operands.row ||
           diagnostics_error(
               choosing->diagnostics, cin_part(cin, operands.row)->span,
               "entries of '%s' that follow from the workspace '%s' are not supported yet, as that stores "
               "zeros where it has no value: %s",
               stage->target->name, operands.row->name,
               operands.row->around ? "leave it out"
                                    : "give it a last level that lists coordinates, as in precompute(..., W, "
                                      "csr), or leave it out");
}

bool stages_choose(Spmd *spmd, SpmdNest *nests, const Access **converted, Diagnostics *diagnostics) {
    const Cin *cin = spmd->cin;
    const Tensor *last = cin->assignment->lhs->tensor;
    Choosing choosing = {.spmd = spmd, .diagnostics = diagnostics};
    bool ok = true;
    spmd->stages = arena_array(cin->arena, Stage, spmd->nest_count);
    for (int n = 0; n < spmd->nest_count; n++) {
        const Tensor *target = cin_nest(cin, n).assign->lhs->tensor;
        Stage *stage = &spmd->stages[spmd->stage_count];
        nests[n].stage = spmd->stage_count;
        if (n + 1 < spmd->nest_count && (target == last || !tensor_is_sparse(target) ||
                                         cin_nest(cin, n + 1).assign->lhs->tensor == target))
            continue;
        *stage = (Stage){.target = target, .values_row = -1};
        ok = choose_result(&choosing, stage) && ok;
        spmd->stage_count++;
    }
    *converted = choosing.converted;
    return ok;
}

void stage_choose_assembly(const Spmd *spmd, Stage *stage, const int64_t *params, RowWorkspaceArray *rows) {
    const int writer = only_writer(spmd->cin, stage->target);
    if (stage->result == RESULT_LEADING)
        stage->assembly =
            arena_printf(spmd->arena, "'%s' has the entries of the first %d levels of '%s'",
                         stage->target->name, stage->target->order, stage->shared->tensor->name);
    if (stage->result != RESULT_ASSEMBLED || writer < 0)
        return;
    const Leaf *leaf = spmd_leaf(spmd->nests[writer].body);
    const Assembly assembly = assembly_of(spmd, leaf);
    RowWorkspace row;
    const bool has_row = assembly_has_values_row(spmd, leaf, &assembly, params, &row);
    if (has_row) {
        stage->values_row = (int)rows->count;
        // All loops around a row are over coordinates of the result.
        stage->stores_rows = assembly.row == assembly.loop_count - 1 && assembly.whole_rows;
        array_push(spmd->arena, *rows, row);
    }
    stage->assembly =
        arena_printf(spmd->arena, "entries of '%s' %s%s", stage->target->name, assembly_text(&assembly),
                     has_row ? "; values of a row are added to an array of the thread, then copied" : "");
}
