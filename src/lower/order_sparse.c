// SPDX-License-Identifier: BSD-3-Clause
// The order of a leaf's loops where some tensor is sparse: what a level stores below a position can be gone
// through only where that position is known, so loops over such levels run in the order of storage, from the
// outside, and the others inside of them (Kjolstad et al. 2017, section 4.2; loops over a dense level stand
// further outside only where a level below it needs that).
#include "lower/bounds.h"
#include "lower/leaf.h"

typedef struct {
    const LeafSite *site;
    VarSet before[MAX_VARS];        // by variable of a loop: those that have to be outside of it
    const Access *access[MAX_VARS]; // that asks for them
    VarSet stored; // loops over levels that do not store every coordinate, and over those above
} Constraints;

// The loops from which the value of a variable follows.
static VarSet loops_of(const LeafSite *site, int var) {
    VarSet loops = 0;
    for (int i = 0; i < site->loop_count; i++)
        if (bounds_depends(site->cin, var, site->loops[i]))
            loops |= (VarSet)1 << site->loops[i];
    return loops;
}

// The loop that a level is gone through in: of those from which its coordinate follows, the one that comes
// last in the statement's own order, as parts of a loop stand outside of what runs through them.
static int last_of(const LeafSite *site, VarSet loops) {
    int last = -1;
    for (int i = 0; i < site->loop_count; i++)
        if (loops >> site->loops[i] & 1)
            last = site->loops[i];
    return last;
}

static void constrain(void *context, const Access *access) {
    Constraints *constraints = context;
    const Tensor *tensor = access->tensor;
    VarSet above = 0;
    for (int l = 0; l < tensor->order; l++) {
        const VarSet own = loops_of(constraints->site, access->vars[tensor->mode_order[l]]);
        if (!tensor->levels[l].format->full) {
            const int last = last_of(constraints->site, own);
            if (last >= 0) {
                constraints->before[last] |= (above | own) & ~((VarSet)1 << last);
                constraints->access[last] = access;
            }
            constraints->stored |= above | own;
        }
        above |= own;
    }
}

static Constraints constraints_of(const LeafSite *site) {
    Constraints constraints = {.site = site};
    expr_accesses(site->assign->rhs, constrain, &constraints);
    return constraints;
}

void leaf_order_sparse(const LeafSite *site, int *loops) {
    const Constraints constraints = constraints_of(site);
    int open[MAX_VARS];
    VarSet placed = 0;
    leaf_order(site, open);
    for (int count = 0; count < site->loop_count; count++) {
        // Of loops over what is stored, the first as the statement has them; where no order fits, some
        // operand is looked up. Then the others.
        int next = -1;
        for (int pass = 0; pass < 3 && next < 0; pass++) {
            const int *from = pass < 2 ? site->loops : open;
            for (int i = 0; i < site->loop_count && next < 0; i++) {
                const int loop = from[i];
                const bool fits = !(constraints.before[loop] & ~placed) || pass == 1;
                const bool stored = constraints.stored >> loop & 1;
                if (!(placed >> loop & 1) && fits && (stored || pass == 2))
                    next = loop;
            }
        }
        placed |= (VarSet)1 << next;
        loops[count] = next;
    }
}

bool leaf_check_order(const LeafSite *site, const int *loops) {
    const Constraints constraints = constraints_of(site);
    VarSet placed = 0;
    for (int i = 0; i < site->loop_count; i++) {
        const VarSet missing = constraints.before[loops[i]] & ~placed;
        placed |= (VarSet)1 << loops[i];
        if (!missing)
            continue;
        const int outer = __builtin_ctzll(missing);
        const Access *access = constraints.access[loops[i]];
        return diagnostics_error(
            site->diagnostics, access->span,
            "loop '%s' cannot run outside of '%s': '%s' stores its coordinates below those of "
            "'%s'; reorder the loops, or store '%s' in another order of modes",
            site->cin->vars[loops[i]].name, site->cin->vars[outer].name, access->tensor->name,
            site->cin->vars[outer].name, access->tensor->name);
    }
    return true;
}

static void find_sparse(void *context, const Access *access) {
    const Tensor **sparse = context;
    if (!*sparse && tensor_is_sparse(access->tensor))
        *sparse = access->tensor;
}

const Tensor *leaf_sparse_tensor(const LeafSite *site) {
    const Tensor *sparse = NULL;
    find_sparse(&sparse, site->assign->lhs);
    expr_accesses(site->assign->rhs, find_sparse, &sparse);
    return sparse;
}
