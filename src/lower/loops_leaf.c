// SPDX-License-Identifier: BSD-3-Clause
// Leaves as nodes of the loop IR: definitions, guards, loops, and the update or the call inside them.
#include "lower/builder.h"
#include "lower/leaf.h"

// With the loops of a call at their beginning.
static const IntExpr *at_start(const LeafBuilder *leaf, const IntExpr *expr) {
    return loop_substitute(leaf->builder->arena, expr, leaf->first, MAX_VARS);
}

int build_operand(const LeafBuilder *leaf, const Access *access, TransferKind kind) {
    for (int o = 0; o < leaf->operand_count; o++)
        if (leaf->operands[o].written == (kind == TRANSFER_REDUCE) &&
            access_equal(leaf->operands[o].access, access))
            return o;
    return -1;
}

// The number of the coordinate that another operand indexes this one by; NULL: none does.
static const IntExpr *find_number(const LeafBuilder *leaf, const View *view, int mode) {
    const Builder *builder = leaf->builder;
    for (int t = 0; leaf->numbers && t < builder->spmd->transfer_count; t++)
        if (view == &builder->views[t])
            return leaf->numbers[t][mode];
    return NULL;
}

const IntExpr *build_position(const LeafBuilder *leaf, const Access *access, TransferKind kind) {
    Arena *arena = leaf->builder->arena;
    const View *view = build_view(leaf->builder, access, kind);
    const IntExpr *position = NULL;
    const Stage *stage = build_stage(leaf->builder);
    const bool shared = kind == TRANSFER_REDUCE && stage->shared && tensor_is_sparse(access->tensor);
    const int operand =
        shared ? build_operand(leaf, stage->shared, TRANSFER_FETCH) : build_operand(leaf, access, kind);
    if (operand >= 0)
        return leaf->operands[operand].at[access->tensor->order - 1];
    if (view->scalar)
        return NULL;
    for (int l = 0; l < view->level_count; l++) {
        const Level *level = &view->levels[l];
        const IntExpr *number = find_number(leaf, view, level->mode);
        const IntExpr *coordinate =
            number ? number : at_start(leaf, int_var(arena, access->vars[level->mode]));
        position = (kind == TRANSFER_REDUCE ? level->type.format->insert
                                            : level->type.format->locate)(arena, level, position, coordinate);
    }
    return position ? position : int_const(arena, 0);
}

const IntExpr *build_stride(const LeafBuilder *leaf, const Access *access, TransferKind kind, int source) {
    const View *view = build_view(leaf->builder, access, kind);
    for (int l = 0; l < view->level_count; l++)
        if (access->vars[view->levels[l].mode] == source)
            return view->levels[l].stride;
    return int_const(leaf->builder->arena, 0);
}

static void append(const LeafBuilder *leaf, LoopBody *to, const LoopNode *node) {
    loop_append(leaf->builder->arena, to, node);
}

static bool has_omitted(const Builder *builder, const IntExpr *expr) {
    if (expr->op == INT_VAR && expr->value < MAX_VARS && builder->omitted >> expr->value & 1)
        return true;
    return (expr->left && has_omitted(builder, expr->left)) ||
           (expr->right && has_omitted(builder, expr->right));
}

static bool is_omitted(const Builder *builder, const Guard *guard) {
    return has_omitted(builder, guard->less) || has_omitted(builder, guard->than);
}

void build_definitions(const LeafBuilder *leaf, const Definition *definitions, int count, LoopBody *to) {
    Builder *builder = leaf->builder;
    for (int i = 0; i < count; i++) {
        const int var = definitions[i].var;
        const bool omitted = has_omitted(builder, definitions[i].value);
        builder->omitted &= ~((VarSet)1 << var);
        builder->omitted |= (VarSet)omitted << var;
        if (!leaf->first[var] && !omitted)
            append(leaf, to,
                   loop_let(builder->arena, var,
                            value_index(builder->arena, at_start(leaf, definitions[i].value))));
    }
}

// A bound of a loop: a name of its own where it is more than a number or a size.
static const IntExpr *build_bound(const LeafBuilder *leaf, const IntExpr *bound, const char *name, int var,
                                  LoopBody *to) {
    if (!bound->left || int_is_closed(bound))
        return bound;
    return loop_append_let(leaf->builder->kernel, to, name, var,
                           value_index(leaf->builder->arena, at_start(leaf, bound)));
}

void build_upper(LeafBuilder *leaf, int l, LoopBody *to) {
    const LeafLoop *loop = &leaf->leaf->loops[l];
    leaf->uppers[l] = build_bound(leaf, loop->upper, "end", loop->var, to);
}

// An IF around what follows; `to` itself where there is no condition.
LoopBody *build_if(const LeafBuilder *leaf, const Value *const *conditions, int count, LoopBody *to) {
    if (count == 0)
        return to;
    Arena *arena = leaf->builder->arena;
    LoopNode *node = loop_node(arena, LOOP_IF);
    node->value = count == 1 ? conditions[0]
                             : value_list(arena, VALUE_AND, VALUE_TYPE_CONDITION, NULL, count, conditions);
    append(leaf, to, node);
    return &node->body;
}

LoopBody *build_guards(const LeafBuilder *leaf, const Guard *guards, int count, LoopBody *to) {
    Arena *arena = leaf->builder->arena;
    const Value **conditions = arena_array(arena, const Value *, count);
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (!is_omitted(leaf->builder, &guards[i]))
            conditions[kept++] = value_less(arena, guards[i].less, guards[i].than);
    return build_if(leaf, conditions, kept, to);
}

// That the loops of a call have iterations, where that is not known. Without any, what the call reads may not
// be there.
static LoopBody *append_work_guard(const LeafBuilder *leaf, LoopBody *to) {
    Arena *arena = leaf->builder->arena;
    const Value *conditions[MAX_VARS];
    int count = 0;
    for (int l = leaf->plain_count; l < leaf->leaf->loop_count; l++)
        if (leaf->uppers[l]->op != INT_CONST || leaf->uppers[l]->value <= 0)
            conditions[count++] = value_less(arena, int_const(arena, 0), leaf->uppers[l]);
    return build_if(leaf, conditions, count, to);
}

static bool is_atomic(const LeafBuilder *leaf) {
    for (int l = 0; l < leaf->leaf->loop_count; l++)
        if (leaf->leaf->loops[l].atomic)
            return !leaf->unshared;
    return leaf->atomic;
}

void build_innermost(LeafBuilder *leaf, LoopBody *to) {
    Arena *arena = leaf->builder->arena;
    const Leaf *from = leaf->leaf;
    const IntExpr *count = int_const(arena, 1);
    // Where leaves fill and read a row workspace one after the other, a variable may differ between them.
    const bool shared = leaf->builder->rows != NULL;
    for (int l = leaf->plain_count; l < from->loop_count; l++)
        for (int d = 0; d < from->loops[l].definition_count; d++) {
            const Definition *definition = &from->loops[l].definitions[d];
            if (shared)
                leaf->first[definition->var] = at_start(leaf, definition->value);
            else
                build_definitions(leaf, definition, 1, to);
        }
    for (int l = leaf->plain_count; l < from->loop_count; l++) {
        build_upper(leaf, l, to);
        count = int_op(arena, INT_MUL, count, leaf->uppers[l]);
    }
    to = append_work_guard(leaf, to);
    if (from->call && (from->call->kernel != KERNEL_DOT || leaf->builder->spmd->on_gpu)) {
        LoopNode *call = loop_node(arena, LOOP_CALL);
        call->value = build_call(leaf);
        call->count = count;
        append(leaf, to, call);
        return;
    }
    const Value *value = from->call ? build_call(leaf) : build_expr(leaf, from->assign->rhs);
    const LoopNode *update =
        loop_update(arena, from->assign->accumulate ? LOOP_ACCUMULATE : LOOP_STORE, leaf->written,
                    build_position(leaf, from->assign->lhs, TRANSFER_REDUCE), value);
    LoopNode *copy = arena_copy(arena, update, sizeof *update);
    copy->atomic = is_atomic(leaf);
    copy->count = from->call ? count : NULL;
    append(leaf, to, copy);
}

// Threads with partial results: every thread executes the loops outside of the one whose iterations they
// share.
static LoopBody *append_team(LeafBuilder *leaf, LoopBody *to) {
    LoopKernel *kernel = leaf->builder->kernel;
    LoopNode *team = loop_node(leaf->builder->arena, LOOP_TEAM);
    const LoopArray *shared = &kernel->arrays.items[leaf->written];
    team->array = leaf->written;
    team->own =
        loop_add_array(kernel, (LoopArray){.name = arena_printf(kernel->arena, "%s_own", shared->name),
                                           .type = shared->type,
                                           .reducer = shared->reducer,
                                           .partials = leaf->builder->spmd->on_gpu,
                                           .written = true});
    team->transfer =
        (int)(build_view(leaf->builder, leaf->leaf->assign->lhs, TRANSFER_REDUCE) - leaf->builder->views);
    kernel->arrays.items[team->own].number = team->transfer;
    leaf->written = leaf->builder->views[team->transfer].array = team->own;
    append(leaf, to, team);
    return &team->body;
}

typedef struct {
    Builder *builder;
    int var;
    const Level *level;
} LevelSearch;

static void find_level(void *context, const Access *access) {
    LevelSearch *search = context;
    const View *view = build_view(search->builder, access, TRANSFER_FETCH);
    for (int l = 0; view && l < view->level_count; l++) {
        const Level *level = &view->levels[l];
        // A level that does not store every coordinate says which there are.
        if (access->vars[level->mode] == search->var && (!search->level || !level->type.format->full))
            search->level = level;
    }
}

// In all assignments inside.
static void find_levels(LevelSearch *search, const Leaf *leaf) {
    const SpmdNest *nest = search->builder->nest;
    for (int f = 0; f < leaf->fill_count; f++)
        find_levels(search, leaf->fills[f]);
    if (leaf->reader) {
        find_levels(search, leaf->reader);
        return;
    }
    search->builder->nest = &search->builder->spmd->nests[leaf->nest];
    expr_accesses(leaf->assign->rhs, find_level, search);
    search->builder->nest = nest;
}

// The level whose coordinates a loop iterates over: of an operand where one has its variable, else a dense
// level, which has every coordinate.
static const Level *level_of(const LeafBuilder *leaf, int var) {
    LevelSearch search = {leaf->builder, var, NULL};
    find_levels(&search, leaf->leaf);
    if (search.level)
        return search.level;
    Level *universe = arena_new(leaf->builder->arena, Level);
    *universe = (Level){.type = level_type_dense(), .mode = -1};
    return universe;
}

static void append_loops(LeafBuilder *leaf, int l, bool threaded, LoopBody *to);

static LeafBuilder leaf_builder(Builder *builder, const Leaf *from) {
    LeafBuilder leaf = {.builder = builder,
                        .leaf = from,
                        .plain_count = from->loop_count - (from->call ? from->call_loops : 0)};
    builder->nest = &builder->spmd->nests[from->nest];
    leaf.written = build_view(builder, from->assign->lhs, TRANSFER_REDUCE)->array;
    for (int l = leaf.plain_count; l < from->loop_count; l++)
        leaf.first[from->loops[l].var] = int_const(builder->arena, 0);
    return leaf;
}

// A leaf inside of another one. `state`: what is known of sparse operands; NULL where there are none.
static void append_leaf(const LeafBuilder *outer, const Leaf *from, const SparseState *state, bool threaded,
                        LoopBody *to) {
    LeafBuilder leaf = leaf_builder(outer->builder, from);
    leaf.atomic = is_atomic(outer) && from == outer->leaf->reader;
    leaf.assembly = outer->assembly;
    build_definitions(&leaf, from->definitions, from->definition_count, to);
    to = build_guards(&leaf, from->guards, from->guard_count, to);
    if (from->sparse)
        build_sparse_loops(&leaf, state, to);
    else
        append_loops(&leaf, 0, threaded, to);
}

// An array with a level for each mode that has more than one coordinate; a scalar where none has.
static LoopNode *make_row(const Builder *builder, RowView *rows) {
    Arena *arena = builder->arena;
    const RowWorkspace *row = rows->row;
    const IntExpr *size = int_const(arena, 1);
    for (int m = row->tensor->order - 1; m >= 0; m--) {
        if (row->extents[m]->op == INT_CONST && row->extents[m]->value == 1)
            continue;
        for (int l = rows->view.level_count++; l > 0; l--)
            rows->view.levels[l] = rows->view.levels[l - 1];
        rows->view.levels[0] = (Level){.type = level_type_dense(),
                                       .mode = m,
                                       .last = rows->view.level_count == 1,
                                       .first = row->first[m],
                                       .stride = size};
        size = int_op(arena, INT_MUL, size, row->extents[m]);
    }
    const bool scalar = rows->view.scalar = rows->view.level_count == 0;
    LoopNode *node = loop_node(arena, LOOP_WORKSPACE);
    node->array = rows->view.array =
        loop_add_array(builder->kernel, (LoopArray){.name = row->tensor->name,
                                                    .given = true,
                                                    .type = row->tensor->type,
                                                    .written = true,
                                                    .scalar = scalar,
                                                    .extent = scalar ? NULL : size,
                                                    .number = (int)(row - builder->spmd->rows)});
    node->stored = row->stored && !scalar;
    return node;
}

void build_row(const LeafBuilder *leaf, const SparseState *state, bool threaded, LoopBody *to) {
    Builder *builder = leaf->builder;
    RowView rows = {.row = &builder->spmd->rows[leaf->leaf->row], .outer = builder->rows};
    append(leaf, to, make_row(builder, &rows));
    builder->rows = &rows;
    for (int f = 0; f < leaf->leaf->fill_count; f++)
        append_leaf(leaf, leaf->leaf->fills[f], state, threaded, to);
    append_leaf(leaf, leaf->leaf->reader, state, threaded, to);
    builder->rows = rows.outer;
}

// The loops from `l` inwards. `threaded`: a loop around them is threaded.
static void append_loops(LeafBuilder *leaf, int l, bool threaded, LoopBody *to) {
    if (l == leaf->plain_count) {
        if (leaf->leaf->row >= 0)
            build_row(leaf, NULL, threaded, to);
        else
            build_innermost(leaf, to);
        return;
    }
    Arena *arena = leaf->builder->arena;
    const LeafLoop *loop = &leaf->leaf->loops[l];
    const bool thread = loop->thread || loop->thread_reduces;
    const IntExpr *lower = build_bound(leaf, loop->lower, "begin", loop->var, to);
    build_upper(leaf, l, to);
    const Level *level = level_of(leaf, loop->var);
    LoopNode *node = level->type.format->iterate(arena, level, NULL, loop->var, lower, leaf->uppers[l]);
    node->execution.distinct = loop->distinct;
    node->execution.permutable = loop->permutable;
    node->execution.thread = (thread && !threaded) || (loop->partials && loop->unit == GPU_NONE);
    node->execution.partials = loop->partials && loop->unit != GPU_NONE;
    node->execution.vector = loop->vector;
    node->execution.unroll = loop->unroll;
    node->execution.unit = loop->unit;
    build_definitions(leaf, loop->definitions, loop->definition_count, &node->body);
    append_loops(leaf, l + 1, threaded || thread,
                 build_guards(leaf, loop->guards, loop->guard_count, &node->body));
    append(leaf, to, node);
}

static bool needs_definition(const Leaf *leaf, const Guard *guard) {
    for (int d = 0; d < leaf->definition_count; d++)
        if (loop_mentions(guard->less, leaf->definitions[d].var) ||
            loop_mentions(guard->than, leaf->definitions[d].var))
            return true;
    return false;
}

// Guards on what is known outside come first: definitions hold only for coordinates that exist.
void build_leaf(Builder *builder, const Leaf *from, LoopBody *to) {
    Arena *arena = builder->arena;
    LeafBuilder leaf = leaf_builder(builder, from);
    View *view = &builder->views[build_view(builder, from->assign->lhs, TRANSFER_REDUCE) - builder->views];
    const int shared = view->array;
    const Value **conditions =
        arena_array(arena, const Value *, from->guard_count + 2 + builder->spmd->transfer_count);
    Guard *inner = arena_array(arena, Guard, from->guard_count + 1);
    int count = 0, inner_count = 0;
    conditions[count++] = value_var(arena, VALUE_TYPE_CONDITION, builder->active);
    // Where there is no iteration there is nothing to copy, and nothing to set to zero.
    const bool partials = leaf_has_partials(from) && !builder->structure;
    const bool zeros =
        from->sparse && builder->spmd->nests[from->nest].zero_depth >= 0 && !builder->structure;
    if (partials || zeros)
        conditions[count++] = value_element(arena, VALUE_PRESENT, VALUE_TYPE_CONDITION, leaf.written, NULL);
    // A processor whose part is empty has no arrays of sparse operands.
    const int present_count =
        from->sparse && builder->spmd->dim_count > 0 ? builder->spmd->transfer_count : 0;
    for (int t = 0; t < present_count; t++) {
        const Transfer *transfer = &builder->spmd->transfers[t];
        if (builder->spmd->nests[transfer->nest].inside == from->nest && transfer->kind == TRANSFER_FETCH &&
            tensor_is_sparse(transfer->access->tensor))
            conditions[count++] =
                value_element(arena, VALUE_PRESENT, VALUE_TYPE_CONDITION, builder->views[t].array, NULL);
    }
    for (int g = 0; g < from->guard_count; g++)
        if (needs_definition(from, &from->guards[g]))
            inner[inner_count++] = from->guards[g];
        else if (!is_omitted(builder, &from->guards[g]))
            conditions[count++] = value_less(arena, from->guards[g].less, from->guards[g].than);
    LoopNode *node = loop_node(arena, LOOP_LEAF);
    node->text = from->why ? from->why : "";
    node->value = count == 1 ? conditions[0]
                             : value_list(arena, VALUE_AND, VALUE_TYPE_CONDITION, NULL, count, conditions);
    build_definitions(&leaf, from->definitions, from->definition_count, &node->body);
    LoopBody *body = build_guards(&leaf, inner, inner_count, &node->body);
    if (partials)
        body = append_team(&leaf, body);
    if (from->sparse)
        build_sparse_loops(&leaf, NULL, body);
    else
        append_loops(&leaf, 0, false, body);
    view->array = shared;
    loop_append(arena, to, node);
}
