// SPDX-License-Identifier: BSD-3-Clause
// Loops over the positions of an operand in place of coordinates (pos): a part of the positions of its last
// level is iterated over by a loop for each level, whose bounds are clipped to what is above that part. Where
// the part begins and ends in the levels above is searched once.
#include "lower/loops_sparse.h"

#include "lower/bounds.h"

// The number of positions that a relation is about, once those above are known.
struct SparseCount {
    const Relation *relation;
    int operand;
    const IntExpr *begins[MAX_ORDER], *ends[MAX_ORDER]; // by level: all that are below those above
    const SparseCount *outer;
};

static bool is_operand(const StoredAccess *stored, const Operand *operand) {
    bool same = !operand->written && operand->access->tensor->id == stored->tensor;
    for (int m = 0; same && m < stored->order; m++)
        same = operand->access->vars[m] == stored->vars[m];
    return same;
}

static void count_positions(SparseState *state, const Relation *relation, int o, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    Operand operand = state->operands[o];
    SparseCount *count = arena_new(arena, SparseCount);
    *count = (SparseCount){.relation = relation, .operand = o, .outer = state->counts};
    const IntExpr *begin = operand.begin, *end = sparse_end(state, &operand);
    const Value *present = operand.end ? NULL : operand.present;
    for (int l = relation->access->first_level; l <= relation->access->last_level; l++) {
        operand.level = l;
        const LevelRange range = sparse_below(arena, sparse_level(&operand), begin, end, present);
        begin = count->begins[l] = sparse_let_index(state, &operand, "begin", range.begin, to);
        end = count->ends[l] = sparse_let_index(state, &operand, "end", range.end, to);
        present = NULL;
    }
    state->counts = count;
    if (cin_positions_are_distributed(state->leaf->builder->spmd->cin, relation)) {
        // Counted over all ranks, and given to the kernel.
        count->begins[relation->access->last_level] = int_var(arena, relation->begin);
        return;
    }
    sparse_append(state, to,
                  loop_let(arena, relation->count, value_index(arena, int_op(arena, INT_SUB, end, begin))));
}

static const SparseCount *find_count(const SparseState *state, const Relation *relation) {
    const SparseCount *count = state->counts;
    while (count && count->relation != relation)
        count = count->outer;
    return count;
}

void sparse_count_positions(SparseState *state, LoopBody *to) {
    const Cin *cin = state->leaf->builder->spmd->cin;
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        for (int o = 0; relation->kind->stored && o < state->leaf->operand_count; o++)
            if (is_operand(relation->access, &state->operands[o]) && !find_count(state, relation) &&
                state->operands[o].level == relation->access->first_level)
                count_positions(state, relation, o, to);
    }
}

const Relation *sparse_stored_relation(const SparseState *state, const LeafLoop *loop) {
    const Cin *cin = state->leaf->builder->spmd->cin;
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        bool known = relation->child[0] == loop->var;
        for (int d = 0; d < loop->definition_count; d++)
            known = known || relation->child[0] == loop->definitions[d].var;
        if (relation->kind->stored && known)
            return relation;
    }
    return NULL;
}

bool sparse_check_positions(const SparseState *state, int loop) {
    Builder *builder = state->leaf->builder;
    const Cin *cin = builder->spmd->cin;
    for (int64_t r = 0; r < cin->relations.count; r++) {
        const Relation *relation = cin->relations.items[r];
        if (!relation->kind->stored || !bounds_depends(cin, relation->child[0], loop))
            continue;
        const SparseCount *count = find_count(state, relation);
        if (count && sparse_requires(state->leaf, count->operand))
            continue;
        if (!builder->structure && !builder->refused)
            diagnostics_error(
                builder->diagnostics, relation->span,
                count ? "cannot iterate over positions of '%s' in loop '%s': the right side has a value "
                        "where '%s' has no entry, too"
                      : "cannot iterate over positions of '%s' in loop '%s': loops over the levels of "
                        "'%s' above are not outside of it; reorder the loops",
                relation->access->name, cin->vars[loop].name, relation->access->name);
        builder->refused = true;
        return false;
    }
    return true;
}

// A part of the positions, and the loops over it.
typedef struct {
    const SparseCount *count;
    const SparseLoop *loop;
    // By level: what is above the part. Where that is not empty, from the first to the last position.
    const IntExpr *begins[MAX_ORDER], *ends[MAX_ORDER], *lasts[MAX_ORDER];
    const IntExpr *first; // the value of the loop at the first position below those above
    int edge_level; // at which the first and the last position, whose elements other parts may update as
                    // well, are separated from those between; -1: nowhere
} Part;

static const Level *level_at(const SparseState *state, const Part *part, int l) {
    return &state->operands[part->count->operand].view->levels[l];
}

// A variable of level `l`.
static const IntExpr *let(const SparseState *state, const Part *part, int l, const char *what,
                          const Value *value, LoopBody *to) {
    Operand operand = state->operands[part->count->operand];
    operand.level = l;
    return sparse_let_index(state, &operand, what, value, to);
}

// The positions of the levels above whose part is not empty.
static void append_above(const SparseState *state, Part *part, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    const SparseCount *count = part->count;
    const IntExpr *one = int_const(arena, 1);
    for (int l = count->relation->access->last_level; l > count->relation->access->first_level; l--) {
        const Level *level = level_at(state, part, l);
        part->begins[l - 1] = let(state, part, l - 1, "from",
                                  level->type.format->search_above(arena, level, count->begins[l - 1],
                                                                   count->ends[l - 1], part->begins[l]),
                                  to);
        part->lasts[l - 1] = let(state, part, l - 1, "last",
                                 level->type.format->search_above(arena, level, part->begins[l - 1],
                                                                  count->ends[l - 1], part->lasts[l]),
                                 to);
        part->ends[l - 1] = int_op(arena, INT_ADD, part->lasts[l - 1], one);
    }
}

// The level that separates elements which other parts may update as well from the rest; -1: none does.
// Different coordinates of the first levels, as far as these index the result, mean different elements, and
// only the first and the last coordinate of a part may be in another part, too.
static int find_edge(const SparseState *state, const Relation *relation) {
    const LeafBuilder *leaf = state->leaf;
    const Cin *cin = leaf->builder->spmd->cin;
    const StoredAccess *stored = relation->access;
    const Operand *operand = &state->operands[find_count(state, relation)->operand];
    bool any = false;
    for (int i = 0; i < leaf->leaf->loop_count; i++) {
        const LeafLoop *loop = &leaf->leaf->loops[i];
        any = any || loop->atomic;
        if (loop->atomic && !bounds_depends(cin, relation->child[0], loop->var))
            return -1;
    }
    int edge = -1;
    for (int l = stored->first_level; any && !leaf->atomic && l <= stored->last_level; l++) {
        const Level *level = &operand->view->levels[l];
        if (!(access_vars(leaf->leaf->assign->lhs) >> operand->access->vars[level->mode] & 1) ||
            (edge >= 0 && level->type.nonunique))
            break;
        edge = l;
        if (level->type.nonunique)
            break;
    }
    return edge;
}

// The coordinate of a position of a level that stores all of them, below position `above`.
static const IntExpr *full_coordinate(Arena *arena, const Level *level, const IntExpr *above,
                                      const IntExpr *position) {
    const IntExpr *own = int_op(arena, INT_SUB, position, int_op(arena, INT_MUL, above, level->extent));
    return level->first ? int_op(arena, INT_ADD, own, level->first) : own;
}

static void append_levels(SparseState *state, Part *part, int l, LoopBody *to);

// What is inside of the level, for elements that no other part has, and for others with atomic updates.
static void append_by_edge(const SparseState *state, Part *part, int l, const IntExpr *position,
                           const IntExpr *coordinate, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    LeafBuilder *leaf = state->leaf;
    const Level *level = level_at(state, part, l);
    const IntExpr *first = part->begins[l], *last = part->lasts[l], *at = position;
    if (level->type.nonunique) {
        first = let(state, part, l, "least", level->type.format->coordinate(arena, level, first), to);
        last = let(state, part, l, "greatest", level->type.format->coordinate(arena, level, last), to);
        at = coordinate;
    }
    const Value *inner = value_op(arena, VALUE_AND, VALUE_TYPE_CONDITION, value_less(arena, first, at),
                                  value_less(arena, at, last));
    const Value *edge = value_op(
        arena, VALUE_OR, VALUE_TYPE_CONDITION,
        value_op(arena, VALUE_EQUAL, VALUE_TYPE_CONDITION, value_index(arena, at), value_index(arena, first)),
        value_op(arena, VALUE_EQUAL, VALUE_TYPE_CONDITION, value_index(arena, at), value_index(arena, last)));
    for (int shared = 0; shared < 2; shared++) {
        SparseState inside = sparse_copy_state(state);
        leaf->unshared = !shared;
        append_levels(&inside, part, l + 1, build_if(leaf, shared ? &edge : &inner, 1, to));
        leaf->unshared = false;
    }
}

// The loop over positions of level `l` below that of the level before, and all inside.
static void append_levels(SparseState *state, Part *part, int l, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    const StoredAccess *stored = part->count->relation->access;
    Operand *operand = &state->operands[part->count->operand];
    if (l > stored->last_level) {
        const IntExpr *from = int_op(arena, INT_ADD, part->count->begins[stored->last_level], part->first);
        if (part->loop->from->var >= 0)
            sparse_append(state, to,
                          loop_let(arena, part->loop->from->var,
                                   value_index(arena, int_op(arena, INT_SUB, operand->begin, from))));
        sparse_inside(state, part->loop, to);
        return;
    }
    const Level *level = level_at(state, part, l);
    const IntExpr *above = operand->begin, *begin = part->begins[l], *end = part->ends[l];
    const bool single = l > stored->first_level && level->type.format->branchless;
    if (l > stored->first_level && !single) {
        const LevelRange range =
            sparse_below(arena, level, above, int_op(arena, INT_ADD, above, int_const(arena, 1)), NULL);
        begin = int_op(arena, INT_MAX, begin, let(state, part, l, "first", range.begin, to));
        end = int_op(arena, INT_MIN, end, let(state, part, l, "after", range.end, to));
        begin = let(state, part, l, "begin", value_index(arena, begin), to);
        end = let(state, part, l, "end", value_index(arena, end), to);
    }
    const IntExpr *position = above;
    const int var = operand->access->vars[level->mode];
    LoopBody *body = to;
    LoopNode *node = NULL;
    operand->level = l;
    if (!single) {
        node = loop_node(arena, LOOP_FOR);
        node->var = sparse_var(state, operand, "p", VALUE_TYPE_INDEX);
        node->lower = begin;
        node->upper = end;
        if (l == stored->first_level)
            node->execution.work = int_var(arena, part->count->relation->count);
        position = int_var(arena, node->var);
        body = &node->body;
        node->execution.distinct =
            state->leaf->builder->structure ||
            (!level->type.nonunique && access_vars(state->leaf->leaf->assign->lhs) >> var & 1);
        if (l == stored->last_level && !state->leaf->builder->structure) {
            node->execution.vector = part->loop->from->vector;
            node->execution.unroll = part->loop->from->unroll;
        }
    }
    const Value *coordinate = level->type.format->full
                                  ? value_index(arena, full_coordinate(arena, level, above, position))
                                  : level->type.format->coordinate(arena, level, position);
    sparse_append(state, body, loop_let(arena, var, coordinate));
    operand->begin = position;
    operand->end = NULL;
    operand->present = NULL;
    sparse_pass_level(operand);
    sparse_number(state, operand, body);
    state->known[var] = true;
    if (l < stored->last_level)
        sparse_lookups(state, false, body);
    if (l == part->edge_level)
        append_by_edge(state, part, l, position, int_var(arena, var), body);
    else
        append_levels(state, part, l + 1, body);
    if (node)
        sparse_append(state, to, node);
}

// The part of each thread, as a loop that they share.
static LoopBody *append_team_parts(SparseState *state, const SparseLoop *loop, const Part *part,
                                   const IntExpr **from, const IntExpr **upper, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    SparsePart own;
    LoopNode *node = sparse_parts(state, part->count->relation->child[0], *upper, 1, &own, to);
    node->execution.thread = true;
    node->execution.distinct = loop->from->distinct;
    state->threads = true;
    *from = int_op(arena, INT_ADD, *from, own.begin);
    *upper = int_op(arena, INT_SUB, own.end, own.begin);
    sparse_append(state, to, node);
    return &node->body;
}

// What defines the number of a position, or guards it, or (`inside`) what does so for indices, which follow
// from the coordinates there.
static LeafLoop *select(const Cin *cin, const LeafLoop *loop, bool inside) {
    LeafLoop *selected = arena_copy(cin->arena, loop, sizeof *loop);
    Definition *definitions = arena_array(cin->arena, Definition, loop->definition_count + 1);
    Guard *guards = arena_array(cin->arena, Guard, loop->guard_count + 1);
    selected->definition_count = selected->guard_count = 0;
    for (int d = 0; d < loop->definition_count; d++)
        if (cin_is_index(cin, loop->definitions[d].var) == inside)
            definitions[selected->definition_count++] = loop->definitions[d];
    for (int g = 0; g < loop->guard_count; g++) {
        bool of_index = false;
        for (int v = 0; v < cin->var_count; v++)
            of_index |= cin_is_index(cin, v) &&
                        (loop_mentions(loop->guards[g].less, v) || loop_mentions(loop->guards[g].than, v));
        if (of_index == inside)
            guards[selected->guard_count++] = loop->guards[g];
    }
    selected->definitions = definitions;
    selected->guards = guards;
    return selected;
}

// A single position of each iteration: its number is computed first.
static LoopBody *append_numbers(SparseState *state, const SparseLoop *loop, LoopBody *to) {
    const LeafLoop *from = select(state->leaf->builder->spmd->cin, loop->from, false);
    LeafBuilder *leaf = state->leaf;
    LoopNode *node = loop_node(sparse_arena(state), LOOP_FOR);
    node->var = loop->from->var;
    node->lower = int_const(sparse_arena(state), 0);
    node->upper = leaf->uppers[loop->number];
    sparse_set_execution(state, loop, true, node);
    state->threads = state->threads || node->execution.thread;
    sparse_append(state, to, node);
    for (int d = 0; d < from->definition_count; d++)
        state->known[from->definitions[d].var] = true;
    build_definitions(leaf, from->definitions, from->definition_count, &node->body);
    return build_guards(leaf, from->guards, from->guard_count, &node->body);
}

void sparse_stored_loop(const SparseState *outside, SparseLoop *loop, const Relation *relation,
                        LoopBody *to) {
    Arena *arena = sparse_arena(outside);
    const Cin *cin = outside->leaf->builder->spmd->cin;
    SparseState state = sparse_copy_state(outside);
    const int last = relation->access->last_level, child = relation->child[0];
    Part part = {.count = find_count(&state, relation), .loop = loop};
    const LeafLoop *plain = loop->from;
    const IntExpr *from, *upper;
    part.edge_level = find_edge(&state, relation);
    if (bounds_has_unit_stride(cin, child, loop->from->var)) {
        // Variables between the loop's and the number of the position are defined before that.
        const IntExpr **values = arena_array(arena, const IntExpr *, MAX_VARS);
        values[plain->var] = int_const(arena, 0);
        for (int d = 0; d < plain->definition_count; d++)
            values[plain->definitions[d].var] =
                loop_substitute(arena, plain->definitions[d].value, values, MAX_VARS);
        part.first = from = values[child];
        upper = state.leaf->uppers[loop->number];
        if (sparse_has_threads(plain) && !state.leaf->builder->structure &&
            (plain->partials || !state.threads))
            to = append_team_parts(&state, loop, &part, &from, &upper, to);
    } else {
        to = append_numbers(&state, loop, to);
        LeafLoop *inside = select(cin, plain, true);
        inside->var = -1;
        part.first = from = int_var(arena, child);
        upper = int_const(arena, 1);
        loop->from = inside;
    }
    part.begins[last] = let(&state, &part, last, "from",
                            value_index(arena, int_op(arena, INT_ADD, part.count->begins[last], from)), to);
    const IntExpr *end = int_op(arena, INT_ADD, part.begins[last], upper);
    if (cin_positions_are_distributed(cin, relation))
        end = int_op(arena, INT_MIN, end, int_var(arena, relation->end));
    part.ends[last] = let(&state, &part, last, "to", value_index(arena, end), to);
    part.lasts[last] =
        let(&state, &part, last, "last",
            value_index(arena, int_op(arena, INT_SUB, part.ends[last], int_const(arena, 1))), to);
    if (relation->access->first_level < last || part.edge_level >= 0) {
        const Value *any = value_less(arena, part.begins[last], part.ends[last]);
        to = build_if(state.leaf, &any, 1, to);
    }
    append_above(&state, &part, to);
    append_levels(&state, &part, relation->access->first_level, to);
}
