// SPDX-License-Identifier: BSD-3-Clause
// Leaves with sparse tensors that set an element, or a row of them, to zero right before they add to it.
// Memory for the result is then written once, where it would be set to zero, read, and written again.
#include "lower/leaf.h"

// Whether every sparse operand stores all coordinates of the variable, so that a loop visits them all.
typedef struct {
    int var;
    bool full;
} Visit;

static void visit_access(void *context, const Access *access) {
    Visit *visit = context;
    const Tensor *tensor = access->tensor;
    for (int l = 0; tensor_is_sparse(tensor) && l < tensor->order; l++)
        if (access->vars[tensor->mode_order[l]] == visit->var)
            visit->full = visit->full && tensor->levels[l].format->full;
}

static bool visits_all(const Leaf *leaf, int var) {
    Visit visit = {var, true};
    expr_accesses(leaf->assign->rhs, visit_access, &visit);
    return visit.full;
}

// A loop over a variable of the statement, about which no command says anything.
static bool is_plain(const Cin *cin, const LeafLoop *loop) {
    return cin->vars[loop->var].source && !loop->thread && !loop->thread_reduces && !loop->thread_copies &&
           !loop->atomic && loop->definition_count == 0 && loop->guard_count == 0;
}

int leaf_zero_depth(const Spmd *spmd, const Leaf *leaf, const Stage *stage) {
    const Cin *cin = spmd->cin;
    const VarSet written = access_vars(leaf->assign->lhs);
    if (!leaf->sparse || !leaf->assign->accumulate || leaf->call || leaf->row >= 0 || leaf->guard_count > 0 ||
        stage->result == RESULT_ASSEMBLED || cin->assignment->accumulate || cin_nest_count(cin) > 1 ||
        spmd->dim_count > 0 || cin_nest(cin, leaf->nest).loop_count > leaf->loop_count)
        return -1;
    int outer = 0, inner = 0;
    while (outer < leaf->loop_count && written >> leaf->loops[outer].var & 1)
        outer++;
    for (int l = 0; l < leaf->loop_count; l++) {
        const LeafLoop *loop = &leaf->loops[l];
        inner += l > outer && (written >> loop->var & 1);
        // What the result shares with an operand has only positions that loops over that visit.
        if (!is_plain(cin, loop) || (l < outer && !stage->shared && !visits_all(leaf, loop->var)) ||
            (l > outer && (written >> loop->var & 1) && !int_is_closed(loop->upper)))
            return -1;
    }
    return outer == 0 || outer == leaf->loop_count || (stage->shared && inner > 0) ? -1 : outer;
}
