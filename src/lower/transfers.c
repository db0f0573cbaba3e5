// SPDX-License-Identifier: BSD-3-Clause
#include "lower/transfers.h"

#include "lower/bounds.h"

#include <string.h>

int sequential_loops(const Cin *cin, const Nest *nest, int *loops) {
    int count = 0;
    for (int i = 0; i < nest->loop_count; i++)
        if (!cin_directive(cin, DIRECTIVE_DISTRIBUTE, nest->loops[i]))
            loops[count++] = nest->loops[i];
    return count;
}

// The variable of the loop that transfers of `tensor` stand at, -1: outside of all loops.
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

static void add_transfer(const Collector *collector, TransferKind kind, const Access *access) {
    const Cin *cin = collector->cin;
    const Nest *nest = collector->nest;
    Transfer transfer = {.id = (int)collector->transfers->count,
                         .kind = kind,
                         .statement_access = access,
                         .nest = collector->index,
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

static void add_fetch(void *context, const Access *access) {
    const Collector *collector = context;
    for (int64_t i = 0; i < collector->transfers->count; i++) {
        const Transfer *other = &collector->transfers->items[i];
        if (other->nest == collector->index && other->kind == TRANSFER_FETCH &&
            access_equal(other->statement_access, access))
            return; // one tensor has one place in a nest
    }
    add_transfer(collector, TRANSFER_FETCH, access);
}

void transfers_of_nest(const Cin *cin, const Nest *nest, int index, TransferArray *transfers) {
    Collector collector = {cin, nest, index, transfers};
    add_transfer(&collector, TRANSFER_REDUCE, nest->assign->lhs);
    expr_accesses(nest->assign->rhs, add_fetch, &collector);
}

typedef struct {
    Arena *arena;
    int nest;
    const TransferArray *transfers;
} Relocation;

static const Access *relocated(const Relocation *relocation, TransferKind kind, const Access *access) {
    for (int64_t i = 0; i < relocation->transfers->count; i++) {
        const Transfer *transfer = &relocation->transfers->items[i];
        if (transfer->nest == relocation->nest && transfer->kind == kind &&
            access_equal(transfer->statement_access, access))
            return transfer->access;
    }
    return access;
}

static const Expr *relocated_expr(const Relocation *relocation, const Expr *expr) {
    Expr *copy = arena_copy(relocation->arena, expr, sizeof *expr);
    if (expr->kind == EXPR_ACCESS)
        copy->access = relocated(relocation, TRANSFER_FETCH, expr->access);
    if (expr->left)
        copy->left = relocated_expr(relocation, expr->left);
    if (expr->right)
        copy->right = relocated_expr(relocation, expr->right);
    return copy;
}

const Stmt *leaf_assign(const Cin *cin, const Nest *nest, int index, const TransferArray *transfers) {
    const Relocation relocation = {cin->arena, index, transfers};
    Stmt *assign = arena_copy(cin->arena, nest->assign, sizeof *nest->assign);
    assign->lhs = relocated(&relocation, TRANSFER_REDUCE, assign->lhs);
    assign->rhs = relocated_expr(&relocation, assign->rhs);
    return assign;
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
