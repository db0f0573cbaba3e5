// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lower.h"

#include "lower/bounds.h"
#include "lower/leaf.h"
#include "lower/stages.h"
#include "lower/transfers.h"

typedef struct {
    const Cin *cin;
    const int64_t *params;
    Diagnostics *diagnostics;
    Spmd *spmd;
    TransferArray transfers;
    RowWorkspaceArray rows;
    SpmdNest *nests;
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
        if (!add_dim(lowering, (ExecutionDim){machine->extents[d], machine}, machine->span))
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

// As many processors as the loop has iterations, in the kernel or in the function that finds entries,
// whichever are more. Nests without this variable need one even where it has none.
static const IntExpr *own_extent(const Lowering *lowering, int var) {
    const Cin *cin = lowering->cin;
    const IntExpr *extent = cin->vars[var].extent;
    for (int n = 0; n < cin_nest_count(cin); n++) // of entries it is the same, or more
        if (!int_equal(lowering->nests[n].entries->vars[var].extent, cin->vars[var].extent))
            extent = lowering->nests[n].entries->vars[var].extent;
    return every_nest_loops(cin, var) ? extent : int_at_least_one(cin->arena, extent);
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
            if (!add_dim(lowering, (ExecutionDim){own_extent(lowering, var), NULL}, directive->span))
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
    const Stage *stage = &spmd->stages[lowering->nests[last].stage];
    for (int64_t t = first_transfer; t < lowering->transfers.count; t++)
        lowering->transfers.items[t].stage = lowering->nests[last].stage;
    rows_of_stmt(cin, stmt, &lowering->rows);
    LeafSite site = {.cin = cin,
                     .params = lowering->params,
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
        if (lowering->transfers.items[t].kind == TRANSFER_REDUCE) {
            lowering->transfers.items[t].copy_limit = leaf_copy_limit(leaf);
            leaf_partial_loops(leaf, &lowering->transfers.items[t], cin->arena);
        }
    lowering->nests[last].body = build_tree(lowering, loops, 0, depth, first_transfer, leaf);
    return true;
}

// Whether nests of the statement have no loops in common.
static bool is_divided(const Stmt *stmt) {
    return (stmt->kind == STMT_SEQUENCE || stmt->kind == STMT_WHERE) && !stmt->row;
}

static void find_entries(const Lowering *lowering, const Stmt *stmt, int first) {
    if (is_divided(stmt)) {
        find_entries(lowering, stmt_executed_first(stmt), first);
        find_entries(lowering, stmt_executed_last(stmt), first + stmt_executed_first(stmt)->nest_count);
        return;
    }
    const int last = first + stmt->nest_count - 1;
    const bool sparse = tensor_is_sparse(cin_nest(lowering->cin, last).assign->lhs->tensor);
    const Cin *entries = sparse ? cin_for_entries(lowering->cin, first, last) : lowering->cin;
    for (int n = first; n <= last; n++)
        lowering->nests[n].entries = entries;
}

static bool lower_stmt(Lowering *lowering, const Stmt *stmt, int first, const int *own_dim) {
    if (!is_divided(stmt))
        return lower_loops_of(lowering, stmt, first, own_dim);
    const Stmt *before = stmt_executed_first(stmt), *after = stmt_executed_last(stmt);
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

const Spmd *lower(const Cin *cin, const int64_t *params, Diagnostics *diagnostics) {
    Spmd *spmd = arena_new(cin->arena, Spmd);
    Lowering lowering = {.cin = cin, .params = params, .diagnostics = diagnostics, .spmd = spmd};
    spmd->arena = cin->arena;
    spmd->cin = cin;
    spmd->nest_count = cin_nest_count(cin);
    spmd->on_gpu = cin_is_on_gpu(cin);
    if (spmd->on_gpu && !gpu_check(cin, diagnostics))
        return NULL;
    lowering.nests = arena_array(cin->arena, SpmdNest, spmd->nest_count);
    find_entries(&lowering, cin->body, 0);
    int own_dim[MAX_VARS];
    if (!add_machine_dims(&lowering) || !add_own_dims(&lowering, own_dim))
        return NULL;
    for (int64_t r = 0; r < cin->relations.count; r++)
        if (!check_positions(&lowering, cin->relations.items[r]))
            return NULL;
    if (!stages_choose(spmd, lowering.nests, &lowering.converted, diagnostics))
        return NULL;
    const bool ok = lower_stmt(&lowering, cin->body, 0, own_dim);
    spmd->nests = lowering.nests;
    for (int s = 0; ok && s < spmd->stage_count; s++)
        stage_choose_assembly(spmd, &spmd->stages[s], params, &lowering.rows);
    transfers_find_levels(spmd, &lowering.transfers);
    for (int n = 0; ok && n < spmd->nest_count; n++)
        transfers_find_rows(spmd, spmd_leaf(spmd->nests[n].body), &lowering.transfers);
    transfers_find_ahead(spmd, &lowering.transfers);
    spmd->row_count = (int)lowering.rows.count;
    spmd->rows = lowering.rows.items;
    spmd->transfers = lowering.transfers.items;
    spmd->transfer_count = (int)lowering.transfers.count;
    return ok ? spmd : NULL;
}
