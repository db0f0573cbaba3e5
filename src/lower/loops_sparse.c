// SPDX-License-Identifier: BSD-3-Clause
// Loops of leaves with sparse tensors: each iterates over the coordinates that the right side needs, a set of
// unions and intersections of what its operands store (lattice.h). One stored level gives a loop over its
// positions, several give a merge loop over their coordinates in increasing order, and where every coordinate
// is needed, the loop runs over the extent. Other operands are looked up, or follow a loop whose coordinates
// increase. An absent operand has no positions, so loops further inside find no entries of it.
#include "lower/bounds.h"
#include "lower/builder.h"
#include "lower/lattice.h"

#include <string.h>

// What is known inside of the loops made so far.
typedef struct {
    LeafBuilder *leaf;
    bool known[MAX_VARS]; // variables that have a value
    Operand *operands;    // by number, as in the leaf
    bool threads;         // a loop around is threaded
    bool unchecked;       // some operand may be absent, and no condition has tested that
} State;

// One loop.
typedef struct {
    const LeafLoop *from;
    int number;             // in the leaf
    int source;             // the variable whose coordinates it iterates over; -1: none
    const IntExpr *first;   // the first coordinate; NULL: 0
    const Set *set;         // of these coordinates, by the operands in `iterated`
    bool *iterated;         // by operand: the loop iterates over its positions
    const IntExpr **begins; // by operand: its first position, their end, the current one, the next one
    const IntExpr **ends, **positions, **next;
    int *cursors;
} Loop;

static Arena *arena_of(const State *state) {
    return state->leaf->builder->arena;
}

static State copy_state(const State *state) {
    State copy = *state;
    copy.operands =
        arena_copy(arena_of(state), state->operands, sizeof(Operand) * (size_t)state->leaf->operand_count);
    return copy;
}

static void append(const State *state, LoopBody *to, const LoopNode *node) {
    loop_append(arena_of(state), to, node);
}

static const Level *level_of(const Operand *operand) {
    return operand->level < operand->access->tensor->order ? &operand->view->levels[operand->level] : NULL;
}

// A variable of an operand's level, "B_p2".
static int operand_var(const State *state, const Operand *operand, const char *what, int type) {
    LoopKernel *kernel = state->leaf->builder->kernel;
    return loop_add_var(kernel,
                        (LoopVar){.name = arena_printf(kernel->arena, "%s%d", what, operand->level + 1),
                                  .type = type,
                                  .stem_array = operand->view->array,
                                  .stem_var = -1});
}

static const IntExpr *let_index(const State *state, const Operand *operand, const char *what,
                                const Value *value, LoopBody *to) {
    if (value->kind == VALUE_INDEX && !value->index->left)
        return value->index;
    const int var = operand_var(state, operand, what, VALUE_TYPE_INDEX);
    append(state, to, loop_let(arena_of(state), var, value));
    return int_var(arena_of(state), var);
}

static const Value *let_condition(const State *state, const Operand *operand, const char *what,
                                  const Value *value, LoopBody *to) {
    const int var = operand_var(state, operand, what, VALUE_TYPE_CONDITION);
    append(state, to, loop_let(arena_of(state), var, value));
    return value_var(arena_of(state), VALUE_TYPE_CONDITION, var);
}

static const IntExpr *plus_one(Arena *arena, const IntExpr *expr) {
    return int_op(arena, INT_ADD, expr, int_const(arena, 1));
}

// The end of the positions of an operand in the last level that is known.
static const IntExpr *end_of(const State *state, const Operand *operand) {
    return operand->end ? operand->end : plus_one(arena_of(state), operand->begin);
}

// The positions of the next level that are below those of an operand, as variables.
static void append_range(const State *state, const Operand *operand, const IntExpr **begin,
                         const IntExpr **end, LoopBody *to) {
    Arena *arena = arena_of(state);
    const Level *level = level_of(operand);
    LevelRange range = level->type.format->range(arena, level, operand->begin, end_of(state, operand));
    if (operand->present && !operand->end) {
        const Value *zero = value_index(arena, int_const(arena, 0));
        range.begin = value_select(arena, operand->present, range.begin, zero);
        range.end = value_select(arena, operand->present, range.end, zero);
    }
    *begin = let_index(state, operand, "begin", range.begin, to);
    *end = let_index(state, operand, "end", range.end, to);
}

// The end of the positions with the same coordinate as `position`; `position` itself where `found` is false.
static const IntExpr *append_next(const State *state, const Operand *operand, const IntExpr *position,
                                  const IntExpr *end, const Value *found, LoopBody *to) {
    Arena *arena = arena_of(state);
    const Level *level = level_of(operand);
    const Value *next = value_index(arena, plus_one(arena, position));
    if (level->type.nonunique)
        next = level->type.format->run_end(arena, level, position, end);
    return let_index(state, operand, "next",
                     found ? value_select(arena, found, next, value_index(arena, position)) : next, to);
}

static const Value *load_cursor(Arena *arena, int cursor) {
    return value_convert(arena, value_element(arena, VALUE_LOAD, TYPE_I64, cursor, NULL), VALUE_TYPE_INDEX);
}

// A local variable for the current position of an operand in its next level, `begin` at first.
static int append_cursor(const State *state, const Operand *operand, const IntExpr *begin, LoopBody *to) {
    LoopKernel *kernel = state->leaf->builder->kernel;
    const char *name =
        arena_printf(kernel->arena, "%s_at%d", operand->access->tensor->name, operand->level + 1);
    const int cursor =
        loop_add_array(kernel, (LoopArray){.name = name, .type = TYPE_I64, .written = true, .scalar = true});
    LoopNode *workspace = loop_node(kernel->arena, LOOP_WORKSPACE);
    workspace->array = cursor;
    append(state, to, workspace);
    append(state, to,
           loop_update(kernel->arena, LOOP_STORE, cursor, NULL, value_index(kernel->arena, begin)));
    return cursor;
}

// Moves the cursor of an operand to the first position whose coordinate is not less than `coordinate`.
static const IntExpr *append_following(const State *state, const Operand *operand, const IntExpr *coordinate,
                                       LoopBody *to) {
    Arena *arena = arena_of(state);
    const Level *level = level_of(operand);
    const IntExpr *from = let_index(state, operand, "from", load_cursor(arena, operand->cursor), to);
    const Value *found = level->type.format->search(arena, level, from, operand->cursor_end, coordinate);
    const IntExpr *position = let_index(state, operand, "p", found, to);
    append(state, to, loop_update(arena, LOOP_STORE, operand->cursor, NULL, value_index(arena, position)));
    return position;
}

// Looks up the position of an operand in its next level, whose coordinate is known.
static void append_lookup(State *state, Operand *operand, LoopBody *to) {
    Arena *arena = arena_of(state);
    const Level *level = level_of(operand);
    const LevelFormat *format = level->type.format;
    const IntExpr *coordinate = int_var(arena, operand->access->vars[level->mode]);
    if (format->full) {
        const IntExpr *parent = operand->level ? operand->begin : NULL;
        const IntExpr *at = format->locate(arena, level, parent, coordinate);
        operand->begin = let_index(state, operand, "p", value_index(arena, at), to);
        operand->end = NULL;
        operand->level++;
        return;
    }
    const IntExpr *begin = operand->begin, *end = end_of(state, operand), *position;
    if (operand->cursor >= 0) {
        end = operand->cursor_end;
        position = append_following(state, operand, coordinate, to);
    } else {
        if (format->range)
            append_range(state, operand, &begin, &end, to);
        position = let_index(state, operand, "p", format->search(arena, level, begin, end, coordinate), to);
    }
    const Value *found = format->found(arena, level, position, end, coordinate);
    if (!format->range && operand->present)
        found = value_op(arena, VALUE_AND, VALUE_TYPE_CONDITION, operand->present, found);
    found = let_condition(state, operand, "has", found, to);
    // The result has an entry wherever there is a value to write.
    state->unchecked = state->unchecked || !operand->written;
    operand->end = append_next(state, operand, position, end, found, to);
    operand->begin = position;
    operand->present = found;
    operand->cursor = -1;
    operand->level++;
}

// Looks up all levels whose coordinates are known.
static void append_lookups(State *state, LoopBody *to) {
    for (int o = 0; o < state->leaf->operand_count; o++) {
        Operand *operand = &state->operands[o];
        for (const Level *level;
             (level = level_of(operand)) && state->known[operand->access->vars[level->mode]];)
            append_lookup(state, operand, to);
    }
}

typedef struct {
    const LeafBuilder *leaf;
    const bool *chosen; // by operand; NULL: those that have a condition
} SetContext;

static int chosen_operand(void *context, const Access *access) {
    const SetContext *of = context;
    const int operand = build_operand(of->leaf, access, TRANSFER_FETCH);
    const bool chosen =
        operand >= 0 && (of->chosen ? of->chosen[operand] : of->leaf->operands[operand].present != NULL);
    return chosen ? operand : -1;
}

static const Set *make_set(const LeafBuilder *leaf, const bool *chosen, const Expr *expr) {
    SetContext context = {leaf, chosen};
    return set_of(leaf->builder->arena, expr, leaf->builder->type, chosen_operand, &context);
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

static bool has_threads(const LeafLoop *loop) {
    return loop->thread || loop->thread_reduces || loop->thread_copies;
}

// A loop, and the operands over whose positions it iterates.
static Loop make_loop(const State *state, int number) {
    Arena *arena = arena_of(state);
    LeafBuilder *leaf = state->leaf;
    const Cin *cin = leaf->builder->spmd->cin;
    const LeafLoop *from = &leaf->leaf->loops[number];
    const int count = leaf->operand_count + 1;
    Loop loop = {.from = from,
                 .number = number,
                 .source = cin->vars[from->var].source
                               ? from->var
                               : bounds_unit_source(cin, leaf->leaf->assign, from->var),
                 .iterated = arena_array(arena, bool, count),
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
    for (int o = 0; o < leaf->operand_count; o++) {
        const Operand *operand = &state->operands[o];
        const Level *level = level_of(operand);
        loop.iterated[o] = !operand->written && level && level->type.format->range &&
                           operand->access->vars[level->mode] == loop.source;
    }
    loop.set = make_set(leaf, loop.iterated, leaf->leaf->assign->rhs);
    // Operands that the set does not mention are looked up, or advance with a loop over all coordinates.
    // Iterations of such a loop run in order, so it is neither vectorized, nor threaded, nor the outermost
    // one, which may become threaded.
    const bool advances = loop.set->kind == SET_ALL && number > 0 && !has_threads(from) && !from->vector;
    for (int o = 0; o < leaf->operand_count; o++)
        loop.iterated[o] = loop.iterated[o] && (advances || set_mentions(loop.set, o));
    return loop;
}

// The positions of an operand that a loop iterates over: those below its position in the level above whose
// coordinates are among those of the loop.
static void append_positions(const State *state, Loop *loop, int o, LoopBody *to) {
    Arena *arena = arena_of(state);
    const Operand *operand = &state->operands[o];
    const Level *level = level_of(operand);
    append_range(state, operand, &loop->begins[o], &loop->ends[o], to);
    if (!loop->first)
        return;
    const IntExpr *after = int_op(arena, INT_ADD, loop->first, state->leaf->uppers[loop->number]);
    const IntExpr *begin =
        let_index(state, operand, "from",
                  level->type.format->search(arena, level, loop->begins[o], loop->ends[o], loop->first), to);
    loop->ends[o] = let_index(state, operand, "to",
                              level->type.format->search(arena, level, begin, loop->ends[o], after), to);
    loop->begins[o] = begin;
}

static void append_loop(const State *state, int number, LoopBody *to);

static bool is_union(const Set *set) {
    return set->kind == SET_OPERAND ||
           (set->kind == SET_EITHER && is_union(set->left) && is_union(set->right));
}

// The body of a loop, where its coordinate is known.
static void append_inside(State *state, const Loop *loop, LoopBody *to) {
    LeafBuilder *leaf = state->leaf;
    const LeafLoop *from = loop->from;
    state->known[from->var] = true;
    for (int d = 0; d < from->definition_count; d++) {
        state->known[from->definitions[d].var] = true;
        if (from->definitions[d].var != loop->source || loop->set->kind == SET_ALL)
            build_definitions(leaf, &from->definitions[d], 1, to);
    }
    to = build_guards(leaf, from->guards, from->guard_count, to);
    const bool met = state->unchecked;
    state->unchecked = false;
    append_lookups(state, to);
    // Nothing is computed where an operand that the right side needs is absent.
    leaf->operands = state->operands;
    const Set *set = make_set(leaf, NULL, leaf->leaf->assign->rhs);
    const Value *condition = set_condition(leaf, set);
    const bool certain = is_union(loop->set) && set_equal(set, loop->set);
    if (condition && (state->unchecked || (met && !certain)))
        to = build_if(leaf, &condition, 1, to);
    state->unchecked = false;
    for (int o = 0; o < leaf->operand_count; o++) {
        Operand *operand = &state->operands[o];
        if (!operand->present || !set_requires(set, o))
            continue;
        operand->present = NULL;
        if (!operand->view->levels[operand->level - 1].type.nonunique)
            operand->end = NULL;
    }
    append_loop(state, loop->number + 1, to);
}

// Diagnoses a command about a loop that cannot be carried out.
static void refuse(const State *state, const Loop *loop, const char *why) {
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

// Sets how a loop is executed, as the schedule says. `unique`: no coordinate occurs twice.
static void set_execution(const State *state, const Loop *loop, bool unique, LoopNode *node) {
    const LeafLoop *from = loop->from;
    node->execution.distinct = state->leaf->builder->structure || (from->distinct && unique);
    if (state->leaf->builder->structure)
        return;
    node->execution.thread = has_threads(from) && (from->thread_copies || !state->threads);
    node->execution.vector = from->vector;
    node->execution.unroll = from->unroll;
}

// Defines the variable of the coordinate, and from it the loop's own variable.
static void append_coordinate(const State *state, const Loop *loop, const Value *coordinate, LoopBody *to) {
    Arena *arena = arena_of(state);
    append(state, to, loop_let(arena, loop->source, coordinate));
    if (loop->source != loop->from->var)
        append(
            state, to,
            loop_let(arena, loop->from->var,
                     value_index(arena, int_op(arena, INT_SUB, int_var(arena, loop->source), loop->first))));
}

// Cursors of the operands, at their first positions.
static void append_cursors(const State *state, Loop *loop, LoopBody *to) {
    for (int o = 0; o < state->leaf->operand_count; o++) {
        if (!loop->iterated[o])
            continue;
        append_positions(state, loop, o, to);
        const Operand *operand = &state->operands[o];
        loop->cursors[o] = append_cursor(state, operand, loop->begins[o], to);
    }
}

static const Value *cursor(const State *state, const Loop *loop, int o) {
    return load_cursor(arena_of(state), loop->cursors[o]);
}

static void append_advances(const State *state, const Loop *loop, LoopBody *to) {
    Arena *arena = arena_of(state);
    for (int o = 0; o < state->leaf->operand_count; o++)
        if (loop->iterated[o])
            append(state, to,
                   loop_update(arena, LOOP_STORE, loop->cursors[o], NULL, value_index(arena, loop->next[o])));
}

// Whether an operand stores the coordinate of the loop, and at which position.
static void append_meeting(State *inside, Loop *loop, int o, const Value *found, LoopBody *to) {
    Operand *operand = &inside->operands[o];
    found = let_condition(inside, operand, "has", found, to);
    loop->next[o] = append_next(inside, operand, loop->positions[o], loop->ends[o], found, to);
    operand->begin = loop->positions[o];
    operand->end = loop->next[o];
    operand->present = found;
    operand->level++;
    inside->unchecked = true;
}

static const IntExpr *append_position(const State *state, const Loop *loop, int o, LoopBody *to) {
    return let_index(state, &state->operands[o], "p", cursor(state, loop, o), to);
}

// A loop over all coordinates; operands that store a coordinate advance past it.
static void append_coordinate_loop(const State *state, Loop *loop, LoopBody *to) {
    Arena *arena = arena_of(state);
    LeafBuilder *leaf = state->leaf;
    State inside = copy_state(state);
    append_cursors(state, loop, to);
    LoopNode *node = loop_node(arena, LOOP_FOR);
    node->var = loop->from->var;
    node->lower = int_const(arena, 0);
    node->upper = leaf->uppers[loop->number];
    bool advances = false;
    for (int o = 0; o < leaf->operand_count; o++)
        advances = advances || loop->iterated[o];
    set_execution(state, loop, !advances, node);
    node->execution.distinct = node->execution.distinct && !advances;
    inside.threads = state->threads || node->execution.thread;
    LoopBody *body = &node->body;
    const IntExpr *coordinate =
        int_op(arena, INT_ADD, loop->first ? loop->first : int_const(arena, 0), int_var(arena, node->var));
    for (int o = 0; o < leaf->operand_count; o++) {
        if (!loop->iterated[o])
            continue;
        const Level *level = level_of(&state->operands[o]);
        loop->positions[o] = append_position(state, loop, o, body);
        append_meeting(&inside, loop, o,
                       level->type.format->found(arena, level, loop->positions[o], loop->ends[o], coordinate),
                       body);
    }
    append_inside(&inside, loop, body);
    append_advances(state, loop, body);
    append(state, to, node);
}

// A loop over the positions of one operand. Equal coordinates, which are adjacent, are separate iterations.
static void append_position_loop(const State *state, Loop *loop, LoopBody *to) {
    Arena *arena = arena_of(state);
    const int o = loop->set->operand;
    State inside = copy_state(state);
    Operand *operand = &inside.operands[o];
    const Level *level = level_of(operand);
    append_positions(state, loop, o, to);
    operand->begin = int_var(arena, operand_var(state, operand, "p", VALUE_TYPE_INDEX));
    operand->end = NULL;
    operand->present = NULL;
    LoopBody *body = to;
    LoopNode *node = NULL;
    if (level->type.format->branchless && !state->operands[o].end && !loop->first) {
        append(state, to, loop_let(arena, (int)operand->begin->value, value_index(arena, loop->begins[o])));
        if (has_threads(loop->from) || loop->from->vector || loop->from->unroll)
            refuse(state, loop, "one coordinate is stored in each iteration of the loop outside of it");
    } else {
        node = loop_node(arena, LOOP_FOR);
        node->var = (int)operand->begin->value;
        node->lower = loop->begins[o];
        node->upper = loop->ends[o];
        set_execution(state, loop, !level->type.nonunique, node);
        inside.threads = state->threads || node->execution.thread;
        body = &node->body;
    }
    append_coordinate(state, loop, level->type.format->coordinate(arena, level, operand->begin), body);
    operand->level++;
    append_inside(&inside, loop, body);
    if (node)
        append(state, to, node);
}

// Whether elements of the set may remain: whether the operands that one needs are not at their ends.
static const Value *more(const State *state, const Loop *loop, const Set *set) {
    Arena *arena = arena_of(state);
    if (set->kind == SET_OPERAND)
        return value_op(arena, VALUE_LESS, VALUE_TYPE_CONDITION, cursor(state, loop, set->operand),
                        value_index(arena, loop->ends[set->operand]));
    return value_op(arena, set->kind == SET_BOTH ? VALUE_AND : VALUE_OR, VALUE_TYPE_CONDITION,
                    more(state, loop, set->left), more(state, loop, set->right));
}

// Operands that the loop does not iterate over, but whose coordinates it meets in increasing order: they get
// a cursor, from which each search begins.
static void append_followed(State *inside, const Loop *loop, LoopBody *to) {
    for (int o = 0; o < inside->leaf->operand_count; o++) {
        Operand *operand = &inside->operands[o];
        const Level *level = level_of(operand);
        if (loop->iterated[o] || !level || !level->type.format->range || level->type.nonunique ||
            operand->access->vars[level->mode] != loop->source)
            continue;
        const IntExpr *begin;
        append_range(inside, operand, &begin, &operand->cursor_end, to);
        operand->cursor = append_cursor(inside, operand, begin, to);
    }
}

// Whether the set is an intersection of operands.
static bool is_intersection(const Set *set) {
    return set->kind == SET_OPERAND ||
           (set->kind == SET_BOTH && is_intersection(set->left) && is_intersection(set->right));
}

// Where not all operands store the coordinate, an operand jumps to its first one that is not less.
static void append_jump(const State *state, Loop *loop, int o, const Value *met, LoopBody *to) {
    Arena *arena = arena_of(state);
    const Operand *operand = &state->operands[o];
    const Level *level = level_of(operand);
    const Value *jump = level->type.format->search(arena, level, loop->positions[o], loop->ends[o],
                                                   int_var(arena, loop->source));
    loop->next[o] = let_index(state, operand, "jump",
                              value_select(arena, met, value_index(arena, loop->next[o]), jump), to);
}

// A merge loop over the coordinates of several operands: the least of their current coordinates or, of an
// intersection, the greatest, as no coordinate before it is in all of them. An operand at its end counts as
// one with a coordinate greater than all.
static void append_merge_loop(const State *state, Loop *loop, LoopBody *to) {
    if (has_threads(loop->from) || loop->from->vector || loop->from->unroll)
        refuse(state, loop, "it goes through the coordinates of several sparse tensors together");
    Arena *arena = arena_of(state);
    const int count = state->leaf->operand_count;
    const bool all = is_intersection(loop->set);
    State inside = copy_state(state);
    append_cursors(state, loop, to);
    append_followed(&inside, loop, to);
    LoopNode *node = loop_node(arena, LOOP_WHILE);
    node->value = more(state, loop, loop->set);
    const IntExpr **coordinates = arena_array(arena, const IntExpr *, count), *least = NULL;
    for (int o = 0; o < count; o++) {
        if (!loop->iterated[o])
            continue;
        const Operand *operand = &state->operands[o];
        const Level *level = level_of(operand);
        loop->positions[o] = append_position(state, loop, o, &node->body);
        const Value *coordinate = level->type.format->coordinate(arena, level, loop->positions[o]);
        if (!set_requires(loop->set, o))
            coordinate = value_select(arena, build_less(arena, loop->positions[o], loop->ends[o]), coordinate,
                                      value_index(arena, int_const(arena, INT64_MAX)));
        coordinates[o] = let_index(state, operand, "c", coordinate, &node->body);
        least = least ? int_op(arena, all ? INT_MAX : INT_MIN, least, coordinates[o]) : coordinates[o];
    }
    append_coordinate(state, loop, value_index(arena, least), &node->body);
    for (int o = 0; o < count; o++)
        if (loop->iterated[o])
            append_meeting(&inside, loop, o,
                           value_op(arena, VALUE_EQUAL, VALUE_TYPE_CONDITION,
                                    value_index(arena, coordinates[o]),
                                    value_index(arena, int_var(arena, loop->source))),
                           &node->body);
    const Value **met = arena_array(arena, const Value *, count);
    int met_count = 0;
    for (int o = 0; all && o < count; o++)
        if (loop->iterated[o])
            met[met_count++] = inside.operands[o].present;
    append_inside(&inside, loop, &node->body);
    for (int o = 0; all && o < count; o++)
        if (loop->iterated[o])
            append_jump(state, loop, o,
                        value_list(arena, VALUE_AND, VALUE_TYPE_CONDITION, NULL, met_count, met),
                        &node->body);
    append_advances(state, loop, &node->body);
    append(state, to, node);
}

// Whether an operand other than `o` has levels left that do not store every coordinate. If so, one iteration
// handles equal coordinates of `o`, as the other operand would be iterated over for each of them.
static bool others_are_stored(const State *state, int o) {
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

// Appends an entry to the structure of the result.
static void append_entry(const LeafBuilder *leaf, LoopBody *to) {
    Arena *arena = leaf->builder->arena;
    const Access *access = leaf->leaf->assign->lhs;
    const Value *coordinates[MAX_ORDER];
    for (int m = 0; m < access->tensor->order; m++)
        coordinates[m] = value_index(arena, int_var(arena, access->vars[m]));
    LoopNode *node = loop_node(arena, LOOP_APPEND);
    node->transfer = (int)(build_view(leaf->builder, access, TRANSFER_REDUCE) - leaf->builder->views);
    node->value =
        value_list(arena, VALUE_COORDINATES, VALUE_TYPE_NONE, NULL, access->tensor->order, coordinates);
    loop_append(arena, to, node);
}

typedef struct {
    const Cin *cin;
    int loop;
    bool moves;
} Movement;

static void find_movement(void *context, const Access *access) {
    Movement *movement = context;
    for (int m = 0; tensor_is_sparse(access->tensor) && m < access->tensor->order; m++)
        movement->moves = movement->moves || bounds_depends(movement->cin, access->vars[m], movement->loop);
}

// Whether entries differ between iterations of the loop, as it indexes a sparse tensor.
static bool moves_entries(const LeafBuilder *leaf, int loop) {
    Movement movement = {leaf->builder->spmd->cin, loop, false};
    find_movement(&movement, leaf->leaf->assign->lhs);
    expr_accesses(leaf->leaf->assign->rhs, find_movement, &movement);
    return movement.moves;
}

static void append_loop(const State *state, int number, LoopBody *to) {
    LeafBuilder *leaf = state->leaf;
    if (number == leaf->leaf->loop_count) {
        leaf->operands = state->operands;
        if (leaf->builder->structure)
            append_entry(leaf, to);
        else
            build_innermost(leaf, to);
        return;
    }
    if (leaf->builder->structure && !moves_entries(leaf, leaf->leaf->loops[number].var)) {
        append_loop(state, number + 1, to);
        return;
    }
    Loop loop = make_loop(state, number);
    if (loop.set->kind == SET_ALL || loop.first)
        build_upper(leaf, number, to);
    if (loop.set->kind == SET_ALL)
        append_coordinate_loop(state, &loop, to);
    else if (loop.set->kind == SET_OPERAND &&
             !(level_of(&state->operands[loop.set->operand])->type.nonunique &&
               others_are_stored(state, loop.set->operand)))
        append_position_loop(state, &loop, to);
    else
        append_merge_loop(state, &loop, to);
}

typedef struct {
    LeafBuilder *leaf;
    Operand *operands;
    bool written;
} Collection;

static void add_operand(void *context, const Access *access) {
    const Collection *collection = context;
    LeafBuilder *leaf = collection->leaf;
    if (!tensor_is_sparse(access->tensor))
        return;
    for (int o = 0; o < leaf->operand_count; o++)
        if (access_equal(collection->operands[o].access, access) && !collection->operands[o].written)
            return;
    Operand *operands = collection->operands;
    operands[leaf->operand_count++] = (Operand){
        .access = access,
        .view = build_view(leaf->builder, access, collection->written ? TRANSFER_REDUCE : TRANSFER_FETCH),
        .written = collection->written,
        .cursor = -1,
        .begin = int_const(leaf->builder->arena, 0)};
}

static void count_access(void *context, const Access *access) {
    (void)access;
    (*(int *)context)++;
}

void build_sparse_loops(LeafBuilder *leaf, LoopBody *to) {
    int count = 1;
    expr_accesses(leaf->leaf->assign->rhs, count_access, &count);
    Collection collection = {.leaf = leaf, .operands = arena_array(leaf->builder->arena, Operand, count)};
    expr_accesses(leaf->leaf->assign->rhs, add_operand, &collection);
    collection.written = true;
    if (!leaf->builder->structure && leaf->builder->spmd->result == RESULT_ASSEMBLED)
        add_operand(&collection, leaf->leaf->assign->lhs);
    leaf->operands = collection.operands;
    State state = {.leaf = leaf, .operands = collection.operands};
    for (int d = 0; d < leaf->leaf->definition_count; d++)
        state.known[leaf->leaf->definitions[d].var] = true;
    append_lookups(&state, to);
    append_loop(&state, 0, to);
}
