// SPDX-License-Identifier: BSD-3-Clause
#include "loop/long_rows.h"

#include <string.h>

enum { PARTS = 64 }; // of a sum

typedef struct {
    const LoopRows *rows;
    int *inside;      // by variable: 1 where the loop over rows binds it
    bool *workspaces; // by array: of the row, in local memory
    bool found;       // a loop over positions
} Row;

// A loop over the positions of a row.
typedef struct {
    const Row *row;
    const LoopNode *loop;
    bool *sums;               // by array: workspaces of the row that the loop adds to
    int *arrays;              // by array: the sum of a part that takes its place, or itself
    int64_t count;            // of arrays, before there are new ones
    LoopNode *parts, *adding; // the loop over parts, and the one that adds up their sums
    LoopBody after;           // in the former, after what the part sums
} Positions;

static Arena *arena_of(const Row *row) {
    return row->rows->kernel->arena;
}

static bool is_update(const LoopNode *node) {
    return node->kind == LOOP_STORE || node->kind == LOOP_ACCUMULATE;
}

static bool is_prefetch(const LoopNode *node) {
    return node->kind == LOOP_CALL && !strcmp(node->value->name, "distal_prefetch");
}

static bool is_plain(const LoopNode *node) {
    return node->kind == LOOP_LET || node->kind == LOOP_IF || node->kind == LOOP_WORKSPACE ||
           node->kind == LOOP_COMMENT || is_update(node);
}

// Whether iterations of a loop over positions can be executed by several threads: they write distinct
// elements, or what each thread has, or add to workspaces of the row.
static bool find_sums(Positions *positions) {
    const Row *row = positions->row;
    const LoopBody nodes = loop_nodes(arena_of(row), positions->loop);
    bool *bound = arena_array(arena_of(row), bool, positions->count);
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->kind == LOOP_WORKSPACE)
            bound[nodes.items[i]->array] = true;
    for (int64_t i = 0; i < nodes.count; i++) {
        const LoopNode *node = nodes.items[i];
        const bool loop = node->kind == LOOP_FOR || node->kind == LOOP_WHILE;
        if ((!loop && !is_plain(node) && !is_prefetch(node)) || node->execution.thread)
            return false;
        if (!is_update(node) || bound[node->array] || node->array == row->rows->own)
            continue;
        const bool sum = row->workspaces[node->array];
        if (sum ? node->kind != LOOP_ACCUMULATE || row->rows->own >= 0 : !positions->loop->execution.distinct)
            return false;
        positions->sums[node->array] = sum;
    }
    for (int64_t i = 0; i < nodes.count; i++) {
        const ValueList values = loop_values(arena_of(row), nodes.items[i]);
        for (int64_t v = 0; v < values.count; v++)
            if (values.items[v]->array >= 0 && positions->sums[values.items[v]->array])
                return false;
    }
    return true;
}

// In place of workspaces of the row, nodes update those of the part.
static void rename_sums(void *context, const LoopNode *node, LoopBody *to) {
    const Positions *positions = context;
    LoopNode *copy = loop_with_body(arena_of(positions->row), node, node->body);
    int *sums = arena_array(arena_of(positions->row), int, node->execution.sum_count);
    for (int s = 0; s < node->execution.sum_count; s++)
        sums[s] = positions->arrays[node->execution.sums[s]];
    copy->execution.sums = sums;
    if (copy->array >= 0)
        copy->array = positions->arrays[copy->array];
    loop_append(arena_of(positions->row), to, copy);
}

// Where an array begins: position `at`, or 0 where that is NULL.
typedef struct {
    int array;
    const IntExpr *at;
} Place;

// Updates `length` elements of one array by those of another; a scalar has no length.
static void append_elements(const Row *row, LoopKind kind, Place to, Place from, const IntExpr *length,
                            LoopBody *body) {
    LoopKernel *kernel = row->rows->kernel;
    Arena *arena = kernel->arena;
    const int type = (int)kernel->arrays.items[from.array].type;
    if (!length) {
        const Value *value = value_element(arena, VALUE_LOAD, type, from.array, from.at);
        loop_append(arena, body, loop_update(arena, kind, to.array, to.at, value));
        return;
    }
    LoopNode *loop = loop_node(arena, LOOP_FOR);
    loop->var = loop_add_index(kernel, "element", -1);
    loop->lower = int_const(arena, 0);
    loop->upper = length;
    loop->execution = (LoopExecution){.distinct = true, .vector = true};
    const IntExpr *element = int_var(arena, loop->var);
    const Value *value = value_element(arena, VALUE_LOAD, type, from.array,
                                       from.at ? int_op(arena, INT_ADD, from.at, element) : element);
    const IntExpr *position = to.at ? int_op(arena, INT_ADD, to.at, element) : element;
    loop_append(arena, &loop->body, loop_update(arena, kind, to.array, position, value));
    loop_append(arena, body, loop);
}

static LoopNode *loop_of_parts(const Row *row) {
    LoopNode *parts = loop_node(arena_of(row), LOOP_FOR);
    parts->var = loop_add_index(row->rows->kernel, "part", row->rows->loop->var);
    parts->lower = int_const(arena_of(row), 0);
    parts->upper = int_const(arena_of(row), PARTS);
    return parts;
}

// Workspace `array` gets a sum in each part, and these are added to it.
static void append_sum(Positions *positions, int array, LoopBody *to) {
    const Row *row = positions->row;
    LoopKernel *kernel = row->rows->kernel;
    Arena *arena = kernel->arena;
    LoopArray sum = kernel->arrays.items[array], all = sum;
    sum.name = arena_printf(arena, "%s_part", sum.name);
    all.name = arena_printf(arena, "%s_parts", all.name);
    sum.given = all.given = all.scalar = false;
    all.local = true;
    const IntExpr *one = int_const(arena, 1), *length = sum.scalar ? one : sum.extent;
    all.extent = int_op(arena, INT_MUL, int_const(arena, PARTS), length);
    LoopNode *workspace = loop_node(arena, LOOP_WORKSPACE), *workspaces = loop_node(arena, LOOP_WORKSPACE);
    positions->arrays[array] = workspace->array = loop_add_array(kernel, sum);
    workspaces->array = loop_add_array(kernel, all);
    workspaces->stored = true;
    loop_append(arena, to, workspaces);
    loop_append(arena, &positions->parts->body, workspace);
    const Place whole = {array, NULL}, own = {workspace->array, NULL},
                stored = {workspaces->array,
                          int_op(arena, INT_MUL, int_var(arena, positions->parts->var), length)},
                read = {workspaces->array,
                        int_op(arena, INT_MUL, int_var(arena, positions->adding->var), length)};
    append_elements(row, LOOP_STORE, stored, own, sum.scalar ? NULL : length, &positions->after);
    append_elements(row, LOOP_ACCUMULATE, whole, read, sum.scalar ? NULL : length, &positions->adding->body);
}

// Appends the loop in parts, each with sums of its own, and a loop that adds these up.
static void append_parts(Positions *positions, const LoopNode *shared, LoopBody *to) {
    const Row *row = positions->row;
    LoopKernel *kernel = row->rows->kernel;
    Arena *arena = kernel->arena;
    LoopNode *parts = positions->parts = loop_of_parts(row);
    positions->adding = loop_of_parts(row);
    LoopBody inside = {0};
    const IntExpr *bounds[2];
    static const char *const names[] = {"begin", "end"};
    for (int b = 0; b < 2; b++) {
        const IntExpr *part = int_op(arena, INT_ADD, int_var(arena, parts->var), int_const(arena, b));
        const Value *operands[] = {value_index(arena, int_op(arena, INT_SUB, shared->upper, shared->lower)),
                                   value_index(arena, int_const(arena, PARTS)), value_index(arena, part)};
        const Value *offset =
            value_list(arena, VALUE_CALL, VALUE_TYPE_INDEX, "distal_part_begin", 3, operands);
        bounds[b] = int_op(arena, INT_ADD, shared->lower,
                           loop_append_let(kernel, &parts->body, names[b], shared->var, offset));
    }
    for (int a = 0; a < (int)positions->count; a++)
        if (positions->sums[a])
            append_sum(positions, a, to);
    LoopNode *loop = arena_copy(arena, positions->loop, sizeof *loop);
    loop->lower = bounds[0];
    loop->upper = bounds[1];
    loop_append(arena, &inside, loop);
    loop_append_all(arena, &parts->body, loop_rewrite(arena, &inside, rename_sums, positions));
    loop_append_all(arena, &parts->body, positions->after);
    parts->execution = shared->execution;
    loop_append(arena, to, parts);
    loop_append(arena, to, positions->adding);
}

// Appends a loop over the positions of a row, which threads share. False where they cannot.
static bool append_positions(const Row *row, const LoopNode *loop, LoopBody *to) {
    const LoopRows *rows = row->rows;
    Arena *arena = rows->kernel->arena;
    Positions positions = {.row = row, .loop = loop, .count = rows->kernel->arrays.count};
    positions.sums = arena_array(arena, bool, positions.count);
    positions.arrays = arena_array(arena, int, positions.count);
    bool any = false;
    if (!find_sums(&positions))
        return false;
    for (int a = 0; a < (int)positions.count; a++) {
        positions.arrays[a] = a;
        any |= positions.sums[a];
    }
    LoopNode *shared = arena_copy(arena, loop, sizeof *loop);
    shared->execution = (LoopExecution){.thread = true, .vector = !any && loop->execution.vector};
    if (rows->own < 0)
        shared->execution.work =
            int_op(arena, INT_MUL, int_op(arena, INT_SUB, loop->upper, loop->lower), rows->each);
    if (any)
        append_parts(&positions, shared, to);
    else
        loop_append(arena, to, shared);
    return true;
}

static bool is_var(const IntExpr *expr, int var) {
    return expr->op == INT_VAR && expr->value == var;
}

// False where a node is something else than definitions, loops over the positions of the row, and, around and
// beside them, what does not depend on how many there are.
static bool append_body(Row *row, const LoopBody *from, LoopBody *to) {
    for (int64_t i = 0; i < from->count; i++) {
        const LoopNode *node = from->items[i];
        const bool loop = node->kind == LOOP_FOR;
        if (loop && node->step == 1 && is_var(node->lower, row->rows->begin) &&
            is_var(node->upper, row->rows->end)) {
            row->found = true;
            if (!append_positions(row, node, to))
                return false;
            continue;
        }
        // What all threads of a team execute writes nothing.
        if ((!loop && !is_plain(node) && !is_prefetch(node)) || node->execution.thread ||
            (is_update(node) && row->rows->own >= 0) ||
            (loop && (loop_depth_of(node->lower, row->inside) || loop_depth_of(node->upper, row->inside))))
            return false;
        const LoopArray *array = node->array >= 0 ? &row->rows->kernel->arrays.items[node->array] : NULL;
        if (node->kind == LOOP_WORKSPACE)
            row->workspaces[node->array] = array && (array->scalar || array->local);
        LoopBody body = {0};
        if (!append_body(row, &node->body, &body))
            return false;
        loop_append(arena_of(row), to, loop_with_body(arena_of(row), node, body));
    }
    return true;
}

bool loop_share_rows(const LoopRows *rows, LoopBody *to) {
    Arena *arena = rows->kernel->arena;
    Row row = {.rows = rows,
               .inside = arena_array(arena, int, rows->kernel->vars.count),
               .workspaces = arena_array(arena, bool, rows->kernel->arrays.count)};
    const LoopBody nodes = loop_nodes(arena, rows->loop);
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->var >= 0 && (nodes.items[i]->kind == LOOP_LET || nodes.items[i] == rows->loop))
            row.inside[nodes.items[i]->var] = 1;
    return append_body(&row, &rows->loop->body, to) && row.found;
}
