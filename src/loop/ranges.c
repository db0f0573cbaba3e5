// SPDX-License-Identifier: BSD-3-Clause
#include "loop/ranges.h"

#include <string.h>

// How many rows are visited for a range before the next one: where each of them continues is kept.
enum { GROUP = 512 };

static bool is_var(const IntExpr *expr, int var) {
    return expr && expr->op == INT_VAR && expr->value == var;
}

static bool is_over_positions(const LoopRows *rows, const LoopNode *node) {
    return node->kind == LOOP_FOR && node->step == 1 && is_var(node->lower, rows->begin) &&
           is_var(node->upper, rows->end);
}

static bool has_positions(const LoopRows *rows, const LoopNode *node) {
    const LoopBody nodes = loop_nodes(rows->kernel->arena, node);
    for (int64_t i = 0; i < nodes.count; i++)
        if (is_over_positions(rows, nodes.items[i]))
            return true;
    return false;
}

static bool is_update(const LoopNode *node) {
    return node->kind == LOOP_STORE || node->kind == LOOP_ACCUMULATE;
}

static bool is_prefetch(const LoopNode *node) {
    return node->kind == LOOP_CALL && !strcmp(node->value->name, "distal_prefetch");
}

static bool is_plain(const LoopNode *node) {
    return node->kind == LOOP_LET || node->kind == LOOP_IF || node->kind == LOOP_WORKSPACE ||
           node->kind == LOOP_COMMENT || is_update(node) || is_prefetch(node) ||
           (node->kind == LOOP_FOR && !node->execution.thread);
}

// --- Whether a row can be visited in parts.

typedef struct {
    const LoopRows *rows;
    int *bounds;    // by variable: 1 of those that bound the positions of the row
    bool *sums;     // by array: zero at first, and only added to by loops over positions
    bool positions; // the current nodes are in such a loop
    int gather;     // the end of prefetches at the coordinates of these positions; -1: none
} Check;

// Whether a body stores anything outside of loops over positions.
static bool stores_sums(const Check *check, const LoopBody *body) {
    for (int64_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == LOOP_STORE ||
            (!is_over_positions(check->rows, body->items[i]) && stores_sums(check, &body->items[i]->body)))
            return true;
    return false;
}

// Whether two parts of the entries of a row can do one after the other what a body does.
static bool is_divisible(Check *check, const LoopBody *body, const LoopNode *around) {
    Arena *arena = check->rows->kernel->arena;
    const LoopArray *arrays = check->rows->kernel->arrays.items;
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const ValueList values = loop_values(arena, node);
        const bool over = !check->positions && is_over_positions(check->rows, node);
        const Value *value = node->value;
        if (!is_plain(node) || (node->kind == LOOP_WORKSPACE && node->stored && !check->positions))
            return false;
        // That there are entries at all is a condition that holds for a part with any.
        const bool any = node->kind == LOOP_IF && value->kind == VALUE_LESS &&
                         is_var(value->operands[0]->index, check->rows->begin) &&
                         is_var(value->operands[1]->index, check->rows->end);
        if (!over && !any && loop_node_depth(arena, node, check->bounds))
            return false;
        // What is stored there would not be where the first part has no entry.
        if (any && stores_sums(check, &node->body))
            return false;
        const bool outside = is_update(node) && !check->positions;
        for (int64_t v = 0; v < values.count; v++)
            if (values.items[v]->array >= 0 && check->sums[values.items[v]->array] &&
                !(outside && values.items[v] == value && value->kind == VALUE_LOAD))
                return false;
        if (outside && (value->kind != VALUE_LOAD || !check->sums[value->array] || check->sums[node->array] ||
                        arrays[value->array].reducer != arrays[node->array].reducer))
            return false;
        if (is_update(node) && check->positions && check->sums[node->array] && node->kind == LOOP_STORE)
            return false;
        if (node->kind == LOOP_WORKSPACE && !check->positions)
            check->sums[node->array] = true;
        if (check->positions && node->kind == LOOP_IF && value->kind == VALUE_LESS &&
            is_var(value->operands[0]->index, around->var) && value->operands[1]->index->op == INT_VAR)
            check->gather = (int)value->operands[1]->index->value;
        check->positions |= over;
        const bool divisible = is_divisible(check, &node->body, over ? node : around);
        check->positions &= !over;
        if (!divisible)
            return false;
    }
    return true;
}

// The call that defines a variable, if that is up to which position gathered elements are prefetched.
static const Value *prefetch_end(const LoopKernel *kernel, int var) {
    for (int64_t i = 0; i < kernel->body.count; i++) {
        const LoopBody nodes = loop_nodes(kernel->arena, kernel->body.items[i]);
        for (int64_t n = 0; n < nodes.count; n++)
            if (nodes.items[n]->kind == LOOP_LET && nodes.items[n]->var == var &&
                nodes.items[n]->value->kind == VALUE_CALL &&
                !strncmp(nodes.items[n]->value->name, "distal_prefetch_end_", 20))
                return nodes.items[n]->value;
    }
    return NULL;
}

static const Value *call(LoopKernel *kernel, const char *name, bool wide, int count,
                         const Value *const *operands) {
    return value_list(kernel->arena, VALUE_CALL, VALUE_TYPE_INDEX,
                      arena_printf(kernel->arena, "%s_%s", name, wide ? "i64" : "i32"), count, operands);
}

bool loop_find_ranges(LoopRanges *ranges, LoopBody *to) {
    LoopKernel *kernel = ranges->rows->kernel;
    Arena *arena = kernel->arena;
    Check check = {.rows = ranges->rows,
                   .bounds = arena_array(arena, int, kernel->vars.count),
                   .sums = arena_array(arena, bool, kernel->arrays.count),
                   .gather = -1};
    check.bounds[ranges->rows->begin] = check.bounds[ranges->rows->end] = 1;
    if (!is_divisible(&check, &ranges->rows->loop->body, ranges->rows->loop) || check.gather < 0)
        return false;
    ranges->end = check.gather;
    ranges->gather = prefetch_end(kernel, check.gather);
    if (!ranges->gather)
        return false;
    ranges->wide = kernel->arrays.items[ranges->gather->operands[0]->array].type == TYPE_I64;
    const Value *operands[] = {ranges->positions, ranges->count, ranges->gather->operands[0],
                               ranges->gather->operands[2], value_index(arena, int_var(arena, ranges->end))};
    ranges->ranges = loop_append_let(kernel, to, "ranges", ranges->rows->loop->var,
                                     call(kernel, "distal_ranges", ranges->wide, 5, operands));
    return true;
}

// --- The loops.

typedef struct {
    const LoopRanges *ranges;
    int next;             // the array of where each row of the group continues
    const IntExpr *first; // row of the group
    const IntExpr *range, *bound;
} Rewrite;

static LoopKernel *kernel_of(const Rewrite *rewrite) {
    return rewrite->ranges->rows->kernel;
}

static const Value *element(LoopKernel *kernel, ValueKind kind, int array, const IntExpr *at) {
    return kind == VALUE_ADDRESS
               ? value_element(kernel->arena, kind, VALUE_TYPE_ADDRESS, array, at)
               : value_convert(
                     kernel->arena,
                     value_element(kernel->arena, kind, (int)kernel->arrays.items[array].type, array, at),
                     VALUE_TYPE_INDEX);
}

// Prefetches what loops read of the arrays of levels and values at consecutive positions: `length` of them
// from `first`.
static void append_prefetches(LoopKernel *kernel, const LoopNode *loop, const IntExpr *first,
                              const IntExpr *length, bool *done, LoopBody *to) {
    Arena *arena = kernel->arena;
    const LoopBody nodes = loop_nodes(arena, loop);
    for (int64_t i = 0; i < nodes.count; i++) {
        const ValueList values = loop_values(arena, nodes.items[i]);
        for (int64_t v = 0; v < values.count; v++) {
            const Value *value = values.items[v];
            if (value->kind != VALUE_LOAD || !is_var(value->index, loop->var) || done[value->array])
                continue;
            done[value->array] = true;
            const int64_t size = (int64_t)type_info(kernel->arrays.items[value->array].type)->size;
            const Value *operands[] = {
                element(kernel, VALUE_ADDRESS, value->array, first),
                value_index(arena, int_op(arena, INT_MUL, length, int_const(arena, size)))};
            LoopNode *prefetch = loop_node(arena, LOOP_CALL);
            prefetch->value = value_list(arena, VALUE_CALL, VALUE_TYPE_NONE, "distal_prefetch", 2, operands);
            loop_append(arena, to, prefetch);
        }
    }
}

// The array of positions whose element at the position of `loop` is where a loop inside begins; -1: another.
static int positions_below(Arena *arena, const LoopNode *loop, const LoopNode *inside) {
    const LoopBody nodes = loop_nodes(arena, loop);
    for (int64_t i = 0; i < nodes.count; i++) {
        const Value *value = nodes.items[i]->kind == LOOP_LET ? nodes.items[i]->value : NULL;
        if (value && value->kind == VALUE_CONVERT)
            value = value->operands[0];
        if (value && is_var(inside->lower, nodes.items[i]->var) && value->kind == VALUE_LOAD &&
            is_var(value->index, loop->var))
            return value->array;
    }
    return -1;
}

// Prefetches about as much of the next row as this one has in the range.
static void append_next(const Rewrite *rewrite, const LoopNode *loop, const IntExpr *row, LoopBody *to) {
    LoopKernel *kernel = kernel_of(rewrite);
    Arena *arena = kernel->arena;
    const LoopRows *rows = rewrite->ranges->rows;
    bool *done = arena_array(arena, bool, kernel->arrays.count);
    const IntExpr *const one = int_const(arena, 1);
    const IntExpr *begin = int_var(arena, rows->begin), *end = int_var(arena, rows->end);
    const IntExpr *next =
        loop_append_let(kernel, to, "next", rows->loop->var,
                        element(kernel, VALUE_LOAD, rewrite->next, int_op(arena, INT_ADD, row, one)));
    const LoopBody nodes =
        loop_nodes(arena, &(LoopNode){.kind = LOOP_COMMENT, .var = -1, .array = -1, .body = loop->body});
    for (int64_t i = 0; i < nodes.count; i++) {
        if (!is_over_positions(rows, nodes.items[i]))
            continue;
        append_prefetches(kernel, nodes.items[i], next, int_op(arena, INT_SUB, end, begin), done, to);
        const LoopBody inside = loop_nodes(arena, nodes.items[i]);
        for (int64_t n = 1; n < inside.count; n++) {
            const int below = inside.items[n]->kind == LOOP_FOR && inside.items[n]->step == 1
                                  ? positions_below(arena, nodes.items[i], inside.items[n])
                                  : -1;
            if (below < 0)
                continue;
            const IntExpr *at[3], *const from[] = {next, begin, end};
            bool any = false;
            const LoopBody below_nodes = loop_nodes(arena, inside.items[n]);
            for (int64_t b = 0; b < below_nodes.count; b++) {
                const ValueList values = loop_values(arena, below_nodes.items[b]);
                for (int64_t v = 0; v < values.count; v++)
                    any |= values.items[v]->kind == VALUE_LOAD &&
                           is_var(values.items[v]->index, inside.items[n]->var) &&
                           !done[values.items[v]->array];
            }
            if (!any)
                continue;
            for (int f = 0; f < 3; f++)
                at[f] = loop_append_let(kernel, to, "below", rows->loop->var,
                                        element(kernel, VALUE_LOAD, below, from[f]));
            append_prefetches(kernel, inside.items[n], at[0], int_op(arena, INT_SUB, at[2], at[1]), done, to);
        }
    }
}

// The entries of a row in the range, in place of all.
static void append_end(const Rewrite *rewrite, const LoopNode *let, const LoopNode *loop, LoopBody *to) {
    LoopKernel *kernel = kernel_of(rewrite);
    Arena *arena = kernel->arena;
    const LoopRows *rows = rewrite->ranges->rows;
    const IntExpr *row = int_op(arena, INT_SUB, int_var(arena, rows->loop->var), rewrite->first);
    const IntExpr *all = loop_append_let(kernel, to, "all_end", rows->loop->var, let->value);
    const Value *operands[] = {rewrite->ranges->gather->operands[0],
                               value_index(arena, int_var(arena, rows->begin)), value_index(arena, all),
                               value_index(arena, rewrite->bound)};
    loop_append(
        arena, to,
        loop_let(arena, rows->end, call(kernel, "distal_range_end", rewrite->ranges->wide, 4, operands)));
    loop_append(arena, to,
                loop_update(arena, LOOP_STORE, rewrite->next, row,
                            value_convert(arena, value_index(arena, int_var(arena, rows->end)), TYPE_I64)));
    append_next(rewrite, loop, row, to);
}

static void add_in_place_of_store(void *context, const LoopNode *node, LoopBody *to) {
    LoopKernel *kernel = context;
    LoopNode *copy = arena_copy(kernel->arena, node, sizeof *node);
    if (node->kind == LOOP_STORE)
        copy->kind = LOOP_ACCUMULATE;
    loop_append(kernel->arena, to, copy);
}

static bool has_store(Arena *arena, const LoopNode *node) {
    const LoopBody nodes = loop_nodes(arena, node);
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->kind == LOOP_STORE)
            return true;
    return false;
}

static bool has_bounds(Arena *arena, const LoopRows *rows, const LoopNode *node) {
    const LoopBody nodes = loop_nodes(arena, node);
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->kind == LOOP_LET && nodes.items[i]->var == rows->end)
            return true;
    return false;
}

static LoopBody rewritten(const Rewrite *rewrite, const LoopBody *body, const LoopNode *loop) {
    LoopKernel *kernel = kernel_of(rewrite);
    Arena *arena = kernel->arena;
    const LoopRows *rows = rewrite->ranges->rows;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_LET && node->var == rows->begin) {
            const IntExpr *row = int_op(arena, INT_SUB, int_var(arena, rows->loop->var), rewrite->first);
            loop_append(arena, &result,
                        loop_let(arena, rows->begin, element(kernel, VALUE_LOAD, rewrite->next, row)));
        } else if (node->kind == LOOP_LET && node->var == rows->end) {
            append_end(rewrite, node, loop, &result);
        } else if (!is_over_positions(rows, node) &&
                   (has_positions(rows, node) || has_bounds(arena, rows, node))) {
            loop_append(arena, &result, loop_with_body(arena, node, rewritten(rewrite, &node->body, loop)));
        } else if (!is_over_positions(rows, node) && has_store(arena, node)) {
            // Of the first range, sums are stored; those of the others are added to them.
            LoopBody one = {0};
            loop_append(arena, &one, node);
            LoopNode *first = loop_node(arena, LOOP_IF), *other = loop_node(arena, LOOP_IF);
            first->value = value_less(arena, rewrite->range, int_const(arena, 1));
            other->value = value_less(arena, int_const(arena, 0), rewrite->range);
            first->body = one;
            other->body = loop_rewrite(arena, &one, add_in_place_of_store, kernel);
            loop_append(arena, &result, first);
            loop_append(arena, &result, other);
        } else {
            loop_append(arena, &result, node);
        }
    }
    return result;
}

// In ranges, what is gathered is in a cache, and nothing of it is prefetched.
static const IntExpr *replace_end(void *context, const IntExpr *expr) {
    const Rewrite *rewrite = context;
    return is_var(expr, rewrite->ranges->end) ? int_const(kernel_of(rewrite)->arena, 0) : expr;
}

static void replace_ends(void *context, const LoopNode *node, LoopBody *to) {
    const Rewrite *rewrite = context;
    Arena *arena = kernel_of(rewrite)->arena;
    loop_append(arena, to, loop_map_ints(arena, node, replace_end, context));
}

void loop_append_ranges(const LoopRanges *ranges, const LoopNode *loop, LoopBody *to) {
    const LoopRows *rows = ranges->rows;
    LoopKernel *kernel = rows->kernel;
    Arena *arena = kernel->arena;
    const int row = rows->loop->var;
    Rewrite rewrite = {.ranges = ranges};
    LoopNode *group = loop_node(arena, LOOP_FOR), *workspace = loop_node(arena, LOOP_WORKSPACE);
    group->var = loop_add_index(kernel, "group", row);
    group->lower = loop->lower;
    group->upper = loop->upper;
    group->step = GROUP;
    rewrite.first = int_var(arena, group->var);
    workspace->array = rewrite.next =
        loop_add_array(kernel, (LoopArray){.name = "next",
                                           .type = TYPE_I64,
                                           .written = true,
                                           .local = true,
                                           .extent = int_const(arena, GROUP + 1)});
    workspace->stored = true;
    loop_append(arena, &group->body, workspace);
    const IntExpr *last = int_op(arena, INT_ADD, rewrite.first, int_const(arena, GROUP));
    last = loop_append_let(kernel, &group->body, "group_end", row,
                           value_index(arena, int_op(arena, INT_MIN, last, loop->upper)));
    // Where the rows begin, and the one after them, from which the last one prefetches.
    LoopNode *begins = loop_node(arena, LOOP_FOR);
    begins->var = loop_add_index(kernel, "begins", row);
    begins->lower = rewrite.first;
    begins->upper = int_op(arena, INT_ADD, last, int_const(arena, 1));
    const IntExpr **values = arena_array(arena, const IntExpr *, kernel->vars.count);
    values[row] = int_var(arena, begins->var);
    const IntExpr *at = loop_substitute(arena, ranges->at, values, row + 1);
    const Value *first = value_element(arena, VALUE_LOAD, TYPE_I64, ranges->array, at);
    loop_append(arena, &begins->body,
                loop_update(arena, LOOP_STORE, rewrite.next,
                            int_op(arena, INT_SUB, values[row], rewrite.first), first));
    LoopNode *range = loop_node(arena, LOOP_FOR);
    range->var = loop_add_index(kernel, "range", row);
    range->lower = int_const(arena, 0);
    range->upper = ranges->ranges;
    rewrite.range = int_var(arena, range->var);
    const Value *operands[] = {ranges->positions, ranges->count, ranges->gather->operands[0],
                               value_index(arena, ranges->ranges), value_index(arena, rewrite.range)};
    rewrite.bound = loop_append_let(kernel, &range->body, "bound", row,
                                    call(kernel, "distal_range_bound", ranges->wide, 5, operands));
    LoopNode *each = loop_with_body(arena, loop, rewritten(&rewrite, &loop->body, loop));
    each->lower = rewrite.first;
    each->upper = last;
    LoopBody body = {0};
    loop_append(arena, &body, each);
    loop_append_all(arena, &range->body, loop_rewrite(arena, &body, replace_ends, &rewrite));
    loop_append(arena, &group->body, begins);
    loop_append(arena, &group->body, range);
    LoopNode *whole = loop_node(arena, LOOP_IF), *divided = loop_node(arena, LOOP_IF);
    whole->value = value_less(arena, ranges->ranges, int_const(arena, 2));
    divided->value = value_less(arena, int_const(arena, 1), ranges->ranges);
    loop_append(arena, &whole->body, loop);
    loop_append(arena, &divided->body, group);
    loop_append(arena, to, whole);
    loop_append(arena, to, divided);
}
