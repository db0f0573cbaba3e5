// SPDX-License-Identifier: BSD-3-Clause
// Which operands are used at coordinates of entries only: those that are multiplied by a sparse operand with
// some of their variables, wherever the right side has them.
#include "index/presence.h"
#include "lower/transfers.h"

typedef struct {
    ElementType type;     // that the statement computes in
    const Access *access; // of the operand
    const Access *by;     // NULL: none yet
    int shared;           // modes that have a variable in common with it
} Naming;

static int count_shared(const Access *access, const Access *by) {
    int count = 0;
    for (int m = 0; m < access->tensor->order; m++)
        count += (int)(access_vars(by) >> access->vars[m] & 1);
    return count;
}

static void take_sparse(void *context, const Access *access) {
    Naming *naming = context;
    const bool names = tensor_is_sparse(access->tensor) && !access_equal(access, naming->access);
    const int shared = names ? count_shared(naming->access, access) : 0;
    if (shared <= naming->shared)
        return;
    naming->by = access;
    naming->shared = shared;
}

// The sparse factors without whose entries an expression is not present.
static void find_factors(const Expr *expr, Naming *naming) {
    const Presence presence = expr_presence(expr, naming->type);
    if (presence == PRESENT_STORED)
        take_sparse(naming, expr->access);
    if (presence == PRESENT_LEFT || presence == PRESENT_BOTH)
        find_factors(expr->left, naming);
    if (presence == PRESENT_RIGHT || presence == PRESENT_BOTH)
        find_factors(expr->right, naming);
}

// Looks at every occurrence of the operand, of which `outer` says without what nothing around it is present.
// False where that names no coordinates.
static bool find_names(const Expr *expr, const Naming *outer, Naming *result) {
    if (expr->kind == EXPR_ACCESS && access_equal(expr->access, outer->access)) {
        if (!outer->by || (result->by && !access_equal(result->by, outer->by)))
            return false;
        result->by = outer->by;
        return true;
    }
    // Zero where this is not present, whatever the other operands are there.
    Naming inside = *outer;
    find_factors(expr, &inside);
    return (!expr->left || find_names(expr->left, &inside, result)) &&
           (!expr->right || find_names(expr->right, &inside, result));
}

void transfers_name(const Cin *cin, const Nest *nest, int index, TransferArray *transfers) {
    for (int64_t t = 0; t < transfers->count; t++) {
        Transfer *transfer = &transfers->items[t];
        const Naming outer = {.access = transfer->statement_access, .type = assignment_type(cin->assignment)};
        Naming result = outer;
        if (transfer->nest == index && transfer->kind == TRANSFER_FETCH &&
            find_names(nest->assign->rhs, &outer, &result))
            transfer->named_by = result.by;
    }
}
