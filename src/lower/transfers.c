// SPDX-License-Identifier: BSD-3-Clause
#include "lower/transfers.h"

#include "lower/bounds.h"

int sequential_loops(const Cin *cin, const Nest *nest, int *loops) {
    int count = 0;
    for (int i = 0; i < nest->loop_count; i++)
        if (!cin_directive(cin, DIRECTIVE_DISTRIBUTE, nest->loops[i]))
            loops[count++] = nest->loops[i];
    return count;
}

// The variable of the loop at which transfers of `tensor` are, -1: outside of all loops.
static int transfer_place(const Cin *cin, const Nest *nest, const Tensor *tensor) {
    int innermost_distributed = -1, named = -1;
    for (int i = 0; i < nest->loop_count; i++) {
        if (cin_directive(cin, DIRECTIVE_DISTRIBUTE, nest->loops[i]))
            innermost_distributed = nest->loops[i];
        for (int64_t d = 0; d < cin->directives.count; d++) {
            const Directive *directive = cin->directives.items[d];
            if (directive->kind == DIRECTIVE_COMMUNICATE && directive->tensor == tensor &&
                directive->loops[0] == nest->loops[i])
                named = nest->loops[i];
        }
    }
    return named >= 0 ? named : innermost_distributed;
}

// The variable that gives the position of an element whose coordinate is `var`: the innermost that counts
// through a part that is not contiguous, where the parts around it are known.
static int located_by(const Cin *cin, int var, const bool *known) {
    int located = var;
    for (;;) {
        const Relation *relation = cin_replaced_by(cin, var);
        if (!relation || !relation->kind->partitions || !bounds_is_recovered(cin, relation->child[0], known))
            return located;
        var = relation->child[1];
        if (!relation->kind->contiguous)
            located = var;
    }
}

// The access as the leaf makes it, under the transfer's loops.
static const Access *located_access(const Cin *cin, const Nest *nest, const Transfer *transfer) {
    bool known[MAX_VARS] = {false};
    for (int i = 0; i < nest->loop_count; i++)
        known[nest->loops[i]] = cin_directive(cin, DIRECTIVE_DISTRIBUTE, nest->loops[i]) != NULL;
    for (int i = 0; i < transfer->loop_count; i++)
        known[transfer->loops[i]] = true;
    const Access *access = transfer->statement_access;
    if (tensor_is_sparse(access->tensor))
        return access; // found by coordinates
    Access *located = arena_copy(cin->arena, access, sizeof *access);
    bool differs = false;
    for (int m = 0; m < access->tensor->order; m++) {
        located->vars[m] = located_by(cin, access->vars[m], known);
        differs = differs || located->vars[m] != access->vars[m];
    }
    return differs ? located : access;
}

typedef struct {
    const Cin *cin;
    const Nest *nest;
    int index;
    TransferArray *transfers;
} Collector;

// Whether the nest stores what it computes from the values that are there.
static bool updates_in_place(const Cin *cin, const Nest *nest) {
    return !nest->assign->accumulate && nest->assign->lhs->tensor == cin->assignment->lhs->tensor &&
           assignment_is_update(cin->assignment);
}

static void add_transfer(const Collector *collector, TransferKind kind, const Access *access) {
    const Cin *cin = collector->cin;
    const Nest *nest = collector->nest;
    Transfer transfer = {.id = (int)collector->transfers->count,
                         .kind = kind,
                         .statement_access = access,
                         .nest = collector->index,
                         .reducer = nest->assign->reducer,
                         .replaces = kind == TRANSFER_REDUCE && updates_in_place(cin, nest),
                         .at = transfer_place(cin, nest, access->tensor)};
    for (int i = 0; transfer.at >= 0; i++) {
        if (!cin_directive(cin, DIRECTIVE_DISTRIBUTE, nest->loops[i]))
            transfer.loops[transfer.loop_count++] = nest->loops[i];
        if (nest->loops[i] == transfer.at)
            break;
    }
    transfer.access = located_access(cin, nest, &transfer);
    array_push(cin->arena, *collector->transfers, transfer);
}

// Elements of several accesses lie where their coordinates say.
static void add_near(const Cin *cin, Transfer *transfer, const Access *access) {
    if (access_equal(transfer->statement_access, access) || transfer_serves(transfer, access))
        return;
    const Access **near = arena_array(cin->arena, const Access *, transfer->near_count + 1);
    for (int i = 0; i < transfer->near_count; i++)
        near[i] = transfer->near[i];
    near[transfer->near_count++] = access;
    transfer->near = near;
    transfer->access = transfer->statement_access;
}

static void add_fetch(void *context, const Access *access) {
    const Collector *collector = context;
    if (access->tensor->around)
        return;
    for (int64_t i = 0; i < collector->transfers->count; i++) {
        Transfer *other = &collector->transfers->items[i];
        if (other->nest != collector->index || other->kind != TRANSFER_FETCH ||
            !access_is_near(other->statement_access, access))
            continue; // one tensor has one place in a nest
        add_near(collector->cin, other, access);
        return;
    }
    add_transfer(collector, TRANSFER_FETCH, access);
}

void transfers_of_nest(const Cin *cin, const Nest *nest, int index, TransferArray *transfers) {
    Collector collector = {cin, nest, index, transfers};
    if (!nest->assign->lhs->tensor->around)
        add_transfer(&collector, TRANSFER_REDUCE, nest->assign->lhs);
    expr_accesses(nest->assign->rhs, add_fetch, &collector);
}

// How a mode of a row workspace is indexed inside of the loops `known`.
typedef struct {
    int var;   // that locates elements: the mode's own, or, where a part is not contiguous, the one that
               // numbers its elements
    int block; // that numbers the elements of the block that the loops select; -1: they determine the
               // coordinate
} RowMode;

static RowMode row_mode(const Cin *cin, VarSet known, int var) {
    bool is_known[MAX_VARS];
    for (int v = 0; v < MAX_VARS; v++)
        is_known[v] = known >> v & 1;
    RowMode mode = {var, bounds_is_recovered(cin, var, is_known) ? -1 : var};
    for (const Relation *relation = cin_replaced_by(cin, var);
         mode.block >= 0 && relation && relation->kind->partitions &&
         bounds_is_recovered(cin, relation->child[0], is_known);
         relation = cin_replaced_by(cin, mode.block)) {
        mode.block = relation->child[1];
        if (!relation->kind->contiguous)
            mode.var = mode.block;
    }
    return mode;
}

// The first value of the variable in its block.
static const IntExpr *first_value(const Cin *cin, VarSet known, RowMode mode) {
    const IntExpr *zeros[MAX_VARS] = {NULL};
    bool is_known[MAX_VARS];
    for (int v = 0; v < MAX_VARS; v++)
        is_known[v] = known >> v & 1 || v == mode.block;
    zeros[mode.block] = int_const(cin->arena, 0);
    return loop_substitute(cin->arena, bounds_recover(cin, mode.var, is_known), zeros, MAX_VARS);
}

static const Stmt *first_assign(const Stmt *stmt) {
    while (stmt->kind != STMT_ASSIGN)
        stmt = stmt->kind == STMT_FORALL ? stmt->body : stmt->first;
    return stmt;
}

static RowWorkspace make_row(const Cin *cin, const Stmt *where, VarSet known, int at) {
    const Stmt *fill = where->second;
    while (fill->kind == STMT_SEQUENCE)
        fill = fill->first;
    const Stmt *assign = first_assign(fill);
    RowWorkspace row = {.where = where,
                        .tensor = where->row,
                        .at = at,
                        .stored = !assign->accumulate && !assignment_window(cin->assignment)};
    for (int m = 0; m < where->row->order; m++) {
        const RowMode mode = row_mode(cin, known, assign->lhs->vars[m]);
        row.extents[m] = mode.block < 0 ? int_const(cin->arena, 1) : cin->vars[mode.block].extent;
        row.first[m] = mode.block < 0 ? int_var(cin->arena, mode.var) : first_value(cin, known, mode);
    }
    return row;
}

static void add_rows(const Cin *cin, const Stmt *stmt, VarSet known, int at, RowWorkspaceArray *rows) {
    for (; stmt->kind == STMT_FORALL; stmt = stmt->body) {
        at = stmt->var;
        known |= (VarSet)1 << at;
    }
    if (stmt->kind == STMT_ASSIGN)
        return;
    if (stmt->row)
        array_push(cin->arena, *rows, make_row(cin, stmt, known, at));
    add_rows(cin, stmt->first, known, at, rows);
    add_rows(cin, stmt->second, known, at, rows);
}

void rows_of_stmt(const Cin *cin, const Stmt *stmt, RowWorkspaceArray *rows) {
    add_rows(cin, stmt, 0, -1, rows);
}

typedef struct {
    const Cin *cin;
    int nest;
    const TransferArray *transfers;
} Relocation;

static const Access *relocated_row(const Relocation *relocation, const Access *access) {
    const Cin *cin = relocation->cin;
    const VarSet known = cin_loops_around(cin, relocation->nest, access->tensor);
    Access *located = arena_copy(cin->arena, access, sizeof *access);
    for (int m = 0; m < access->tensor->order; m++)
        located->vars[m] = row_mode(cin, known, access->vars[m]).var;
    return located;
}

static const Access *relocated(const Relocation *relocation, TransferKind kind, const Access *access) {
    if (access->tensor->around)
        return relocated_row(relocation, access);
    for (int64_t i = 0; i < relocation->transfers->count; i++) {
        const Transfer *transfer = &relocation->transfers->items[i];
        if (transfer->nest == relocation->nest && transfer->kind == kind &&
            access_equal(transfer->statement_access, access))
            return transfer->access; // others that share it are as in the statement
    }
    return access;
}

static const Expr *relocated_expr(const Relocation *relocation, const Expr *expr) {
    Expr *copy = arena_copy(relocation->cin->arena, expr, sizeof *expr);
    if (expr->kind == EXPR_ACCESS)
        copy->access = relocated(relocation, TRANSFER_FETCH, expr->access);
    if (expr->left)
        copy->left = relocated_expr(relocation, expr->left);
    if (expr->right)
        copy->right = relocated_expr(relocation, expr->right);
    return copy;
}

const Stmt *leaf_assign(const Cin *cin, const Nest *nest, int index, const TransferArray *transfers) {
    const Relocation relocation = {cin, index, transfers};
    Stmt *assign = arena_copy(cin->arena, nest->assign, sizeof *nest->assign);
    assign->lhs = relocated(&relocation, TRANSFER_REDUCE, assign->lhs);
    assign->rhs = relocated_expr(&relocation, assign->rhs);
    return assign;
}

// Whether the loops around a transfer write its tensor as well.
static bool is_written(const Spmd *spmd, const Transfer *transfer, const TransferArray *transfers) {
    const int inside = spmd->nests[transfer->nest].inside;
    for (int64_t t = 0; t < transfers->count; t++) {
        const Transfer *other = &transfers->items[t];
        if (other->kind == TRANSFER_REDUCE && spmd->nests[other->nest].inside == inside &&
            other->statement_access->tensor == transfer->statement_access->tensor)
            return true;
    }
    return false;
}

void transfers_find_ahead(const Spmd *spmd, TransferArray *transfers) {
    for (int64_t t = 0; t < transfers->count; t++) {
        Transfer *transfer = &transfers->items[t];
        transfer->ahead = transfer->kind == TRANSFER_FETCH && transfer->loop_count > 0 &&
                          !tensor_is_sparse(transfer->access->tensor) && transfer->rows < 0 &&
                          !is_written(spmd, transfer, transfers);
    }
}

int leaf_depth(const Cin *cin, const Nest *nest) {
    TransferArray transfers = {0};
    transfers_of_nest(cin, nest, 0, &transfers);
    int depth = 0;
    for (int64_t i = 0; i < transfers.count; i++)
        if (transfers.items[i].loop_count > depth)
            depth = transfers.items[i].loop_count;
    return depth;
}
