// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lower.h"

#include "format/level_list.h"
#include "lower/assembly.h"
#include "lower/bounds.h"
#include "lower/lattice.h"
#include "lower/leaf.h"
#include "lower/transfers.h"

typedef struct {
    const Cin *cin;
    Diagnostics *diagnostics;
    Spmd *spmd;
    TransferArray transfers;
    RowWorkspaceArray rows;
    SpmdNest *nests;
    Stage *stages;
    const Access *converted; // the operand whose structure the result shares once that is converted; or NULL
} Lowering;

static bool add_dim(Lowering *lowering, ExecutionDim dim, Span span) {
    Spmd *spmd = lowering->spmd;
    if (spmd->dim_count == MAX_MACHINE_ORDER)
        return diagnostics_error(lowering->diagnostics, span,
                                 "cannot distribute onto more than %d dimensions", MAX_MACHINE_ORDER);
    spmd->dims[spmd->dim_count++] = dim;
    return true;
}

static bool add_machine_dims(Lowering *lowering) {
    const Cin *cin = lowering->cin;
    const Machine *machine = NULL;
    for (int64_t i = 0; i < cin->directives.count; i++) {
        const Directive *directive = cin->directives.items[i];
        if ((directive->kind == DIRECTIVE_DISTRIBUTE || directive->kind == DIRECTIVE_FIX) &&
            directive->machine)
            machine = directive->machine; // the same for all
    }
    for (int d = 0; machine && d < machine->order; d++)
        if (!add_dim(lowering, (ExecutionDim){machine->extents[d], machine, d}, machine->span))
            return false;
    return true;
}

static bool every_nest_loops(const Cin *cin, int var) {
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest nest = cin_nest(cin, n);
        if (!nest_has(&nest, var))
            return false;
    }
    return true;
}

// Distributed variables without a machine: a dimension each, of the statement's own.
static bool add_own_dims(Lowering *lowering, int *own_dim) {
    const Cin *cin = lowering->cin;
    for (int v = 0; v < MAX_VARS; v++)
        own_dim[v] = -1;
    for (int n = 0; n < cin_nest_count(cin); n++) {
        Nest nest = cin_nest(cin, n);
        for (int i = 0; i < nest.loop_count; i++) {
            int var = nest.loops[i];
            const Directive *directive = cin_directive(cin, DIRECTIVE_DISTRIBUTE, var);
            if (!directive || directive->machine || own_dim[var] >= 0)
                continue;
            own_dim[var] = lowering->spmd->dim_count;
            const IntExpr *extent = cin->vars[var].extent;
            // Nests without this variable need a processor even where it has no value.
            if (!every_nest_loops(cin, var))
                extent = int_op(cin->arena, INT_MAX, int_const(cin->arena, 1), extent);
            if (!add_dim(lowering, (ExecutionDim){extent, NULL, 0}, directive->span))
                return false;
        }
    }
    return true;
}

// Which variable is the coordinate in each dimension, and the fixed coordinates of the other dimensions.
static void set_coordinates(const Lowering *lowering, const Nest *nest, const int *own_dim,
                            SpmdNest *result) {
    const Cin *cin = lowering->cin;
    const Spmd *spmd = lowering->spmd;
    for (int d = 0; d < spmd->dim_count; d++) {
        result->coordinates[d] = -1;
        result->fixed[d] = int_const(cin->arena, 0);
    }
    for (int64_t i = 0; i < cin->directives.count; i++)
        if (cin->directives.items[i]->kind == DIRECTIVE_FIX)
            result->fixed[cin->directives.items[i]->dim] = cin->directives.items[i]->number;
    for (int i = 0; i < nest->loop_count; i++) {
        int var = nest->loops[i];
        const Directive *directive = cin_directive(cin, DIRECTIVE_DISTRIBUTE, var);
        if (directive)
            result->coordinates[directive->machine ? directive->dim : own_dim[var]] = var;
    }
}

static SpmdNode *append(const Lowering *lowering, SpmdNode **end, SpmdKind kind) {
    SpmdNode *node = arena_new(lowering->cin->arena, SpmdNode);
    node->kind = kind;
    node->transfer = -1;
    node->var = -1;
    return *end = node;
}

// Transfers inside `depth` loops open in their order, and close in the reverse order.
static SpmdNode **append_transfers(const Lowering *lowering, SpmdNode **end, int first, int depth,
                                   bool opening) {
    static const SpmdKind open_kinds[] = {[TRANSFER_FETCH] = SPMD_FETCH, [TRANSFER_REDUCE] = SPMD_ACCUMULATE};
    static const SpmdKind close_kinds[] = {[TRANSFER_FETCH] = SPMD_RELEASE, [TRANSFER_REDUCE] = SPMD_REDUCE};
    int count = (int)lowering->transfers.count - first;
    for (int i = 0; i < count; i++) {
        const Transfer *transfer = &lowering->transfers.items[first + (opening ? i : count - 1 - i)];
        if (transfer->loop_count != depth)
            continue;
        SpmdNode *node = append(lowering, end, (opening ? open_kinds : close_kinds)[transfer->kind]);
        node->transfer = transfer->id;
        end = &node->next;
    }
    return end;
}

// What happens inside the first `depth` loops of `loops`, transfers first; `depth` of them have transfers
// inside at most.
static SpmdNode *build_tree(const Lowering *lowering, const int *loops, int depth, int max_depth, int first,
                            const Leaf *leaf) {
    SpmdNode *start = NULL;
    SpmdNode **end = append_transfers(lowering, &start, first, depth, true);
    if (depth == max_depth) {
        SpmdNode *node = append(lowering, end, SPMD_LEAF);
        node->leaf = leaf;
        end = &node->next;
    } else {
        SpmdNode *node = append(lowering, end, SPMD_LOOP);
        node->var = loops[depth];
        node->extent = lowering->cin->vars[node->var].extent;
        node->body = build_tree(lowering, loops, depth + 1, max_depth, first, leaf);
        end = &node->next;
    }
    append_transfers(lowering, end, first, depth, false);
    return start;
}

static void note_calls(Spmd *spmd, const Leaf *leaf) {
    spmd->calls_library = spmd->calls_library || (leaf->call && !spmd->on_gpu);
    bool *contracts = spmd->on_gpu ? &spmd->gpu_contracts : &spmd->contracts;
    *contracts = *contracts || (leaf->call && leaf->call->contraction);
    spmd->scales_sums = spmd->scales_sums || (leaf->call && leaf->call->alpha);
    for (int f = 0; f < leaf->fill_count; f++)
        note_calls(spmd, leaf->fills[f]);
    if (leaf->reader)
        note_calls(spmd, leaf->reader);
}

// Lowers loops in common, and inside of them all nests from number `first` on that fill and read row
// workspaces. The body is that of the last nest, which reads them.
static bool lower_loops_of(Lowering *lowering, const Stmt *stmt, int first, const int *own_dim) {
    const Cin *cin = lowering->cin;
    const Spmd *spmd = lowering->spmd;
    const int last = first + stmt->nest_count - 1, first_transfer = (int)lowering->transfers.count;
    const Nest nest = cin_nest(cin, last);
    const Stmt **assigns = arena_array(cin->arena, const Stmt *, cin_nest_count(cin));
    int loops[MAX_VARS], depth = 0;
    sequential_loops(cin, &nest, loops);
    for (int n = last; n >= first; n--) {
        const Nest at = cin_nest(cin, n);
        lowering->nests[n].assign = at.assign;
        lowering->nests[n].inside = last;
        lowering->nests[n].zero_depth = -1;
        set_coordinates(lowering, &at, own_dim, &lowering->nests[n]);
        transfers_of_nest(cin, &at, n, &lowering->transfers);
        transfers_find_indices(cin, &at, n, &lowering->transfers);
        assigns[n] = leaf_assign(cin, &at, n, &lowering->transfers);
        const int needed = leaf_depth(cin, &at);
        depth = needed > depth ? needed : depth;
    }
    const Stage *stage = &lowering->stages[lowering->nests[last].stage];
    for (int64_t t = first_transfer; t < lowering->transfers.count; t++)
        lowering->transfers.items[t].stage = lowering->nests[last].stage;
    rows_of_stmt(cin, stmt, &lowering->rows);
    LeafSite site = {.cin = cin,
                     .diagnostics = lowering->diagnostics,
                     .rows = &lowering->rows,
                     .assigns = assigns,
                     .nest = first};
    for (int d = 0; d < spmd->dim_count; d++) {
        const int var = lowering->nests[last].coordinates[d];
        if (var < 0)
            continue;
        site.outside[var] = true;
        site.unbounded[var] = !int_equal(spmd->dims[d].extent, cin->vars[var].extent);
    }
    for (int i = 0; i < depth; i++)
        site.outside[loops[i]] = true;
    if (lowering->converted || (first == last && !stage->shared && assignment_sparse(cin->assignment))) {
        site.converted = lowering->converted
                             ? leaf_convert_as(cin, lowering->converted, spmd, &lowering->transfers)
                             : leaf_convert(&site, &nest, &lowering->transfers);
        assigns[last] = leaf_assign(cin, &nest, last, &lowering->transfers);
    }
    const Leaf *leaf = leaf_create(&site, stmt);
    if (!leaf)
        return false;
    if (spmd->on_gpu && !gpu_place_rows(cin, leaf, lowering->rows.items, lowering->diagnostics))
        return false;
    note_calls(lowering->spmd, leaf);
    lowering->nests[last].zero_depth = leaf_zero_depth(lowering->spmd, leaf, stage);
    for (int64_t t = first_transfer; t < lowering->transfers.count; t++)
        if (lowering->transfers.items[t].kind == TRANSFER_REDUCE)
            lowering->transfers.items[t].copy_limit = leaf_copy_limit(leaf);
    lowering->nests[last].body = build_tree(lowering, loops, 0, depth, first_transfer, leaf);
    return true;
}

static bool lower_stmt(Lowering *lowering, const Stmt *stmt, int first, const int *own_dim) {
    if ((stmt->kind != STMT_SEQUENCE && stmt->kind != STMT_WHERE) || stmt->row)
        return lower_loops_of(lowering, stmt, first, own_dim);
    const bool where = stmt->kind == STMT_WHERE;
    const Stmt *before = where ? stmt->second : stmt->first, *after = where ? stmt->first : stmt->second;
    const bool ok = lower_stmt(lowering, before, first, own_dim);
    return lower_stmt(lowering, after, first + before->nest_count, own_dim) && ok;
}

// Parts of positions are distributed as the parts of one division, in whose order ranks have them.
static bool check_positions(const Lowering *lowering, const Relation *relation) {
    const Cin *cin = lowering->cin;
    if (!relation->kind->stored)
        return true;
    if (cin_positions_are_distributed(cin, relation))
        return !relation->access->repeats ||
               diagnostics_error(
                   lowering->diagnostics, relation->span,
                   "'%s' stores a coordinate of this level as often as it has entries below it, "
                   "and positions of such a level cannot be distributed; collapse the loops "
                   "over all of its levels",
                   relation->access->name);
    const char *name = cin->vars[relation->child[0]].name;
    for (int64_t d = 0; d < cin->directives.count; d++) {
        const Directive *directive = cin->directives.items[d];
        if (directive->kind == DIRECTIVE_DISTRIBUTE &&
            bounds_depends(cin, relation->parent[0], directive->loops[0]))
            return diagnostics_error(
                lowering->diagnostics, directive->span,
                relation->access->first_level > 0
                    ? "positions of '%s' below those of its first level differ in number, and cannot be "
                      "distributed; collapse the loops over all levels above '%s' as well"
                    : "positions of '%s' can be distributed in parts of equal number only: "
                      "divide(%s, ...), and distribute its outer loop",
                relation->access->name, name);
    }
    return true;
}

// Refuses, with a diagnostic, what is not supported with sparse tensors yet.
static bool check_sparse(const Lowering *lowering) {
    const Assignment *assignment = lowering->cin->assignment;
    const Access *sparse = assignment_sparse(assignment);
    if (!sparse)
        return true;
    for (int64_t r = 0; r < lowering->cin->relations.count; r++)
        if (!check_positions(lowering, lowering->cin->relations.items[r]))
            return false;
    return true;
}

typedef struct {
    const Cin *cin;
    const Access *access; // the only one of a sparse tensor
    int count;
    const Tensor *row; // a workspace in which elements without a value are zero; NULL: there is none
} Operands;

static const Assignment *part_of(const Cin *cin, const Tensor *target) {
    int p = 0;
    while (p < cin->part_count && cin->parts[p]->lhs->tensor != target)
        p++;
    return p < cin->part_count ? cin->parts[p] : NULL;
}

// Dense workspaces stand for what they are computed from.
static void find_operand(void *context, const Access *access) {
    Operands *operands = context;
    const Tensor *tensor = access->tensor;
    operands->row = tensor->partial || tensor->around ? tensor : operands->row;
    if (!tensor_is_sparse(tensor)) {
        const Assignment *part = part_of(operands->cin, tensor);
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
static bool placed_as_leading(const Lowering *lowering, const Access *result, const Access *operand) {
    const Tensor *left = result->tensor;
    const Placement *a = left->placement, *b = operand->tensor->placement;
    if (!a || !b)
        return !a && !b && lowering->spmd->dim_count == 0;
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
static bool stored_as_leading(const Lowering *lowering, const Access *result, const Access *operand) {
    const Tensor *left = result->tensor, *right = operand->tensor;
    const int order = left->order;
    bool leading = order > 0 && order < right->order && !left->levels[order - 1].nonunique &&
                   has_default_order(lowering->cin);
    for (int l = 0; leading && l < right->order; l++) {
        const int var = operand->vars[right->mode_order[l]];
        leading = l >= order || (var == result->vars[left->mode_order[l]] &&
                                 level_type_equal(left->levels[l], right->levels[l]));
        for (int other = 0; other < l; other++)
            leading = leading && var != operand->vars[right->mode_order[other]];
    }
    return leading && placed_as_leading(lowering, result, operand);
}

// An update has the structure that is there, at whose entries it is computed.
static bool keep_structure(const Lowering *lowering, const Assignment *part, Stage *stage) {
    stage->result = RESULT_SHARED;
    stage->shared = expr_access_of(part->rhs, stage->target);
    return stage->shared ||
           diagnostics_error(
               lowering->diagnostics, part->lhs->span,
               "an update of '%s', which is sparse, reads it where it is computed, and not in a "
               "workspace alone: leave the 'precompute' out",
               stage->target->name);
}

// What is sparse has the structure of an operand if that is the only sparse one, is indexed like it, and the
// right side is present where it is: B(i, j) in A(i, j) = B(i, j) * C(i, k) * D(k, j). Where it is stored
// otherwise, as in a conversion or a transposition, it is converted, and the result has the structure of the
// copy. With workspaces, what writes the result has to read that operand.
static bool choose_result(Lowering *lowering, Stage *stage) {
    const Cin *cin = lowering->cin;
    if (!tensor_is_sparse(stage->target))
        return true;
    stage->result = RESULT_ASSEMBLED;
    const Assignment *part = part_of(cin, stage->target);
    if (stage->target == cin->assignment->lhs->tensor && assignment_is_update(cin->assignment))
        return keep_structure(lowering, part, stage);
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
        lowering->converted = converted ? operands.access : NULL;
        lowering->spmd->converts = converted && cin->part_count == 1 && part->rhs->kind == EXPR_ACCESS &&
                                   stage->target->type == operands.access->tensor->type;
    }
    if (!stage->shared && operands.count == 1 && writer >= 0 && !part->accumulate && cin->part_count == 1 &&
        stored_as_leading(lowering, part->lhs, operands.access) && requires(cin, writer, operands.access)) {
        stage->result = RESULT_LEADING;
        stage->shared = operands.access;
    }
    return stage->shared || !operands.row ||
           diagnostics_error(
               lowering->diagnostics, part_of(cin, operands.row)->span,
               "entries of '%s' that follow from the workspace '%s' are not supported yet, as that stores "
               "zeros where it has no value: %s",
               stage->target->name, operands.row->name,
               operands.row->around ? "leave it out"
                                    : "give it a last level that lists coordinates, as in precompute(..., W, "
                                      "csr), or leave it out");
}

// A stage ends with what writes a sparse workspace.
static bool choose_stages(Lowering *lowering) {
    const Cin *cin = lowering->cin;
    Spmd *spmd = lowering->spmd;
    const Tensor *last = cin->assignment->lhs->tensor;
    bool ok = true;
    lowering->nests = arena_array(cin->arena, SpmdNest, spmd->nest_count);
    lowering->stages = arena_array(cin->arena, Stage, spmd->nest_count);
    for (int n = 0; n < spmd->nest_count; n++) {
        const Tensor *target = cin_nest(cin, n).assign->lhs->tensor;
        Stage *stage = &lowering->stages[spmd->stage_count];
        lowering->nests[n].stage = spmd->stage_count;
        if (n + 1 < spmd->nest_count && (target == last || !tensor_is_sparse(target) ||
                                         cin_nest(cin, n + 1).assign->lhs->tensor == target))
            continue;
        *stage = (Stage){.target = target, .values_row = -1};
        ok = choose_result(lowering, stage) && ok;
        spmd->stage_count++;
    }
    spmd->stages = lowering->stages;
    return ok;
}

static const Leaf *leaf_of(const SpmdNode *node) {
    const Leaf *leaf = NULL;
    for (; node && !leaf; node = node->next)
        leaf = node->kind == SPMD_LEAF ? node->leaf : node->kind == SPMD_LOOP ? leaf_of(node->body) : NULL;
    return leaf;
}

// How the entries of what a stage assembles are found, and its values.
static void choose_assembly(Lowering *lowering, Stage *stage, const int64_t *params) {
    Spmd *spmd = lowering->spmd;
    const int writer = only_writer(spmd->cin, stage->target);
    if (stage->result == RESULT_LEADING)
        stage->assembly =
            arena_printf(spmd->arena, "'%s' has the entries of the first %d levels of '%s'",
                         stage->target->name, stage->target->order, stage->shared->tensor->name);
    if (stage->result != RESULT_ASSEMBLED || writer < 0)
        return;
    const Leaf *leaf = leaf_of(lowering->nests[writer].body);
    const Assembly assembly = assembly_of(spmd, leaf);
    RowWorkspace row;
    const bool has_row = assembly_has_values_row(spmd, leaf, &assembly, params, &row);
    if (has_row) {
        stage->values_row = (int)lowering->rows.count;
        // All loops around a row are over coordinates of the result.
        stage->stores_rows = assembly.row == assembly.loop_count - 1 && assembly.whole_rows;
        array_push(spmd->arena, lowering->rows, row);
    }
    stage->assembly =
        arena_printf(spmd->arena, "entries of '%s' %s%s", stage->target->name, assembly_text(&assembly),
                     has_row ? "; values of a row are added to an array of the thread, then copied" : "");
}

const Spmd *lower(const Cin *cin, const int64_t *params, Diagnostics *diagnostics) {
    Spmd *spmd = arena_new(cin->arena, Spmd);
    Lowering lowering = {.cin = cin, .diagnostics = diagnostics, .spmd = spmd};
    spmd->arena = cin->arena;
    spmd->cin = cin;
    spmd->nest_count = cin_nest_count(cin);
    spmd->on_gpu = cin_is_on_gpu(cin);
    if (spmd->on_gpu && !gpu_check(cin, diagnostics))
        return NULL;
    int own_dim[MAX_VARS];
    if (!add_machine_dims(&lowering) || !add_own_dims(&lowering, own_dim) || !check_sparse(&lowering) ||
        !choose_stages(&lowering))
        return NULL;
    const bool ok = lower_stmt(&lowering, cin->body, 0, own_dim);
    spmd->nests = lowering.nests;
    for (int s = 0; ok && s < spmd->stage_count; s++)
        choose_assembly(&lowering, &lowering.stages[s], params);
    transfers_find_levels(spmd, &lowering.transfers);
    for (int n = 0; ok && n < spmd->nest_count; n++)
        transfers_find_rows(spmd, leaf_of(spmd->nests[n].body), &lowering.transfers);
    transfers_find_ahead(spmd, &lowering.transfers);
    spmd->row_count = (int)lowering.rows.count;
    spmd->rows = lowering.rows.items;
    spmd->transfers = lowering.transfers.items;
    spmd->transfer_count = (int)lowering.transfers.count;
    return ok ? spmd : NULL;
}
