// SPDX-License-Identifier: BSD-3-Clause
// Parts of loops of leaves with sparse tensors, as many as there may be threads: loops whose iterations
// follow from one another, or several of which update the same elements, cannot be divided one by one.
#include "lower/assembly.h"
#include "lower/bounds.h"
#include "lower/loops_sparse.h"

LoopNode *sparse_parts(const SparseState *state, int stem, const IntExpr *count, int each, SparsePart *part,
                       LoopBody *to) {
    Arena *arena = sparse_arena(state);
    LoopKernel *kernel = state->leaf->builder->kernel;
    const Value *operand = value_index(arena, int_const(arena, each));
    part->parts =
        loop_append_let(kernel, to, "parts", stem,
                        value_list(arena, VALUE_CALL, VALUE_TYPE_INDEX, "distal_parts", 1, &operand));
    LoopNode *node = loop_node(arena, LOOP_FOR);
    node->var = loop_add_index(kernel, "part", stem);
    node->lower = int_const(arena, 0);
    node->upper = part->parts;
    part->number = int_var(arena, node->var);
    const IntExpr *const numbers[] = {part->number,
                                      int_op(arena, INT_ADD, part->number, int_const(arena, 1))};
    const IntExpr **const bounds[] = {&part->begin, &part->end};
    static const char *const names[] = {"start", "after"};
    for (int i = 0; i < 2; i++) {
        const Value *operands[] = {value_index(arena, count), value_index(arena, part->parts),
                                   value_index(arena, numbers[i])};
        *bounds[i] = loop_append_let(
            kernel, &node->body, names[i], stem,
            value_list(arena, VALUE_CALL, VALUE_TYPE_INDEX, "distal_part_begin", 3, operands));
    }
    return node;
}

// Whether no command says how loops of the leaf are executed.
static bool runs_by_default(const LeafBuilder *leaf) {
    bool open = true;
    for (int l = 0; l < leaf->leaf->loop_count; l++) {
        const LeafLoop *loop = &leaf->leaf->loops[l];
        open = open && !sparse_has_threads(loop) && !loop->vector && !loop->unroll;
    }
    return open;
}

// Whether iterations with different coordinates write different elements.
static bool writes_by_coordinate(const SparseState *state, const SparseLoop *loop) {
    return loop->from->distinct || access_vars(state->leaf->leaf->assign->lhs) >> loop->source & 1;
}

// Whether the leaf does nothing but add to one element: parts of a loop then have sums of their own.
static bool adds_to_one_element(const LeafBuilder *leaf) {
    const Access *lhs = leaf->leaf->assign->lhs;
    for (int l = 0; l < leaf->leaf->loop_count; l++)
        for (int m = 0; m < lhs->tensor->order; m++)
            if (bounds_depends(leaf->builder->spmd->cin, lhs->vars[m], leaf->leaf->loops[l].var))
                return false;
    return leaf->leaf->row < 0;
}

// The coordinate that an operand stores at position `at` of `count` from `begin` on, beyond all where there
// is none.
static const Value *coordinate_at(const SparseState *state, const SparseLoop *loop, int o,
                                  const IntExpr *begin, const IntExpr *at, const IntExpr *count) {
    Arena *arena = sparse_arena(state);
    const Level *level = sparse_level(&state->operands[o]);
    return value_select(arena, value_less(arena, at, count),
                        level->type.format->coordinate(arena, level, int_op(arena, INT_ADD, begin, at)),
                        value_index(arena, sparse_beyond(state, loop, o)));
}

// A bound of a part, which an operand stores as `stored`, among the coordinates of the loop.
static const IntExpr *append_bound(const SparseState *state, const SparseLoop *loop, int o, const char *name,
                                   const Value *stored, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    LoopKernel *kernel = state->leaf->builder->kernel;
    const IntExpr *bound = loop_append_let(kernel, to, name, loop->source, stored);
    if (!loop->has_offsets)
        return bound;
    bound = int_op(arena, INT_MIN, sparse_from_stored(state, loop, o, bound), sparse_after(state, loop));
    return loop_append_let(kernel, to, name, loop->source,
                           value_index(arena, int_op(arena, INT_MAX, int_const(arena, 0), bound)));
}

LoopNode *sparse_coordinate_parts(const SparseState *state, SparseLoop *loop, bool merges, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    LoopKernel *kernel = state->leaf->builder->kernel;
    const LeafLoop *from = loop->from;
    const bool structure = state->leaf->builder->structure, distinct = writes_by_coordinate(state, loop);
    const bool said = sparse_has_threads(from) && (from->partials || !state->threads) && !structure;
    if (loop->first || (!said && (loop->number > 0 || state->inner || !runs_by_default(state->leaf))) ||
        (!distinct && !(merges && (said || adds_to_one_element(state->leaf)))))
        return NULL;
    int o = 0;
    while (!loop->iterated[o])
        o++;
    const Operand *operand = &state->operands[o];
    const Level *level = sparse_level(operand);
    const IntExpr *begin, *end;
    sparse_range(state, operand, &begin, &end, to);
    const IntExpr *count = loop_append_let(kernel, to, "count", loop->source,
                                           value_index(arena, int_op(arena, INT_SUB, end, begin)));
    const IntExpr *zero = int_const(arena, 0);
    // Positions of a list with repeated coordinates are entries, others rows, which take different times.
    enum { ENTRIES = 16, PORTIONS = 16 };
    const bool rows = !level->type.nonunique && operand->level + 1 < operand->access->tensor->order;
    SparsePart part;
    LoopNode *comment = loop_node(arena, LOOP_COMMENT);
    comment->text =
        arena_printf(arena, "threads take coordinates '%s' at which '%s' stores equal numbers of %s",
                     state->leaf->builder->spmd->cin->vars[loop->source].name, operand->access->tensor->name,
                     rows ? "coordinates" : "entries");
    sparse_append(state, to, comment);
    LoopNode *node = sparse_parts(state, loop->source, count, rows ? PORTIONS : 1, &part, to);
    node->execution.distinct = structure ? state->leaf->assembly->kind == ASSEMBLY_ANY : distinct;
    node->execution.thread = said;
    node->execution.work = rows ? int_op(arena, INT_MUL, int_const(arena, ENTRIES), count) : count;
    // The first part has all coordinates before the others.
    const Value *low = value_select(arena, value_less(arena, zero, part.number),
                                    coordinate_at(state, loop, o, begin, part.begin, count),
                                    value_index(arena, sparse_to_stored(state, loop, o, zero)));
    loop->low = append_bound(state, loop, o, "low", low, &node->body);
    loop->high = append_bound(state, loop, o, "high", coordinate_at(state, loop, o, begin, part.end, count),
                              &node->body);
    return node;
}
