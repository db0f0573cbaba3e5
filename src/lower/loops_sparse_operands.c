// SPDX-License-Identifier: BSD-3-Clause
// The operands of leaves with sparse tensors: which there are, the positions below one that is known, the
// position of a coordinate, which is located or searched, cursors that advance, and the row that values are
// added to.
#include "lower/assembly_append.h"
#include "lower/loops_sparse.h"

typedef struct {
    LeafBuilder *leaf;
    const SparseState *outside; // NULL: none
    Operand *operands;
    bool written;
} Collection;

// What is known of the access outside of the leaf; NULL where it is not an operand there.
static const Operand *operand_outside(const Collection *collection, const Access *access) {
    const SparseState *outside = collection->outside;
    for (int o = 0; outside && o < outside->leaf->operand_count; o++)
        if (outside->operands[o].written == collection->written &&
            access_equal(outside->operands[o].access, access))
            return &outside->operands[o];
    return NULL;
}

static void add_operand(void *context, const Access *access) {
    const Collection *collection = context;
    LeafBuilder *leaf = collection->leaf;
    if (!tensor_is_sparse(access->tensor))
        return;
    for (int o = 0; o < leaf->operand_count; o++)
        if (access_equal(collection->operands[o].access, access) && !collection->operands[o].written)
            return;
    Operand *operand = &collection->operands[leaf->operand_count++];
    const Operand *outside = operand_outside(collection, access);
    *operand = outside ? *outside
                       : (Operand){.access = access,
                                   .written = collection->written,
                                   .cursor = -1,
                                   .begin = int_const(leaf->builder->arena, 0)};
    operand->view = build_view(leaf->builder, access, collection->written ? TRANSFER_REDUCE : TRANSFER_FETCH);
}

// Those of all leaves inside.
static void add_operands(Collection *collection, const Leaf *leaf) {
    Builder *builder = collection->leaf->builder;
    for (int f = 0; f < leaf->fill_count; f++)
        add_operands(collection, leaf->fills[f]);
    if (leaf->reader) {
        add_operands(collection, leaf->reader);
        return;
    }
    const SpmdNest *nest = builder->nest;
    builder->nest = &builder->spmd->nests[leaf->nest];
    expr_accesses(leaf->assign->rhs, add_operand, collection);
    builder->nest = nest;
}

static void count_access(void *context, const Access *access) {
    (void)access;
    (*(int *)context)++;
}

Operand *sparse_operands(LeafBuilder *leaf, const SparseState *outside) {
    int count = 1;
    expr_accesses(leaf->leaf->assign->rhs, count_access, &count);
    Collection collection = {
        .leaf = leaf, .outside = outside, .operands = arena_array(leaf->builder->arena, Operand, count)};
    add_operands(&collection, leaf->leaf);
    collection.written = true;
    if (!leaf->builder->structure && build_stage(leaf->builder)->result == RESULT_ASSEMBLED)
        add_operand(&collection, leaf->leaf->assign->lhs);
    leaf->operands = collection.operands;
    return collection.operands;
}

int sparse_var(const SparseState *state, const Operand *operand, const char *what, int type) {
    LoopKernel *kernel = state->leaf->builder->kernel;
    return loop_add_var(kernel,
                        (LoopVar){.name = arena_printf(kernel->arena, "%s%d", what, operand->level + 1),
                                  .type = type,
                                  .stem_array = operand->view->array,
                                  .stem_var = -1});
}

const IntExpr *sparse_let_index(const SparseState *state, const Operand *operand, const char *what,
                                const Value *value, LoopBody *to) {
    if (value->kind == VALUE_INDEX && !value->index->left)
        return value->index;
    const int var = sparse_var(state, operand, what, VALUE_TYPE_INDEX);
    sparse_append(state, to, loop_let(sparse_arena(state), var, value));
    return int_var(sparse_arena(state), var);
}

const Value *sparse_let_condition(const SparseState *state, const Operand *operand, const Value *value,
                                  LoopBody *to) {
    const int var = sparse_var(state, operand, "has", VALUE_TYPE_CONDITION);
    sparse_append(state, to, loop_let(sparse_arena(state), var, value));
    return value_var(sparse_arena(state), VALUE_TYPE_CONDITION, var);
}

static const IntExpr *plus_one(Arena *arena, const IntExpr *expr) {
    return int_op(arena, INT_ADD, expr, int_const(arena, 1));
}

const IntExpr *sparse_end(const SparseState *state, const Operand *operand) {
    return operand->end ? operand->end : plus_one(sparse_arena(state), operand->begin);
}

LevelRange sparse_below(Arena *arena, const Level *level, const IntExpr *begin, const IntExpr *end,
                        const Value *present) {
    LevelRange range = {value_index(arena, int_op(arena, INT_MUL, begin, level->extent)),
                        value_index(arena, int_op(arena, INT_MUL, end, level->extent))};
    if (!level->type.format->full)
        range = level->type.format->range(arena, level, begin, end);
    if (present) {
        const Value *zero = value_index(arena, int_const(arena, 0));
        range.begin = value_select(arena, present, range.begin, zero);
        range.end = value_select(arena, present, range.end, zero);
    }
    return range;
}

void sparse_range(const SparseState *state, const Operand *operand, const IntExpr **begin,
                  const IntExpr **end, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    const LevelRange range = sparse_below(arena, sparse_level(operand), operand->begin,
                                          sparse_end(state, operand), operand->end ? NULL : operand->present);
    *begin = sparse_let_index(state, operand, "begin", range.begin, to);
    *end = sparse_let_index(state, operand, "end", range.end, to);
}

const IntExpr *sparse_next(const SparseState *state, const Operand *operand, const IntExpr *position,
                           const IntExpr *end, const Value *found, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    const Level *level = sparse_level(operand);
    const Value *next = value_index(arena, plus_one(arena, position));
    if (level->type.nonunique)
        next = level->type.format->run_end(arena, level, position, end);
    return sparse_let_index(state, operand, "next",
                            found ? value_select(arena, found, next, value_index(arena, position)) : next,
                            to);
}

// An index less `source`, where it is the source plus integers and variables with values around the loop;
// else NULL.
static const IntExpr *offset_from(const SparseState *state, const AffineIndex *index, int source) {
    Arena *arena = sparse_arena(state);
    const IntExpr *offset = index->constant;
    bool found = false;
    for (int i = 0; i < index->count; i++) {
        const IntExpr *coefficient = index->coefficients[i];
        if (index->vars[i] == source && coefficient->op == INT_CONST && coefficient->value == 1)
            found = true;
        else if (state->known[index->vars[i]])
            offset = int_op(arena, INT_ADD, offset,
                            int_op(arena, INT_MUL, coefficient, int_var(arena, index->vars[i])));
        else
            return NULL;
    }
    return found ? offset : NULL;
}

bool sparse_stores(const SparseState *state, const Operand *operand, int source, const IntExpr **offset) {
    const Cin *cin = state->leaf->builder->spmd->cin;
    const Level *level = sparse_level(operand);
    *offset = NULL;
    if (!level || !level->type.format->range || source < 0)
        return false;
    const int var = operand->access->vars[level->mode];
    if (var != source && cin_is_index(cin, var))
        *offset = offset_from(state, cin_replaced_by(cin, var)->affine, source);
    return var == source || *offset;
}

// coordinate + offset or coordinate - offset; of a number below zero the other one, as people write it.
static const IntExpr *move(Arena *arena, const IntExpr *coordinate, IntOp op, const IntExpr *offset) {
    if (offset->op == INT_CONST && offset->value < 0)
        return int_op(arena, op == INT_ADD ? INT_SUB : INT_ADD, coordinate, int_const(arena, -offset->value));
    return int_op(arena, op, coordinate, offset);
}

const IntExpr *sparse_to_stored(const SparseState *state, const SparseLoop *loop, int o,
                                const IntExpr *coordinate) {
    const IntExpr *offset = loop->offsets[o];
    return offset ? move(sparse_arena(state), coordinate, INT_ADD, offset) : coordinate;
}

const IntExpr *sparse_from_stored(const SparseState *state, const SparseLoop *loop, int o,
                                  const IntExpr *stored) {
    const IntExpr *offset = loop->offsets[o];
    return offset ? move(sparse_arena(state), stored, INT_SUB, offset) : stored;
}

const IntExpr *sparse_after(const SparseState *state, const SparseLoop *loop) {
    if (loop->after)
        return loop->after;
    if (loop->part_count > 0)
        return state->leaf->builder->spmd->cin->vars[loop->source].extent;
    const IntExpr *upper = state->leaf->uppers[loop->number];
    return loop->first ? int_op(sparse_arena(state), INT_ADD, loop->first, upper) : upper;
}

const IntExpr *sparse_beyond(const SparseState *state, const SparseLoop *loop, int o) {
    return loop->has_offsets ? sparse_to_stored(state, loop, o, sparse_after(state, loop))
                             : int_const(sparse_arena(state), INT64_MAX);
}

const Value *sparse_load_cursor(Arena *arena, int cursor) {
    return value_convert(arena, value_element(arena, VALUE_LOAD, TYPE_I64, cursor, NULL), VALUE_TYPE_INDEX);
}

int sparse_cursor(const SparseState *state, const Operand *operand, const IntExpr *begin, LoopBody *to) {
    LoopKernel *kernel = state->leaf->builder->kernel;
    const char *name =
        arena_printf(kernel->arena, "%s_at%d", operand->access->tensor->name, operand->level + 1);
    const int cursor =
        loop_add_array(kernel, (LoopArray){.name = name, .type = TYPE_I64, .written = true, .scalar = true});
    LoopNode *workspace = loop_node(kernel->arena, LOOP_WORKSPACE);
    workspace->array = cursor;
    sparse_append(state, to, workspace);
    sparse_append(state, to,
                  loop_update(kernel->arena, LOOP_STORE, cursor, NULL, value_index(kernel->arena, begin)));
    return cursor;
}

// Moves the cursor of an operand to the first position whose coordinate is not less than `coordinate`.
static const IntExpr *append_following(const SparseState *state, const Operand *operand,
                                       const IntExpr *coordinate, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    const Level *level = sparse_level(operand);
    const IntExpr *from =
        sparse_let_index(state, operand, "from", sparse_load_cursor(arena, operand->cursor), to);
    const Value *found = level->type.format->search(arena, level, from, operand->cursor_end, coordinate);
    const IntExpr *position = sparse_let_index(state, operand, "p", found, to);
    sparse_append(state, to,
                  loop_update(arena, LOOP_STORE, operand->cursor, NULL, value_index(arena, position)));
    return position;
}

// The position that the cursor of an operand is at, from which it moves on.
static void take_next(const SparseState *state, Operand *operand, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    operand->begin = sparse_let_index(state, operand, "p", sparse_load_cursor(arena, operand->cursor), to);
    sparse_append(state, to,
                  loop_update(arena, LOOP_STORE, operand->cursor, NULL,
                              value_index(arena, plus_one(arena, operand->begin))));
    operand->end = NULL;
    operand->consecutive = false;
    operand->cursor = -1;
    sparse_pass_level(operand);
}

void sparse_number(SparseState *state, const Operand *operand, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    Builder *builder = state->leaf->builder;
    LoopKernel *kernel = builder->kernel;
    const int level = operand->level - 1;
    for (int t = 0; !builder->structure && !operand->written && t < builder->spmd->transfer_count; t++) {
        const Transfer *transfer = &builder->spmd->transfers[t];
        if (transfer->indexing < 0 || operand->view != &builder->views[transfer->indexing])
            continue;
        for (int m = 0; m < transfer->access->tensor->order; m++) {
            if (transfer->index_levels[m] != level || level < 0 || state->numbers[t][m])
                continue;
            const int array = builder->views[t].number_arrays[m];
            const int var = loop_add_var(kernel, (LoopVar){.name = arena_printf(arena, "at%d", m + 1),
                                                           .type = VALUE_TYPE_INDEX,
                                                           .stem_array = builder->views[t].array,
                                                           .stem_var = -1});
            const Value *number =
                value_convert(arena,
                              value_element(arena, VALUE_LOAD, (int)kernel->arrays.items[array].type, array,
                                            operand->begin),
                              VALUE_TYPE_INDEX);
            if (operand->present)
                number =
                    value_select(arena, operand->present, number, value_index(arena, int_const(arena, 0)));
            sparse_append(state, to, loop_let(arena, var, number));
            state->numbers[t][m] = int_var(arena, var);
        }
    }
}

// Looks up the position of an operand in its next level, whose coordinate is known.
static void append_lookup(SparseState *state, Operand *operand, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    const Level *level = sparse_level(operand);
    const LevelFormat *format = level->type.format;
    const IntExpr *coordinate = int_var(arena, operand->access->vars[level->mode]);
    if (format->full) {
        const IntExpr *parent = operand->level ? operand->begin : NULL;
        const IntExpr *at = format->locate(arena, level, parent, coordinate);
        operand->begin = sparse_let_index(state, operand, "p", value_index(arena, at), to);
        operand->end = NULL;
        sparse_pass_level(operand);
        return;
    }
    if (assembly_adds_to_row(state->leaf, operand)) {
        operand->begin = coordinate;
        operand->end = NULL;
        sparse_pass_level(operand);
        return;
    }
    if (operand->consecutive) {
        take_next(state, operand, to);
        return;
    }
    const IntExpr *begin = operand->begin, *end = sparse_end(state, operand), *position;
    if (operand->cursor >= 0) {
        end = operand->cursor_end;
        position = append_following(state, operand, coordinate, to);
    } else {
        if (format->range)
            sparse_range(state, operand, &begin, &end, to);
        const Value *at = format->search(arena, level, begin, end, coordinate);
        // Below what is absent there may be no such position, as of a bit behind all others.
        if (!format->range && operand->present)
            at = value_select(arena, operand->present, at, value_index(arena, int_const(arena, 0)));
        position = sparse_let_index(state, operand, "p", at, to);
    }
    const Value *found = format->found(arena, level, position, end, coordinate);
    if (!format->range && operand->present)
        found = value_op(arena, VALUE_AND, VALUE_TYPE_CONDITION, operand->present, found);
    found = sparse_let_condition(state, operand, found, to);
    // The result has an entry wherever there is a value to write.
    state->unchecked = state->unchecked || !operand->written;
    operand->end = sparse_next(state, operand, position, end, found, to);
    operand->begin = position;
    operand->present = found;
    operand->cursor = -1;
    sparse_pass_level(operand);
    sparse_number(state, operand, to);
}

void sparse_lookups(SparseState *state, bool written, LoopBody *to) {
    for (int o = 0; o < state->leaf->operand_count; o++) {
        Operand *operand = &state->operands[o];
        for (const Level *level; operand->written == written && (level = sparse_level(operand)) &&
                                 state->known[operand->access->vars[level->mode]];)
            append_lookup(state, operand, to);
    }
}

void sparse_copy_values(const SparseState *state, int result, LoopBody *to) {
    Arena *arena = sparse_arena(state);
    LeafBuilder *leaf = state->leaf;
    const int row = leaf->written, type = (int)leaf->builder->kernel->arrays.items[row].type;
    const Operand *operand = state->operands;
    while (!operand->written)
        operand++;
    const Level *level = sparse_level(operand);
    LoopNode *node = loop_node(arena, LOOP_FOR);
    sparse_range(state, operand, &node->lower, &node->upper, to);
    node->var = sparse_var(state, operand, "p", VALUE_TYPE_INDEX);
    const IntExpr *position = int_var(arena, node->var);
    const IntExpr *coordinate = sparse_let_index(
        state, operand, "c", level->type.format->coordinate(arena, level, position), &node->body);
    sparse_append(state, &node->body,
                  loop_update(arena, build_stage(leaf->builder)->stores_rows ? LOOP_STORE : LOOP_ACCUMULATE,
                              result, position, value_element(arena, VALUE_LOAD, type, row, coordinate)));
    sparse_append(state, &node->body,
                  loop_update(arena, LOOP_STORE, row, coordinate, value_zero(arena, type)));
    sparse_append(state, to, node);
    leaf->written = result;
}
