// SPDX-License-Identifier: BSD-3-Clause
// Leaves with sparse tensors that set an element, or a row of them, to zero right before they add to it, and
// contractions, on a GPU all calls but axpy, that store what they sum. Memory for the result is then written
// once, where it would be set to zero, read, and written again.
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

static bool is_distributed(const Cin *cin, int var) {
    for (int64_t d = 0; d < cin->directives.count; d++)
        if (cin->directives.items[d]->kind == DIRECTIVE_DISTRIBUTE &&
            cin->directives.items[d]->loops[0] == var)
            return true;
    return false;
}

// The relation that divides a variable into contiguous parts, of which each processor has one.
static const Relation *division_of(const Cin *cin, int child, int var) {
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        if (relation->kind->partitions && relation->kind->contiguous && relation->child[child] == var &&
            is_distributed(cin, relation->child[0]))
            return relation;
    }
    return NULL;
}

// The variable of the statement of which a loop has the coordinates of a processor, or all; -1: it is not
// known to have these.
static int source_of(const Cin *cin, int var) {
    while (var >= 0 && !cin->vars[var].source) {
        const Relation *division = division_of(cin, 1, var);
        var = division ? division->parent[0] : -1;
    }
    return var;
}

static bool is_in_leaf(const Leaf *leaf, int var) {
    for (int l = 0; l < leaf->loop_count; l++)
        if (leaf->loops[l].var == var)
            return true;
    return false;
}

// Whether no two processors, and no two executions of the leaf, add to the same element: all loops around it
// are distributed, and divide variables of the result.
static bool is_only_writer(const Cin *cin, const Leaf *leaf, VarSet written) {
    const Nest nest = cin_nest(cin, leaf->nest);
    for (int i = 0; i < nest.loop_count; i++) {
        if (is_in_leaf(leaf, nest.loops[i]))
            continue;
        const Relation *division = division_of(cin, 0, nest.loops[i]);
        const int source = division ? source_of(cin, division->parent[0]) : -1;
        if (source < 0 || !(written >> source & 1))
            return false;
    }
    return true;
}

// A loop about which no command says who executes it, over a variable of the statement or what a processor
// has of it.
static bool is_plain(const Cin *cin, const LeafLoop *loop) {
    return source_of(cin, loop->var) >= 0 && !loop->thread && !loop->thread_reduces && !loop->partials &&
           !loop->atomic && loop->guard_count == 0 &&
           (!cin->vars[loop->var].source || loop->definition_count == 0);
}

int leaf_zero_depth(const Spmd *spmd, const Leaf *leaf, const Stage *stage) {
    const Cin *cin = spmd->cin;
    const VarSet written = access_vars(leaf->assign->lhs);
    // Ranks may have more entries of an operand that is not placed than those that they use.
    const bool complete = spmd->dim_count == 0 || !stage->shared || stage->target->placement;
    const bool contracts = leaf->call && (leaf->call->contraction || spmd->on_gpu) &&
                           leaf->call->kernel != KERNEL_AXPY && !leaf->sparse &&
                           leaf->call_loops == leaf->loop_count;
    if ((!contracts && (!leaf->sparse || leaf->call)) || !leaf->assign->accumulate ||
        leaf->assign->reducer != REDUCER_SUM || leaf->row >= 0 || leaf->guard_count > 0 ||
        stage->result == RESULT_ASSEMBLED || assignment_reads_target(cin->assignment) ||
        cin_nest_count(cin) > 1 || !complete || !is_only_writer(cin, leaf, written))
        return -1;
    for (int l = 0; contracts && l < leaf->loop_count; l++)
        if (!is_plain(cin, &leaf->loops[l]))
            return -1;
    if (contracts)
        return 0;
    int outer = 0, inner = 0;
    while (outer < leaf->loop_count && is_plain(cin, &leaf->loops[outer]) &&
           written >> source_of(cin, leaf->loops[outer].var) & 1)
        outer++;
    for (int l = 0; l < leaf->loop_count; l++) {
        const LeafLoop *loop = &leaf->loops[l];
        if (!is_plain(cin, loop))
            return -1;
        const int var = source_of(cin, loop->var);
        const bool writes = written >> var & 1;
        inner += l > outer && writes;
        // What the result shares with an operand has only positions that loops over that visit.
        if ((l < outer && !stage->shared && !visits_all(leaf, var)) ||
            (l > outer && writes && (var != loop->var || !int_is_closed(loop->upper))))
            return -1;
    }
    return outer == 0 || outer == leaf->loop_count || (stage->shared && inner > 0) ? -1 : outer;
}
