// SPDX-License-Identifier: BSD-3-Clause
// Loops of leaves with sparse tensors: each iterates over the coordinates that the right side needs, a set of
// unions and intersections of what its operands store (lattice.h). One stored level gives a loop over its
// positions, several give a merge loop over their coordinates in increasing order, and where every coordinate
// is needed, the loop runs over the extent. Other operands are looked up, or follow a loop whose coordinates
// increase. An absent operand has no positions, so loops further inside find no entries of it.
#include "lower/loops_sparse.h"
#include "lower/assembly_append.h"
#include "lower/bounds.h"
#include "relation/balance.h"

#include <string.h>

typedef struct {
    const LeafBuilder *leaf;
    const bool *chosen; // by operand; NULL: those that have a condition
} SetContext;

static int operand_in_set(void *context, const Access *access) {
    const SetContext *of = context;
    const int operand = build_operand(of->leaf, access, TRANSFER_FETCH);
    const bool chosen =
        operand >= 0 && (of->chosen ? of->chosen[operand] : of->leaf->operands[operand].present != NULL);
    return chosen ? operand : -1;
}

static const Set *make_set(const LeafBuilder *leaf, const bool *chosen, const Expr *expr) {
    SetContext context = {leaf, chosen};
    return set_of(leaf->builder->arena, expr, leaf->builder->type, operand_in_set, &context);
}

static const Value *set_condition(const LeafBuilder *leaf, const Set *set) {
    if (set->kind == SET_ALL)
        return NULL;
    if (set->kind == SET_OPERAND)
        return leaf->operands[set->operand].present;
    return value_op(leaf->builder->arena, set->kind == SET_BOTH ? VALUE_AND : VALUE_OR, VALUE_TYPE_CONDITION,
                    set_condition(leaf, set->left), set_condition(leaf, set->right));
}

const Value *build_presence(const LeafBuilder *leaf, const Expr *expr) {
    return leaf->operand_count ? set_condition(leaf, make_set(leaf, NULL, expr)) : NULL;
}

bool sparse_requires(const LeafBuilder *leaf, int operand) {
    bool *all = arena_array(leaf->builder->arena, bool, leaf->operand_count);
    for (int o = 0; o < leaf->operand_count; o++)
        all[o] = true;
    return set_requires(make_set(leaf, all, leaf->leaf->assign->rhs), operand);
}

// Sets what a loop with the source iterates over.
static void set_source(const SparseState *state, SparseLoop *loop, int source) {
    const LeafBuilder *leaf = state->leaf;
    loop->source = source;
    for (int o = 0; o < leaf->operand_count; o++) {
        const Operand *operand = &state->operands[o];
        loop->iterated[o] = !operand->written && sparse_stores(state, operand, source, &loop->offsets[o]);
    }
    loop->set = make_set(leaf, loop->iterated, leaf->leaf->assign->rhs);
}

// A loop over a part of a mode that is not contiguous, as block-cyclic modes have, iterates over what is
// stored of the mode, where the right side is bounded by that, and skips what is in other parts.
static void skip_others(const SparseState *state, SparseLoop *loop) {
    const Cin *cin = state->leaf->builder->spmd->cin;
    SparseLoop whole = *loop;
    bool contiguous = true;
    int var = loop->from->var, count = 0;
    for (; !cin->vars[var].source; count++) {
        const Relation *relation = cin_made_by(cin, var);
        if (!relation->kind->partitions || relation->child[1] != var || !state->known[relation->child[0]])
            return;
        contiguous = contiguous && relation->kind->contiguous;
        var = relation->parent[0];
    }
    if (contiguous)
        return;
    whole.parts = arena_array(sparse_arena(state), const Relation *, count);
    whole.part_count = count;
    for (int v = loop->from->var; count > 0; v = whole.parts[count]->parent[0])
        whole.parts[--count] = cin_made_by(cin, v);
    whole.first = NULL;
    set_source(state, &whole, var);
    if (whole.set->kind == SET_ALL)
        set_source(state, loop, loop->source);
    else
        *loop = whole;
}

// Where the loops around select contiguous parts, stored coordinates before and after those of the loop are
// not visited.
static void bound_part(const SparseState *state, SparseLoop *loop, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    LeafBuilder *leaf = state->leaf;
    const int var = loop->from->var;
    bool contiguous = false, known[MAX_VARS];
    for (int p = 0; p < loop->part_count; p++)
        contiguous = contiguous || loop->parts[p]->kind->contiguous;
    if (!contiguous)
        return;
    build_upper(leaf, loop->number, to);
    memcpy(known, state->known, sizeof known);
    known[var] = true;
    const IntExpr *zero = int_const(arena, 0), *one = int_const(arena, 1);
    const IntExpr *upper = leaf->uppers[loop->number];
    const IntExpr *ends[] = {zero, int_op(arena, INT_SUB, int_op(arena, INT_MAX, upper, one), one)};
    static const char *const names[] = {"first", "last"};
    const IntExpr *value = bounds_recover(leaf->builder->spmd->cin, loop->source, known);
    for (int e = 0; e < 2; e++) {
        const IntExpr **values = arena_array(arena, const IntExpr *, MAX_VARS);
        values[var] = ends[e];
        ends[e] = loop_append_let(leaf->builder->kernel, to, names[e], loop->source,
                                  value_index(arena, loop_substitute(arena, value, values, MAX_VARS)));
    }
    // No coordinates where there is no iteration.
    loop->first = ends[0];
    loop->after =
        int_op(arena, INT_ADD, ends[1], int_op(arena, INT_MAX, zero, int_op(arena, INT_MIN, upper, one)));
}

// A loop, and the operands over whose positions it iterates.
static SparseLoop make_loop(const SparseState *state, int number) {
    Arena *arena = sparse_arena(state);
    LeafBuilder *leaf = state->leaf;
    const Cin *cin = leaf->builder->spmd->cin;
    const LeafLoop *from = &leaf->leaf->loops[number];
    const int count = leaf->operand_count + 1;
    SparseLoop loop = {.from = from,
                       .number = number,
                       .source = cin->vars[from->var].source
                                     ? from->var
                                     : bounds_part_source(cin, leaf->leaf->assign, from->var),
                       .iterated = arena_array(arena, bool, count),
                       .offsets = arena_array(arena, const IntExpr *, count),
                       .begins = arena_array(arena, const IntExpr *, count),
                       .ends = arena_array(arena, const IntExpr *, count),
                       .positions = arena_array(arena, const IntExpr *, count),
                       .next = arena_array(arena, const IntExpr *, count),
                       .cursors = arena_array(arena, int, count)};
    // Its coordinates begin with the value of the source in the first iteration. Variables between the two
    // are defined before the source.
    const IntExpr **values = arena_array(arena, const IntExpr *, MAX_VARS);
    values[from->var] = int_const(arena, 0);
    for (int d = 0; d < from->definition_count; d++)
        values[from->definitions[d].var] =
            loop_substitute(arena, from->definitions[d].value, values, MAX_VARS);
    if (loop.source >= 0 && loop.source != from->var && !(loop.first = values[loop.source]))
        loop.source = -1;
    set_source(state, &loop, loop.source);
    skip_others(state, &loop);
    // Operands that the set does not mention are looked up, or advance with a loop over all coordinates.
    // Iterations of such a loop run in order, so it is neither vectorized, nor threaded, nor the outermost
    // one, which may become threaded.
    const bool advances = loop.set->kind == SET_ALL && (number > 0 || state->inner) &&
                          !sparse_has_threads(from) && !from->vector;
    for (int o = 0; o < leaf->operand_count; o++) {
        loop.iterated[o] = loop.iterated[o] && (advances || set_mentions(loop.set, o));
        loop.has_offsets = loop.has_offsets || (loop.iterated[o] && loop.offsets[o]);
    }
    return loop;
}

static void append_loop(const SparseState *state, int number, LoopBody *to);

static bool is_union(const Set *set) {
    return set->kind == SET_OPERAND ||
           (set->kind == SET_EITHER && is_union(set->left) && is_union(set->right));
}

// Nothing is computed where an operand that the right side needs is absent: `unchecked` ones are tested,
// unless they are what the loop iterates over, `certain`.
static LoopBody *append_condition(SparseState *state, bool unchecked, const Set *certain, LoopBody *to) {
    LeafBuilder *leaf = state->leaf;
    leaf->operands = state->operands;
    leaf->numbers = state->numbers;
    const Set *set = make_set(leaf, NULL, leaf->leaf->assign->rhs);
    const Value *condition = set_condition(leaf, set);
    if (condition &&
        (state->unchecked || (unchecked && !(certain && is_union(certain) && set_equal(set, certain)))))
        to = build_if(leaf, &condition, 1, to);
    state->unchecked = false;
    sparse_lookups(state, true, to);
    for (int o = 0; o < leaf->operand_count; o++) {
        Operand *operand = &state->operands[o];
        if (!operand->present || !set_requires(set, o))
            continue;
        operand->present = NULL;
        if (!operand->view->levels[operand->level - 1].type.nonunique)
            operand->end = NULL;
    }
    return to;
}

// Goes on with the coordinates of the parent of a relation in the part that its first child selects, where
// its second child is defined.
static LoopBody *append_part(const SparseState *state, const Relation *relation, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    const RelationTerms terms = cin_relation_terms(state->leaf->builder->spmd->cin, relation);
    const IntExpr *parent = int_var(arena, relation->parent[0]), *zero = int_const(arena, 0), *values[2];
    const Value *own[2];
    int count = 0;
    if (relation->kind->contiguous) {
        RelationTerms first = terms;
        first.value[0] = int_var(arena, relation->child[0]);
        first.value[1] = zero;
        values[1] = int_op(arena, INT_SUB, parent, relation->kind->recover(&first, 0));
        own[count++] = value_less(arena, int_const(arena, -1), values[1]);
        own[count++] = value_less(
            arena, values[1], relation->kind->balanced ? balance_length(arena, relation) : terms.child[1]);
    } else {
        relation->kind->children_of(&terms, parent, values);
        own[count++] = value_op(arena, VALUE_EQUAL, VALUE_TYPE_CONDITION, value_index(arena, values[0]),
                                value_index(arena, int_var(arena, relation->child[0])));
    }
    to = build_if(state->leaf, own, count, to);
    sparse_append(state, to, loop_let(arena, relation->child[1], value_index(arena, values[1])));
    return to;
}

void sparse_inside(SparseState *state, const SparseLoop *loop, LoopBody *to) {
    LeafBuilder *leaf = state->leaf;
    const LeafLoop *from = loop->from;
    VarSet defined = loop->defined;
    for (int p = 0; p < loop->part_count; p++) {
        to = append_part(state, loop->parts[p], to);
        defined |= (VarSet)1 << loop->parts[p]->child[1];
    }
    if (from->var >= 0)
        state->known[from->var] = true;
    for (int d = 0; d < from->definition_count; d++) {
        state->known[from->definitions[d].var] = true;
        if (!(defined >> from->definitions[d].var & 1))
            build_definitions(leaf, &from->definitions[d], 1, to);
    }
    to = build_guards(leaf, from->guards, from->guard_count, to);
    const bool unchecked = state->unchecked;
    state->unchecked = false;
    for (int o = 0; o < leaf->operand_count; o++)
        sparse_number(state, &state->operands[o], to);
    sparse_lookups(state, false, to);
    sparse_count_positions(state, to);
    LoopBody *inside = append_condition(state, unchecked, loop->set, to);
    const bool row = !state->inner && loop->number == leaf->assembly->row;
    const bool values = row && !leaf->builder->structure && build_stage(leaf->builder)->values_row >= 0;
    const int result = leaf->written;
    if (values)
        assembly_begin_values(leaf, inside);
    append_loop(state, loop->number + 1, inside);
    if (values)
        sparse_copy_values(state, result, inside);
    if (row && leaf->builder->structure)
        assembly_end_row(leaf, to);
}

// Whether an operand other than `o` has levels left that do not store every coordinate. If so, one iteration
// handles equal coordinates of `o`, as the other operand would be iterated over for each of them.
static bool others_store_coordinates(const SparseState *state, int o) {
    for (int other = 0; other < state->leaf->operand_count; other++) {
        const Operand *operand = &state->operands[other];
        if (other == o || operand->written)
            continue;
        for (int l = operand->level; l < operand->access->tensor->order; l++)
            if (!operand->view->levels[l].type.format->full)
                return true;
    }
    return false;
}

// Whether the loop iterates over single positions.
static bool iterates_positions(const SparseState *state, const SparseLoop *loop) {
    if (loop->set->kind != SET_OPERAND)
        return false;
    const Operand *operand = &state->operands[loop->set->operand];
    return !sparse_level(operand)->type.nonunique || !(others_store_coordinates(state, loop->set->operand) ||
                                                       assembly_joins(state->leaf, loop->number, operand));
}

// Whether iterations of a loop that has been made can be divided: none depends on the one before.
static bool is_divisible(const SparseState *state, const SparseLoop *loop, const LoopBody *made) {
    bool follows = false;
    for (int o = 0; o < state->leaf->operand_count && loop->set->kind == SET_ALL; o++)
        follows = follows || loop->iterated[o];
    return !follows && made->count > 0 && made->items[made->count - 1]->kind == LOOP_FOR;
}

static void append_made_loop(const SparseState *state, int number, LoopBody *to) {
    LeafBuilder *leaf = state->leaf;
    SparseLoop loop = make_loop(state, number);
    LoopBody *const outside = to;
    LoopBody portions = {0};
    const bool outermost =
        leaf->builder->structure && leaf->assembly->kind != ASSEMBLY_ANY && number == leaf->assembly->outer;
    if (outermost)
        to = &portions;
    if (loop.set->kind == SET_ALL || loop.first || (loop.has_offsets && loop.part_count == 0))
        build_upper(leaf, number, to);
    bound_part(state, &loop, to);
    const bool positions = iterates_positions(state, &loop);
    if (loop.set->kind == SET_ALL)
        sparse_coordinate_loop(state, &loop, to);
    else if (positions)
        sparse_position_loop(state, &loop, to);
    else
        sparse_merge_loop(state, &loop, to);
    if (!outermost)
        return;
    const Level *level = positions ? sparse_level(&state->operands[loop.set->operand]) : NULL;
    assembly_portions(leaf, &portions, is_divisible(state, &loop, &portions),
                      level && level->type.nonunique ? level : NULL, outside);
}

static void append_stored_loop(const SparseState *state, int number, const Relation *relation, LoopBody *to) {
    SparseLoop loop = make_loop(state, number);
    build_upper(state->leaf, number, to);
    sparse_stored_loop(state, &loop, relation, to);
}

// Elements that loops from `number` inwards add to are set to zero.
static void append_zeros(const SparseState *state, int number, LoopBody *to) {
    LeafBuilder *leaf = state->leaf;
    LoopKernel *kernel = leaf->builder->kernel;
    Arena *arena = kernel->arena;
    const Access *lhs = leaf->leaf->assign->lhs;
    const IntExpr **values = arena_array(arena, const IntExpr *, MAX_VARS);
    leaf->operands = state->operands;
    leaf->numbers = state->numbers;
    for (int l = number; l < leaf->leaf->loop_count; l++) {
        const LeafLoop *loop = &leaf->leaf->loops[l];
        if (!(access_vars(lhs) >> loop->var & 1))
            continue;
        LoopNode *node = loop_node(arena, LOOP_FOR);
        node->var = loop_add_index(kernel, "zero", loop->var);
        node->lower = int_const(arena, 0);
        node->upper = loop->upper;
        node->execution.distinct = true;
        node->execution.work = int_const(arena, 0); // beside what is added
        values[loop->var] = int_var(arena, node->var);
        sparse_append(state, to, node);
        to = &node->body;
    }
    const IntExpr *position = build_position(leaf, lhs, TRANSFER_REDUCE);
    sparse_append(state, to,
                  loop_update(arena, LOOP_STORE, leaf->written,
                              loop_substitute(arena, position, values, MAX_VARS),
                              value_zero(arena, (int)lhs->tensor->type)));
}

static void append_loop(const SparseState *state, int number, LoopBody *to) {
    LeafBuilder *leaf = state->leaf;
    const SpmdNest *nest = &leaf->builder->spmd->nests[leaf->leaf->nest];
    if (number == nest->zero_depth && !leaf->builder->structure)
        append_zeros(state, number, to);
    if (number == leaf->leaf->loop_count) {
        leaf->operands = state->operands;
        leaf->numbers = state->numbers;
        if (leaf->leaf->row >= 0)
            build_row(leaf, state, state->threads, to);
        else if (leaf->builder->structure)
            assembly_entry(leaf, to);
        else
            build_innermost(leaf, to);
        return;
    }
    if (leaf->builder->structure &&
        !assembly_depends(leaf->builder->spmd->cin, leaf->leaf, leaf->leaf->loops[number].var)) {
        const VarSet omitted = leaf->builder->omitted;
        leaf->builder->omitted |= (VarSet)1 << leaf->leaf->loops[number].var;
        // What follows from its variable is left out, too.
        build_definitions(leaf, leaf->leaf->loops[number].definitions,
                          leaf->leaf->loops[number].definition_count, to);
        append_loop(state, number + 1, to);
        leaf->builder->omitted = omitted;
        return;
    }
    if (!sparse_check_positions(state, leaf->leaf->loops[number].var))
        return;
    const Relation *stored = sparse_stored_relation(state, &leaf->leaf->loops[number]);
    if (stored)
        append_stored_loop(state, number, stored, to);
    else
        append_made_loop(state, number, to);
}

static void forget_loops(const Leaf *leaf, bool *known) {
    for (int l = 0; l < leaf->loop_count; l++)
        known[leaf->loops[l].var] = false;
    for (int f = 0; f < leaf->fill_count; f++)
        forget_loops(leaf->fills[f], known);
    if (leaf->reader)
        forget_loops(leaf->reader, known);
}

// What has a value before the loops of the leaf: coordinates of the processor, and loops around it.
static void set_known(SparseState *state, const SparseState *outside) {
    const LeafBuilder *leaf = state->leaf;
    const Nest nest = cin_nest(leaf->builder->spmd->cin, leaf->leaf->nest);
    if (outside)
        memcpy(state->known, outside->known, sizeof state->known);
    for (int i = 0; !outside && i < nest.loop_count; i++)
        state->known[nest.loops[i]] = true;
    forget_loops(leaf->leaf, state->known);
    for (int d = 0; d < leaf->leaf->definition_count; d++)
        state->known[leaf->leaf->definitions[d].var] = true;
}

void build_sparse_loops(LeafBuilder *leaf, const SparseState *outside, LoopBody *to) {
    SparseState state = {.leaf = leaf, .operands = sparse_operands(leaf, outside)};
    const int transfer_count = leaf->builder->spmd->transfer_count;
    state.numbers = arena_array(leaf->builder->arena, Numbers, transfer_count);
    if (outside) {
        memcpy(state.numbers, outside->numbers, sizeof(Numbers) * (size_t)transfer_count);
        state.inner = true;
        state.threads = outside->threads;
        state.counts = outside->counts;
        // Loops outside may be there for other leaves than this one.
        for (int o = 0; o < leaf->operand_count; o++)
            state.unchecked = state.unchecked || state.operands[o].present;
    } else
        assembly_begin(leaf);
    set_known(&state, outside);
    sparse_lookups(&state, false, to);
    sparse_count_positions(&state, to);
    append_loop(&state, 0, append_condition(&state, false, NULL, to));
}
