// SPDX-License-Identifier: BSD-3-Clause
#include "lower/assembly_append.h"
#include "lower/loops_sparse.h"

SparseState sparse_copy_state(const SparseState *state) {
    SparseState copy = *state;
    copy.operands = arena_copy(sparse_arena(state), state->operands,
                               sizeof(Operand) * (size_t)state->leaf->operand_count);
    copy.numbers = arena_copy(sparse_arena(state), state->numbers,
                              sizeof(Numbers) * (size_t)state->leaf->builder->spmd->transfer_count);
    return copy;
}

// The positions of an operand that a loop iterates over: those below its position in the level above whose
// coordinates are among those of the loop.
static void append_positions(const SparseState *state, SparseLoop *loop, int o, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    const Operand *operand = &state->operands[o];
    const Level *level = sparse_level(operand);
    sparse_range(state, operand, &loop->begins[o], &loop->ends[o], to);
    const IntExpr *low = loop->low ? loop->low : loop->first;
    if (!low && !loop->offsets[o])
        return;
    low = sparse_to_stored(state, loop, o, low ? low : int_const(arena, 0));
    const IntExpr *after =
        sparse_to_stored(state, loop, o, loop->low ? loop->high : sparse_after(state, loop));
    const IntExpr *begin =
        sparse_let_index(state, operand, "from",
                         level->type.format->search(arena, level, loop->begins[o], loop->ends[o], low), to);
    loop->ends[o] = sparse_let_index(
        state, operand, "to", level->type.format->search(arena, level, begin, loop->ends[o], after), to);
    loop->begins[o] = begin;
}

// Diagnoses a command about a loop that cannot be carried out.
static void refuse(const SparseState *state, const SparseLoop *loop, const char *why) {
    Builder *builder = state->leaf->builder;
    const Cin *cin = builder->spmd->cin;
    const int var = loop->from->var;
    const Directive *unroll = cin_directive(cin, DIRECTIVE_UNROLL, var);
    const Directive *directive = cin_directive(cin, DIRECTIVE_PARALLELIZE, var);
    if (builder->structure)
        return;
    builder->refused = true;
    diagnostics_error(builder->diagnostics, (directive ? directive : unroll)->span, "cannot %s '%s': %s",
                      directive ? "parallelize" : "unroll", cin->vars[var].name, why);
}

void sparse_set_execution(const SparseState *state, const SparseLoop *loop, bool unique, LoopNode *node) {
    const LeafLoop *from = loop->from;
    const bool structure = state->leaf->builder->structure;
    node->execution.distinct =
        structure ? state->leaf->assembly->kind == ASSEMBLY_ANY : from->distinct && unique;
    if (structure)
        return;
    node->execution.thread = sparse_has_threads(from) && (from->partials || !state->threads);
    node->execution.vector = from->vector;
    node->execution.unroll = from->unroll;
}

static void define(const SparseState *state, SparseLoop *loop, int var, const Value *value, LoopBody *to) {
    sparse_append(state, to, loop_let(sparse_arena(state), var, value));
    loop->defined |= (VarSet)1 << var;
}

// Defines the variable of the coordinate, and from it the loop's own variable.
static void append_coordinate(const SparseState *state, SparseLoop *loop, const Value *coordinate,
                              LoopBody *to) {
    Arena *arena = sparse_arena(state);
    define(state, loop, loop->source, coordinate, to);
    if (loop->source != loop->from->var && loop->part_count == 0)
        sparse_append(
            state, to,
            loop_let(arena, loop->from->var,
                     value_index(arena, int_op(arena, INT_SUB, int_var(arena, loop->source), loop->first))));
}

// Cursors of the operands, at their first positions.
static void append_cursors(const SparseState *state, SparseLoop *loop, LoopBody *to) {
    for (int o = 0; o < state->leaf->operand_count; o++) {
        if (!loop->iterated[o])
            continue;
        append_positions(state, loop, o, to);
        const Operand *operand = &state->operands[o];
        loop->cursors[o] = sparse_cursor(state, operand, loop->begins[o], to);
    }
}

static const Value *cursor(const SparseState *state, const SparseLoop *loop, int o) {
    return sparse_load_cursor(sparse_arena(state), loop->cursors[o]);
}

static void append_advances(const SparseState *state, const SparseLoop *loop, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    for (int o = 0; o < state->leaf->operand_count; o++)
        if (loop->iterated[o])
            sparse_append(
                state, to,
                loop_update(arena, LOOP_STORE, loop->cursors[o], NULL, value_index(arena, loop->next[o])));
}

// Whether an operand stores the coordinate of the loop, and at which position.
static void append_presence(SparseState *inside, SparseLoop *loop, int o, const Value *found, LoopBody *to) {
    Operand *operand = &inside->operands[o];
    found = sparse_let_condition(inside, operand, found, to);
    loop->next[o] = sparse_next(inside, operand, loop->positions[o], loop->ends[o], found, to);
    operand->begin = loop->positions[o];
    operand->end = loop->next[o];
    operand->present = found;
    sparse_pass_level(operand);
    inside->unchecked = true;
}

static const IntExpr *append_position(const SparseState *state, const SparseLoop *loop, int o, LoopBody *to) {
    return sparse_let_index(state, &state->operands[o], "p", cursor(state, loop, o), to);
}

// Whether the iterations of a loop may have to run in order: no command says anything else, and a loop
// outside of it has iterations for threads.
static bool may_run_in_order(const SparseState *state, const SparseLoop *loop) {
    bool shared = state->threads;
    for (int l = 0; l < loop->number; l++)
        shared = shared || state->leaf->leaf->loops[l].distinct;
    return shared && !sparse_has_threads(loop->from) && !loop->from->vector && !loop->from->unroll;
}

// Operands that the loop does not iterate over, but whose coordinates it has in increasing order: they get a
// cursor, from which each search begins, or `counted` only, which needs no search. Whether there is one.
static bool append_followed(SparseState *inside, const SparseLoop *loop, bool counted, LoopBody *to) {
    bool any = false;
    for (int o = 0; o < inside->leaf->operand_count; o++) {
        Operand *operand = &inside->operands[o];
        const Level *level = sparse_level(operand);
        const IntExpr *offset;
        if (loop->iterated[o] || !sparse_stores(inside, operand, loop->source, &offset) ||
            level->type.nonunique || assembly_adds_to_row(inside->leaf, operand))
            continue;
        operand->consecutive = assembly_is_consecutive(inside->leaf, loop->from, loop->number, operand);
        if (counted && !operand->consecutive)
            continue;
        any = true;
        const IntExpr *begin;
        sparse_range(inside, operand, &begin, &operand->cursor_end, to);
        operand->cursor = sparse_cursor(inside, operand, begin, to);
    }
    return any;
}

void sparse_coordinate_loop(const SparseState *state, SparseLoop *loop, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    LeafBuilder *leaf = state->leaf;
    SparseState inside = sparse_copy_state(state);
    append_cursors(state, loop, to);
    const bool follows = append_followed(&inside, loop, !may_run_in_order(state, loop), to);
    LoopNode *node = loop_node(arena, LOOP_FOR);
    node->var = loop->from->var;
    node->lower = int_const(arena, 0);
    node->upper = leaf->uppers[loop->number];
    bool advances = false;
    for (int o = 0; o < leaf->operand_count; o++)
        advances = advances || loop->iterated[o];
    sparse_set_execution(state, loop, !advances, node);
    node->execution.distinct = node->execution.distinct && !advances && !follows;
    inside.threads = state->threads || node->execution.thread;
    LoopBody *body = &node->body;
    if (loop->number == 0 && !state->inner && node->execution.distinct)
        node->first = loop->first ? loop->first : int_const(arena, 0);
    const IntExpr *coordinate =
        int_op(arena, INT_ADD, loop->first ? loop->first : int_const(arena, 0), int_var(arena, node->var));
    for (int o = 0; o < leaf->operand_count; o++) {
        if (!loop->iterated[o])
            continue;
        const Level *level = sparse_level(&state->operands[o]);
        loop->positions[o] = append_position(state, loop, o, body);
        append_presence(&inside, loop, o,
                        level->type.format->found(arena, level, loop->positions[o], loop->ends[o],
                                                  sparse_to_stored(state, loop, o, coordinate)),
                        body);
    }
    sparse_inside(&inside, loop, body);
    append_advances(state, loop, body);
    sparse_append(state, to, node);
}

void sparse_position_loop(const SparseState *state, SparseLoop *loop, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    const int o = loop->set->operand;
    SparseState inside = sparse_copy_state(state);
    Operand *operand = &inside.operands[o];
    const Level *level = sparse_level(operand);
    LoopNode *parts = NULL;
    LoopBody *const outside = to;
    if (level->type.nonunique && !sparse_has_threads(loop->from) && !state->leaf->builder->structure)
        parts = sparse_coordinate_parts(state, loop, false, to);
    to = parts ? &parts->body : to;
    append_positions(state, loop, o, to);
    // Of a branchless level there is one iteration, in which nothing advances.
    const bool once = level->type.format->branchless && !state->operands[o].end && !loop->first &&
                      !loop->offsets[o] && !state->inner;
    const bool follows = append_followed(&inside, loop, once || !may_run_in_order(state, loop), to);
    operand->begin = int_var(arena, sparse_var(state, operand, "p", VALUE_TYPE_INDEX));
    operand->end = NULL;
    operand->present = NULL;
    LoopBody *body = to;
    LoopNode *node = NULL;
    if (once) {
        sparse_append(state, to,
                      loop_let(arena, (int)operand->begin->value, value_index(arena, loop->begins[o])));
        if (sparse_has_threads(loop->from) || loop->from->vector || loop->from->unroll)
            refuse(state, loop, "one coordinate is stored in each iteration of the loop outside of it");
    } else {
        node = loop_node(arena, LOOP_FOR);
        node->var = (int)operand->begin->value;
        node->lower = loop->begins[o];
        node->upper = loop->ends[o];
        sparse_set_execution(state, loop, !level->type.nonunique, node);
        node->execution.distinct = node->execution.distinct && !follows;
        inside.threads = state->threads || node->execution.thread;
        body = &node->body;
    }
    const Value *coordinate = level->type.format->coordinate(arena, level, operand->begin);
    if (loop->offsets[o]) {
        const int index = operand->access->vars[level->mode];
        define(state, loop, index, coordinate, body);
        coordinate = value_index(arena, sparse_from_stored(state, loop, o, int_var(arena, index)));
    }
    append_coordinate(state, loop, coordinate, body);
    sparse_pass_level(operand);
    sparse_inside(&inside, loop, body);
    if (node)
        sparse_append(state, to, node);
    if (parts)
        sparse_append(state, outside, parts);
}

// Whether elements of the set may remain: whether the operands that one needs are not at their ends.
static const Value *more(const SparseState *state, const SparseLoop *loop, const Set *set) {
    Arena *arena = sparse_arena(state);
    if (set->kind == SET_OPERAND)
        return value_op(arena, VALUE_LESS, VALUE_TYPE_CONDITION, cursor(state, loop, set->operand),
                        value_index(arena, loop->ends[set->operand]));
    return value_op(arena, set->kind == SET_BOTH ? VALUE_AND : VALUE_OR, VALUE_TYPE_CONDITION,
                    more(state, loop, set->left), more(state, loop, set->right));
}

// Whether the set is an intersection of operands.
static bool is_intersection(const Set *set) {
    return set->kind == SET_OPERAND ||
           (set->kind == SET_BOTH && is_intersection(set->left) && is_intersection(set->right));
}

// Where not all operands store the coordinate, an operand jumps to its first one that is not less.
static void append_jump(const SparseState *state, SparseLoop *loop, int o, const Value *all, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    const Operand *operand = &state->operands[o];
    const Level *level = sparse_level(operand);
    const Value *jump =
        level->type.format->search(arena, level, loop->positions[o], loop->ends[o],
                                   sparse_to_stored(state, loop, o, int_var(arena, loop->source)));
    loop->next[o] = sparse_let_index(state, operand, "jump",
                                     value_select(arena, all, value_index(arena, loop->next[o]), jump), to);
}

void sparse_merge_loop(const SparseState *state, SparseLoop *loop, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    const int count = state->leaf->operand_count;
    const bool all = is_intersection(loop->set);
    SparseState inside = sparse_copy_state(state);
    LoopBody *const outside = to;
    LoopNode *parts = sparse_coordinate_parts(state, loop, true, to);
    if ((!parts && sparse_has_threads(loop->from)) || loop->from->vector || loop->from->unroll)
        refuse(state, loop, "it merges the coordinates of several sparse tensors, one after the other");
    inside.threads = inside.threads || (parts && parts->execution.thread);
    to = parts ? &parts->body : to;
    append_cursors(state, loop, to);
    append_followed(&inside, loop, false, to);
    LoopNode *node = loop_node(arena, LOOP_WHILE);
    node->value = more(state, loop, loop->set);
    const IntExpr **coordinates = arena_array(arena, const IntExpr *, count), *least = NULL;
    for (int o = 0; o < count; o++) {
        if (!loop->iterated[o])
            continue;
        const Operand *operand = &state->operands[o];
        const Level *level = sparse_level(operand);
        loop->positions[o] = append_position(state, loop, o, &node->body);
        const Value *coordinate = level->type.format->coordinate(arena, level, loop->positions[o]);
        if (!set_requires(loop->set, o))
            coordinate = value_select(arena, value_less(arena, loop->positions[o], loop->ends[o]), coordinate,
                                      value_index(arena, sparse_beyond(state, loop, o)));
        coordinates[o] = sparse_let_index(state, operand, "c", coordinate, &node->body);
        coordinates[o] = sparse_let_index(
            state, operand, "c", value_index(arena, sparse_from_stored(state, loop, o, coordinates[o])),
            &node->body);
        least = least ? int_op(arena, all ? INT_MAX : INT_MIN, least, coordinates[o]) : coordinates[o];
    }
    append_coordinate(state, loop, value_index(arena, least), &node->body);
    for (int o = 0; o < count; o++)
        if (loop->iterated[o])
            append_presence(&inside, loop, o,
                            value_op(arena, VALUE_EQUAL, VALUE_TYPE_CONDITION,
                                     value_index(arena, coordinates[o]),
                                     value_index(arena, int_var(arena, loop->source))),
                            &node->body);
    const Value **has = arena_array(arena, const Value *, count);
    int has_count = 0;
    for (int o = 0; all && o < count; o++)
        if (loop->iterated[o])
            has[has_count++] = inside.operands[o].present;
    sparse_inside(&inside, loop, &node->body);
    for (int o = 0; all && o < count; o++)
        if (loop->iterated[o])
            append_jump(state, loop, o,
                        value_list(arena, VALUE_AND, VALUE_TYPE_CONDITION, NULL, has_count, has),
                        &node->body);
    append_advances(state, loop, &node->body);
    sparse_append(state, to, node);
    if (parts)
        sparse_append(state, outside, parts);
}
