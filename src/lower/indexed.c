// SPDX-License-Identifier: BSD-3-Clause
// Which operands are used at coordinates of entries only: those that are multiplied by a sparse operand with
// some of their variables, wherever the right side has them.
#include "index/presence.h"
#include "lower/bounds.h"
#include "lower/transfers.h"

typedef struct {
    ElementType type;     // that the statement computes in
    const Access *access; // of the operand
    const Access *by;     // NULL: none yet
    int shared;           // modes that have a variable in common with it
} Indexing;

static int count_shared(const Access *access, const Access *by) {
    int count = 0;
    for (int m = 0; m < access->tensor->order; m++) {
        bool shared = false;
        for (int n = 0; n < by->tensor->order; n++)
            shared = shared || by->vars[n] == access->vars[m];
        count += shared;
    }
    return count;
}

static void take_sparse(void *context, const Access *access) {
    Indexing *indexing = context;
    const bool indexes = tensor_is_sparse(access->tensor) && !access_equal(access, indexing->access);
    const int shared = indexes ? count_shared(indexing->access, access) : 0;
    if (shared <= indexing->shared)
        return;
    indexing->by = access;
    indexing->shared = shared;
}

// The sparse factors without whose entries an expression is not present.
static void find_factors(const Expr *expr, Indexing *indexing) {
    const Presence presence = expr_presence(expr, indexing->type);
    if (presence == PRESENT_STORED)
        take_sparse(indexing, expr->access);
    if (presence == PRESENT_LEFT || presence == PRESENT_BOTH)
        find_factors(expr->left, indexing);
    if (presence == PRESENT_RIGHT || presence == PRESENT_BOTH)
        find_factors(expr->right, indexing);
}

// Looks at every occurrence of the operand, of which `outer` says without what nothing around it is present.
// False where no operand indexes it.
static bool find_indexing(const Expr *expr, const Indexing *outer, Indexing *result) {
    if (expr->kind == EXPR_ACCESS && access_equal(expr->access, outer->access)) {
        if (!outer->by || (result->by && !access_equal(result->by, outer->by)))
            return false;
        result->by = outer->by;
        return true;
    }
    // Zero where this is not present, whatever the other operands are there.
    Indexing inside = *outer;
    find_factors(expr, &inside);
    return (!expr->left || find_indexing(expr->left, &inside, result)) &&
           (!expr->right || find_indexing(expr->right, &inside, result));
}

// The level with the list of coordinates that a variable indexes the access by; -1: none.
static int find_level(const Access *access, int var) {
    for (int l = 0; l < access->tensor->order; l++)
        if (access->vars[access->tensor->mode_order[l]] == var)
            return access->tensor->levels[l].format->range ? l : -1;
    return -1;
}

// The variable of the rows that iterations of the outermost loop of a leaf are: it writes other elements in
// each; -1: there is none.
static int row_var(const Spmd *spmd, const Leaf *leaf) {
    const bool divides =
        leaf && leaf->loop_count > leaf->call_loops && leaf->loops[0].distinct && !leaf->loops[0].partials;
    const int var = divides ? bounds_unit_source(spmd->cin, leaf->assign, leaf->loops[0].var) : -1;
    return var >= 0 && spmd->cin->vars[var].source ? var : -1;
}

// Whether the rows of a sparse access are its first level, and all are there.
static bool has_rows(const Access *access, int var) {
    const int mode = access->tensor->mode_order[0];
    for (int m = 0; m < access->tensor->order; m++)
        if (access->vars[m] == var && (m != mode || !access->tensor->levels[0].format->full))
            return false;
    return true;
}

void transfers_find_rows(const Spmd *spmd, const Leaf *leaf, TransferArray *transfers) {
    const int var = leaf ? row_var(spmd, leaf) : -1;
    bool rows = var >= 0 && spmd->dim_count > 0;
    for (int64_t t = 0; t < transfers->count; t++) {
        const Transfer *transfer = &transfers->items[t];
        if (leaf && spmd->nests[transfer->nest].inside == leaf->nest &&
            tensor_is_sparse(transfer->access->tensor))
            rows = rows && has_rows(transfer->access, var);
    }
    for (int64_t t = 0; t < transfers->count; t++) {
        Transfer *transfer = &transfers->items[t];
        if (!leaf || spmd->nests[transfer->nest].inside != leaf->nest)
            continue;
        const Access *by = transfer->indexing >= 0 ? transfers->items[transfer->indexing].access : NULL;
        const bool overlaps = rows && by && !tensor_is_sparse(transfer->access->tensor) &&
                              transfer->loop_count == 0 && by->vars[by->tensor->mode_order[0]] == var;
        transfer->rows = overlaps ? leaf->loops[0].var : -1;
    }
}

void transfers_find_levels(const Spmd *spmd, TransferArray *transfers) {
    for (int64_t t = 0; t < transfers->count; t++) {
        Transfer *transfer = &transfers->items[t];
        const Transfer *by = transfers->items;
        transfer->indexing = transfer->rows = -1;
        for (int m = 0; m < MAX_ORDER; m++)
            transfer->index_levels[m] = -1;
        if (!transfer->indexed_by)
            continue;
        while (by->nest != transfer->nest || by->kind != TRANSFER_FETCH ||
               !access_equal(by->statement_access, transfer->indexed_by))
            by++;
        transfer->indexing = by->id;
        const Access *access = transfer->access;
        const bool numbered =
            spmd->dim_count > 0 && access == transfer->statement_access && !tensor_is_sparse(access->tensor);
        for (int m = 0; numbered && m < access->tensor->order; m++)
            transfer->index_levels[m] = find_level(by->access, access->vars[m]);
    }
}

void transfers_find_indices(const Cin *cin, const Nest *nest, int index, TransferArray *transfers) {
    for (int64_t t = 0; t < transfers->count; t++) {
        Transfer *transfer = &transfers->items[t];
        const Indexing outer = {.access = transfer->statement_access,
                                .type = assignment_type(cin->assignment)};
        Indexing result = outer;
        // Accesses near this one are read elsewhere.
        if (transfer->nest == index && transfer->kind == TRANSFER_FETCH && transfer->near_count == 0 &&
            find_indexing(nest->assign->rhs, &outer, &result))
            transfer->indexed_by = result.by;
    }
}
