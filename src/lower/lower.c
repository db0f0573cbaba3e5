// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lower.h"

#include "lower/leaf.h"
#include "lower/transfers.h"

typedef struct {
    const Cin *cin;
    Diagnostics *diagnostics;
    Spmd *spmd;
    TransferArray transfers;
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

// Transfers that stand inside `depth` loops open in their order, and close in the reverse.
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

static bool leaf_has_copies(const Leaf *leaf) {
    for (int l = 0; l < leaf->loop_count; l++)
        if (leaf->loops[l].thread_copies)
            return true;
    return false;
}

static bool lower_nest(Lowering *lowering, int index, const int *own_dim, SpmdNest *result) {
    const Cin *cin = lowering->cin;
    const Spmd *spmd = lowering->spmd;
    Nest nest = cin_nest(cin, index);
    result->assign = nest.assign;
    set_coordinates(lowering, &nest, own_dim, result);
    int first = (int)lowering->transfers.count;
    transfers_of_nest(cin, &nest, index, &lowering->transfers);
    int loops[MAX_VARS];
    int loop_count = sequential_loops(cin, &nest, loops), depth = leaf_depth(cin, &nest);
    LeafSite site = {.cin = cin,
                     .diagnostics = lowering->diagnostics,
                     .assign = leaf_assign(cin, &nest, index, &lowering->transfers)};
    for (int d = 0; d < spmd->dim_count; d++) {
        int var = result->coordinates[d];
        if (var < 0)
            continue;
        site.outside[var] = true;
        site.unbounded[var] = !int_equal(spmd->dims[d].extent, cin->vars[var].extent);
    }
    for (int i = 0; i < loop_count; i++) {
        if (i < depth)
            site.outside[loops[i]] = true;
        else
            site.loops[site.loop_count++] = loops[i];
    }
    const Leaf *leaf = leaf_create(&site);
    if (!leaf)
        return false;
    lowering->spmd->calls_library = lowering->spmd->calls_library || leaf->call;
    lowering->spmd->contracts = lowering->spmd->contracts || (leaf->call && leaf->call->contraction);
    if (leaf_has_copies(leaf))
        for (int64_t t = first; t < lowering->transfers.count; t++)
            lowering->transfers.items[t].thread_copies = lowering->transfers.items[t].kind == TRANSFER_REDUCE;
    result->body = build_tree(lowering, loops, 0, depth, first, leaf);
    return true;
}

static void find_sparse(void *context, const Access *access) {
    const Access **found = context;
    if (!*found && tensor_is_sparse(access->tensor))
        *found = access;
}

// Whether nothing is asked for that cannot be done with sparse tensors yet.
static bool check_sparse(const Lowering *lowering) {
    const Assignment *assignment = lowering->cin->assignment;
    const Access *sparse = NULL;
    find_sparse(&sparse, assignment->lhs);
    expr_accesses(assignment->rhs, find_sparse, &sparse);
    if (!sparse)
        return true;
    if (lowering->spmd->dim_count > 0)
        return diagnostics_error(
            lowering->diagnostics, sparse->span,
            "tensor '%s' is sparse, and distributing statements with sparse tensors is not "
            "supported yet; without distribute and places one process computes",
            sparse->tensor->name);
    for (int64_t d = 0; d < lowering->cin->directives.count; d++)
        if (lowering->cin->directives.items[d]->kind == DIRECTIVE_COMMUNICATE)
            return diagnostics_error(
                lowering->diagnostics, lowering->cin->directives.items[d]->span,
                "tensor '%s' is sparse, and communicating inside loops of statements with "
                "sparse tensors is not supported yet; leave communicate out",
                sparse->tensor->name);
    return true;
}

typedef struct {
    const Access *access; // the only one of a sparse tensor
    int count;
} SparseOperands;

static void count_sparse(void *context, const Access *access) {
    SparseOperands *operands = context;
    if (!tensor_is_sparse(access->tensor) || (operands->access && access_equal(operands->access, access)))
        return;
    operands->access = access;
    operands->count++;
}

// Whether both have the same elements in the same order, apart from what is stored of them.
static bool stored_alike(const Access *a, const Access *b) {
    const Tensor *left = a->tensor, *right = b->tensor;
    bool alike = left->order == right->order;
    for (int m = 0; alike && m < left->order; m++)
        alike = a->vars[m] == b->vars[m] && left->mode_order[m] == right->mode_order[m] &&
                level_type_equal(left->levels[m], right->levels[m]);
    return alike;
}

// A sparse result has the structure of an operand where this is the only sparse one, is indexed and stored as
// the result is, and the result is present where it is: B(i, j) in A(i, j) = B(i, j) * C(i, k) * D(k, j).
static void choose_result(Lowering *lowering) {
    Spmd *spmd = lowering->spmd;
    const Assignment *assignment = lowering->cin->assignment;
    if (!tensor_is_sparse(assignment->lhs->tensor))
        return;
    spmd->result = RESULT_ASSEMBLED;
    SparseOperands operands = {0};
    expr_accesses(assignment->rhs, count_sparse, &operands);
    if (operands.count == 1 && cin_nest_count(lowering->cin) == 1 && !assignment->accumulate &&
        stored_alike(assignment->lhs, operands.access)) {
        spmd->result = RESULT_SHARED;
        spmd->shared = operands.access;
    }
}

const Spmd *lower(const Cin *cin, Diagnostics *diagnostics) {
    Spmd *spmd = arena_new(cin->arena, Spmd);
    Lowering lowering = {.cin = cin, .diagnostics = diagnostics, .spmd = spmd};
    spmd->arena = cin->arena;
    spmd->cin = cin;
    int own_dim[MAX_VARS];
    if (!add_machine_dims(&lowering) || !add_own_dims(&lowering, own_dim) || !check_sparse(&lowering))
        return NULL;
    choose_result(&lowering);
    spmd->nest_count = cin_nest_count(cin);
    SpmdNest *nests = arena_array(cin->arena, SpmdNest, spmd->nest_count);
    bool ok = true;
    for (int n = 0; n < spmd->nest_count; n++)
        ok = lower_nest(&lowering, n, own_dim, &nests[n]) && ok;
    spmd->nests = nests;
    spmd->transfers = lowering.transfers.items;
    spmd->transfer_count = (int)lowering.transfers.count;
    return ok ? spmd : NULL;
}
