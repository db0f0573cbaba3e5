// SPDX-License-Identifier: BSD-3-Clause
#include "lower/assembly.h"

#include "lower/bounds.h"

typedef struct {
    const Cin *cin;
    int loop;
    bool depends;
} Dependence;

// Whether there are iterations in which an index is not within its mode.
static bool leaves_mode(const Cin *cin, int index) {
    const Relation *relation = cin_is_index(cin, index) ? cin_replaced_by(cin, index) : NULL;
    return relation && !(bounds_index_starts(cin, relation) && bounds_index_ends(cin, relation));
}

static void find_dependence(void *context, const Access *access) {
    Dependence *dependence = context;
    for (int m = 0; m < access->tensor->order; m++)
        if (tensor_is_sparse(access->tensor) || leaves_mode(dependence->cin, access->vars[m]))
            dependence->depends =
                dependence->depends || bounds_depends(dependence->cin, access->vars[m], dependence->loop);
}

static void find_dependences(Dependence *dependence, const Leaf *leaf) {
    find_dependence(dependence, leaf->assign->lhs);
    expr_accesses(leaf->assign->rhs, find_dependence, dependence);
    for (int f = 0; f < leaf->fill_count; f++)
        find_dependences(dependence, leaf->fills[f]);
    if (leaf->reader)
        find_dependences(dependence, leaf->reader);
}

bool assembly_depends(const Cin *cin, const Leaf *leaf, int loop) {
    Dependence dependence = {cin, loop, false};
    find_dependences(&dependence, leaf);
    return dependence.depends;
}

// The loops of the nest that are outside of its leaf and are executed one iteration after the other.
static int sequential_loops(const Spmd *spmd, const Leaf *leaf) {
    int count = cin_nest(spmd->cin, leaf->nest).loop_count - leaf->loop_count;
    for (int d = 0; d < spmd->dim_count; d++)
        count -= spmd->nests[leaf->nest].coordinates[d] >= 0;
    return count;
}

// Whether each dimension of the execution grid divides a variable of the levels above the last.
static bool has_whole_rows(const Spmd *spmd, const Leaf *leaf) {
    const Access *result = leaf->assign->lhs;
    const int last = result->vars[result->tensor->mode_order[result->tensor->order - 1]];
    bool whole = true;
    for (int d = 0; d < spmd->dim_count; d++) {
        int var = spmd->nests[leaf->nest].coordinates[d];
        const Relation *relation;
        while (var >= 0 && (relation = cin_made_by(spmd->cin, var)) && relation->kind->partitions)
            var = relation->parent[0];
        whole = whole && (var < 0 || (var != last && (access_vars(result) >> var & 1)));
    }
    return whole;
}

static void find_nonunique(void *context, const Access *access) {
    for (int l = 0; l < access->tensor->order; l++)
        *(bool *)context |= access->tensor->levels[l].nonunique;
}

// Whether a variable grows with each iteration of a loop of the leaf, and no other one there changes it.
static bool increases_alone(const Cin *cin, const Leaf *leaf, int var, int loop) {
    for (int l = 0; l < leaf->loop_count; l++)
        if (l != loop && bounds_depends(cin, var, leaf->loops[l].var))
            return false;
    return bounds_increases(cin, var, leaf->loops[loop].var);
}

Assembly assembly_of(const Spmd *spmd, const Leaf *leaf) {
    Assembly assembly = {.outer = -1, .row = -1};
    const Stage *stage = spmd_stage(spmd, leaf->nest);
    const Access *result = leaf->assign->lhs;
    int writers = 0;
    for (int n = 0; n < spmd->nest_count; n++)
        writers += spmd->nests[n].assign->lhs->tensor == stage->target;
    // Steps are executed one after the other, and their entries are in no order.
    if (stage->result != RESULT_ASSEMBLED || result->tensor != stage->target || writers > 1 ||
        (result->tensor == spmd->cin->assignment->lhs->tensor &&
         assignment_reads_target(spmd->cin->assignment)) ||
        sequential_loops(spmd, leaf) > 0 || leaf->row >= 0)
        return assembly;
    assembly.lists = append_lists(result->tensor->order, result->tensor->levels);
    const int last = append_last_level(&assembly.lists);
    int count = 0; // loops on which entries depend
    bool fits = last >= 0;
    for (int l = 0; l < leaf->loop_count; l++) {
        if (!assembly_depends(spmd->cin, leaf, leaf->loops[l].var))
            continue;
        if (count++ == 0)
            assembly.outer = l;
        fits = fits && assembly.loop_count <= last &&
               increases_alone(spmd->cin, leaf, result->vars[result->tensor->mode_order[assembly.loop_count]],
                               l);
        if (fits)
            assembly.loops[assembly.loop_count++] = l;
    }
    assembly.whole_rows = has_whole_rows(spmd, leaf);
    assembly.repeats = count > last + 1;
    expr_accesses(leaf->assign->rhs, find_nonunique, &assembly.divides);
    if (last >= 0 && assembly.loop_count == last + 1)
        assembly.kind = ASSEMBLY_ORDERED;
    if (last > 0 && assembly.loop_count == last) {
        assembly.kind = ASSEMBLY_ROWS;
        assembly.row = assembly.loops[last - 1];
    }
    return assembly;
}

const char *assembly_text(const Assembly *assembly) {
    static const char *const texts[] = {[ASSEMBLY_ANY] = "are sorted once they have been found",
                                        [ASSEMBLY_ORDERED] =
                                            "are found in the order in which they are stored",
                                        [ASSEMBLY_ROWS] = "are found row by row, and sorted within a row"};
    return texts[assembly->kind];
}

bool assembly_has_values_row(const Spmd *spmd, const Leaf *leaf, const Assembly *assembly,
                             const int64_t *params, RowWorkspace *row) {
    // Elements are added to all over the row: a longer one would be outside of caches and TLB, and take
    // memory of each thread, where a search among few entries does with less.
    enum { MOST_BYTES = 1 << 25 };
    const Tensor *result = leaf->assign->lhs->tensor;
    const int last = result->order - 1;
    int64_t extent;
    if (assembly->kind != ASSEMBLY_ROWS || assembly->loop_count != last || !leaf->assign->accumulate ||
        !params)
        return false;
    for (int l = 0; l < leaf->loop_count; l++) {
        const LeafLoop *loop = &leaf->loops[l];
        // The row is the memory of one thread.
        if (loop->partials || loop->thread_reduces || (loop->thread && l > assembly->row) ||
            (loop->vector && l <= assembly->row))
            return false;
    }
    *row = (RowWorkspace){.tensor = result, .at = leaf->loops[assembly->row].var, .stored = true};
    for (int m = 0; m < result->order; m++) {
        row->first[m] = int_const(spmd->arena, 0);
        row->extents[m] = int_const(spmd->arena, 1);
    }
    row->extents[result->mode_order[last]] = result->extents[result->mode_order[last]];
    return int_eval(result->extents[result->mode_order[last]], params, NULL, &extent) && extent > 1 &&
           extent <= MOST_BYTES / (int64_t)type_info(result->type)->size;
}

// In a row everything inside is one iteration. Else the operand may have the loops inside as its own levels,
// so that its entries come in order.
bool assembly_joins(const LeafBuilder *leaf, int loop, const Operand *operand) {
    const Assembly *assembly = leaf->assembly;
    if (assembly->kind == ASSEMBLY_ANY ||
        (!leaf->builder->structure && build_stage(leaf->builder)->values_row < 0))
        return false;
    if (assembly->kind == ASSEMBLY_ROWS)
        return loop <= assembly->row;
    const Access *result = leaf->leaf->assign->lhs;
    const Tensor *tensor = operand->access->tensor;
    int level = operand->level;
    for (int i = 0; i < assembly->loop_count; i++) {
        if (assembly->loops[i] <= loop)
            continue;
        if (++level >= tensor->order ||
            operand->access->vars[tensor->mode_order[level]] != result->vars[result->tensor->mode_order[i]])
            return true;
    }
    return false;
}

bool assembly_is_consecutive(const LeafBuilder *leaf, const LeafLoop *loop, int number,
                             const Operand *operand) {
    const Assembly *assembly = leaf->assembly;
    return operand->written && assembly->kind == ASSEMBLY_ORDERED && assembly->whole_rows &&
           !assembly->repeats && !assembly->divides && number > assembly->outer &&
           number == assembly->loops[assembly->loop_count - 1] &&
           operand->level == assembly->loop_count - 1 && !loop->thread && !loop->thread_reduces &&
           !loop->partials && !loop->vector && !loop->unroll;
}
