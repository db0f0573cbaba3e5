// SPDX-License-Identifier: BSD-3-Clause
#include "spmd/spmd.h"

#include <string.h>

typedef struct {
    const Spmd *spmd;
    int nest, leaf_nest;  // whose body it is, and whose leaf
    const char *why;      // NULL while all is well
    bool known[MAX_VARS]; // variables that have a value here
    int loop_count, loops[MAX_VARS];
    bool *open, *seen; // by transfer
    bool *live;        // by row: inside of what fills and reads it
} Verifier;

static void fail(Verifier *verifier, const char *what, const char *name) {
    if (!verifier->why)
        verifier->why = arena_printf(verifier->spmd->arena, "nest %d: %s: '%s'", verifier->nest, what, name);
}

static const char *var_name(const Verifier *verifier, int var) {
    return verifier->spmd->cin->vars[var].name;
}

static void bind(Verifier *verifier, int var) {
    if (verifier->known[var])
        fail(verifier, "a variable is bound twice", var_name(verifier, var));
    verifier->known[var] = true;
}

static void verify_expr(Verifier *verifier, const IntExpr *expr) {
    if (expr->op == INT_VAR && !verifier->known[expr->value])
        fail(verifier, "a variable is used where it has no value", var_name(verifier, (int)expr->value));
    if (expr->left)
        verify_expr(verifier, expr->left);
    if (expr->right)
        verify_expr(verifier, expr->right);
}

static void verify_access(Verifier *verifier, const Access *access, TransferKind kind) {
    const Spmd *spmd = verifier->spmd;
    bool covered = false;
    for (int r = 0; r < spmd->row_count; r++)
        covered = covered || (verifier->live[r] && spmd->rows[r].tensor == access->tensor);
    for (int t = 0; t < spmd->transfer_count; t++) {
        const Transfer *transfer = &spmd->transfers[t];
        covered = covered || (verifier->open[t] && transfer->kind == kind &&
                              transfer->nest == verifier->leaf_nest && transfer_serves(transfer, access));
    }
    if (!covered)
        fail(verifier, "an access of a leaf is not covered by a transfer or a row", access->tensor->name);
    for (int m = 0; m < access->tensor->order; m++)
        if (!verifier->known[access->vars[m]])
            fail(verifier, "a leaf does not define a variable of its accesses",
                 var_name(verifier, access->vars[m]));
}

static void verify_read(void *context, const Access *access) {
    verify_access(context, access, TRANSFER_FETCH);
}

// Numbers of positions, and what positions that are known determine, are loaded.
static void bind_loaded(Verifier *verifier) {
    const Cin *cin = verifier->spmd->cin;
    VarSet loaded = 0;
    for (int64_t r = cin->relations.count - 1; r >= 0; r--) {
        const Relation *relation = cin->relations.items[r];
        if (relation->kind->stored)
            verifier->known[relation->count] = true;
        if (relation->kind->stored ? verifier->known[relation->child[0]]
                                   : (relation_children(relation) & loaded) != 0)
            loaded |= relation_parents(relation);
    }
    for (int v = 0; v < cin->var_count; v++)
        verifier->known[v] = verifier->known[v] || loaded >> v & 1;
}

static void define(Verifier *verifier, const Definition *definitions, int definition_count,
                   const Guard *guards, int guard_count) {
    bind_loaded(verifier);
    for (int i = 0; i < definition_count; i++) {
        verify_expr(verifier, definitions[i].value);
        bind(verifier, definitions[i].var);
        bind_loaded(verifier);
    }
    for (int i = 0; i < guard_count; i++) {
        verify_expr(verifier, guards[i].less);
        verify_expr(verifier, guards[i].than);
    }
}

// The call replaces the innermost loops, each of which is one of its dimensions.
static void verify_call(Verifier *verifier, const Leaf *leaf) {
    for (int i = leaf->loop_count - leaf->call_loops; i < leaf->loop_count; i++)
        if (leaf->loops[i].guard_count > 0)
            fail(verifier, "a loop that a call replaces has a guard", var_name(verifier, leaf->loops[i].var));
    int at = leaf->loop_count - leaf->call_loops;
    bool innermost = at >= 0;
    for (int d = 0; d < CALL_DIMS; d++)
        for (int i = 0; i < call_dim(leaf->call, d)->count; i++, at++)
            innermost = innermost && at < leaf->loop_count &&
                        leaf->loops[at].var == call_dim(leaf->call, d)->loops[i];
    if (!innermost || at != leaf->loop_count)
        fail(verifier, "a call does not replace the innermost loops", kernel_names[leaf->call->kernel]);
}

static void verify_leaf(Verifier *verifier, const Leaf *leaf);

static void verify_row(Verifier *verifier, const Leaf *leaf) {
    if (leaf->row >= verifier->spmd->row_count || !leaf->reader || leaf->fill_count < 1) {
        fail(verifier, "a row does not exist, or nothing fills or reads it", "");
        return;
    }
    const RowWorkspace *row = &verifier->spmd->rows[leaf->row];
    if (verifier->live[leaf->row])
        fail(verifier, "a row is inside of itself", row->tensor->name);
    verifier->live[leaf->row] = true;
    for (int f = 0; f < leaf->fill_count; f++)
        verify_leaf(verifier, leaf->fills[f]);
    verify_leaf(verifier, leaf->reader);
    verifier->live[leaf->row] = false;
}

static void verify_leaf(Verifier *verifier, const Leaf *leaf) {
    bool outside[MAX_VARS];
    memcpy(outside, verifier->known, sizeof outside);
    define(verifier, leaf->definitions, leaf->definition_count, leaf->guards, leaf->guard_count);
    for (int i = 0; i < leaf->loop_count; i++) {
        const LeafLoop *loop = &leaf->loops[i];
        verify_expr(verifier, loop->lower);
        verify_expr(verifier, loop->upper);
        bind(verifier, loop->var);
        define(verifier, loop->definitions, loop->definition_count, loop->guards, loop->guard_count);
    }
    verifier->leaf_nest = leaf->nest;
    if (leaf->row >= 0) {
        verify_row(verifier, leaf);
    } else {
        verify_access(verifier, leaf->assign->lhs, TRANSFER_REDUCE);
        expr_accesses(leaf->assign->rhs, verify_read, verifier);
    }
    if (leaf->call)
        verify_call(verifier, leaf);
    memcpy(verifier->known, outside, sizeof outside);
}

static void verify_transfer(Verifier *verifier, const SpmdNode *node) {
    const Spmd *spmd = verifier->spmd;
    if (node->transfer < 0 || node->transfer >= spmd->transfer_count) {
        fail(verifier, "a transfer does not exist", arena_printf(spmd->arena, "%d", node->transfer));
        return;
    }
    const Transfer *transfer = &spmd->transfers[node->transfer];
    const char *name = transfer->access->tensor->name;
    bool opens = node->kind == SPMD_FETCH || node->kind == SPMD_ACCUMULATE;
    bool fetches = node->kind == SPMD_FETCH || node->kind == SPMD_RELEASE;
    if (fetches != (transfer->kind == TRANSFER_FETCH))
        fail(verifier, "a transfer of the other kind", name);
    if (spmd->nests[transfer->nest].inside != verifier->nest)
        fail(verifier, "a transfer of another nest", name);
    if (transfer->loop_count != verifier->loop_count ||
        memcmp(transfer->loops, verifier->loops, sizeof *verifier->loops * (size_t)verifier->loop_count) != 0)
        fail(verifier, "the loops around a transfer are not those that it names", name);
    if (opens == verifier->open[node->transfer])
        fail(verifier, opens ? "a transfer is opened twice" : "a transfer is closed that is not open", name);
    if (opens && verifier->seen[node->transfer])
        fail(verifier, "a transfer is in two places", name);
    verifier->open[node->transfer] = opens;
    verifier->seen[node->transfer] = true;
}

// Whether the number is the same on all processors.
static bool is_common(const Verifier *verifier, const IntExpr *number) {
    const Cin *cin = verifier->spmd->cin;
    bool common = number->op != INT_VAR;
    for (int64_t r = 0; r < cin->relations.count && !common; r++)
        common = cin->relations.items[r]->kind->balanced && cin->relations.items[r]->longest == number->value;
    return common && (!number->left || is_common(verifier, number->left)) &&
           (!number->right || is_common(verifier, number->right));
}

static void verify_sequence(Verifier *verifier, const SpmdNode *node) {
    int count = verifier->spmd->transfer_count;
    const bool *open = arena_copy(verifier->spmd->arena, verifier->open, (size_t)count);
    for (; node; node = node->next) {
        if (node->kind == SPMD_LEAF) {
            verify_leaf(verifier, node->leaf);
        } else if (node->kind == SPMD_LOOP) {
            if (!is_common(verifier, node->extent))
                fail(verifier, "a loop around transfers depends on variables", var_name(verifier, node->var));
            bind(verifier, node->var);
            verifier->loops[verifier->loop_count++] = node->var;
            verify_sequence(verifier, node->body);
            verifier->loop_count--;
            verifier->known[node->var] = false;
        } else {
            verify_transfer(verifier, node);
        }
    }
    for (int t = 0; t < count; t++)
        if (open[t] != verifier->open[t])
            fail(verifier, "a transfer is not closed where it was opened",
                 verifier->spmd->transfers[t].access->tensor->name);
}

bool spmd_verify(const Spmd *spmd, const char **why) {
    Verifier verifier = {.spmd = spmd};
    int numbers[MAX_VARS];
    const int number_count = spmd_processor_numbers(spmd, numbers);
    verifier.open = arena_array(spmd->arena, bool, spmd->transfer_count + 1);
    verifier.seen = arena_array(spmd->arena, bool, spmd->transfer_count + 1);
    verifier.live = arena_array(spmd->arena, bool, spmd->row_count + 1);
    for (int n = 0; n < spmd->nest_count; n++) {
        verifier.nest = n;
        memset(verifier.known, 0, sizeof verifier.known);
        for (int d = 0; d < spmd->dim_count; d++)
            if (spmd->nests[n].coordinates[d] >= 0)
                bind(&verifier, spmd->nests[n].coordinates[d]);
            else if (!int_is_closed(spmd->nests[n].fixed[d]))
                fail(&verifier, "a fixed coordinate depends on variables", "");
        for (int i = 0; i < number_count; i++)
            bind(&verifier, numbers[i]);
        verify_sequence(&verifier, spmd->nests[n].body);
    }
    for (int t = 0; t < spmd->transfer_count; t++)
        if (!verifier.seen[t])
            fail(&verifier, "a transfer is in no place", spmd->transfers[t].access->tensor->name);
    *why = verifier.why;
    return !verifier.why;
}
