// SPDX-License-Identifier: BSD-3-Clause
// Results that do not fit in the last-level cache are written with nontemporal stores: an innermost loop that
// stores consecutive elements computes a strip of them in the cache, which is then copied in whole lines
// (distal_stream). Stores of single elements would read each line before.
#include "loop/passes.h"

// A strip is short, so that reading and writing overlap, and a row is at least a few lines. A result of which
// more is stored than last-level caches hold is large.
enum { STRIP_BYTES = 1024, LEAST_ELEMENTS = 128, LARGE_BYTES = 1 << 25 };

typedef struct {
    LoopKernel *kernel;
    int *stores;         // by array: how many nodes store to it; more than one where it is used otherwise
    const IntExpr *work; // of the loop that threads share; NULL outside of such loops
    LoopBody *before;    // that loop: definitions
    int *inside;         // by variable: 1 where it is bound in that loop
} Streams;

static void count_stores(Streams *streams, const LoopNode *top) {
    const LoopBody nodes = loop_nodes(streams->kernel->arena, top);
    for (int64_t i = 0; i < nodes.count; i++) {
        const LoopNode *node = nodes.items[i];
        const ValueList values = loop_values(streams->kernel->arena, node);
        if (node->kind == LOOP_STORE)
            streams->stores[node->array]++;
        else if (node->kind == LOOP_ACCUMULATE || node->kind == LOOP_TEAM)
            streams->stores[node->array] += 2;
        for (int64_t v = 0; v < values.count; v++)
            if (values.items[v]->array >= 0)
                streams->stores[values.items[v]->array] += 2;
    }
}

// Whether an expression grows by one with each iteration of a loop over `var`.
static bool moves_by_one(const IntExpr *expr, int var) {
    if (expr->op == INT_VAR)
        return expr->value == var;
    if (expr->op != INT_ADD && expr->op != INT_SUB)
        return false;
    const bool left = loop_mentions(expr->left, var), right = loop_mentions(expr->right, var);
    return left != right &&
           (left ? moves_by_one(expr->left, var) : expr->op == INT_ADD && moves_by_one(expr->right, var));
}

// Whether the expression is less than `bound` whatever variables are, as far as constants say.
static bool is_less(const IntExpr *expr, int64_t bound) {
    if (expr->op == INT_MIN)
        return is_less(expr->left, bound) || is_less(expr->right, bound);
    return expr->op == INT_CONST && expr->value < bound;
}

static bool is_short(const LoopNode *loop) {
    return loop->lower->op == INT_CONST && is_less(loop->upper, loop->lower->value + LEAST_ELEMENTS);
}

// The store of an innermost loop that does nothing else but definitions; NULL: it is another loop, or one
// over a part of a row, as of a tile.
static const LoopNode *store_of(const Streams *streams, const LoopNode *loop) {
    if (loop->kind != LOOP_FOR || !loop->execution.vector || !loop->execution.distinct ||
        loop->execution.unroll || loop->execution.sum_count > 0 || loop->execution.collapsed > 1 ||
        loop->step != 1 || is_short(loop) || loop_depth_of(loop->lower, streams->inside) > 0 ||
        loop_depth_of(loop->upper, streams->inside) > 0)
        return NULL;
    for (int64_t i = 0; i + 1 < loop->body.count; i++)
        if (loop->body.items[i]->kind != LOOP_LET)
            return NULL;
    const LoopNode *store = loop->body.count > 0 ? loop->body.items[loop->body.count - 1] : NULL;
    if (!store || store->kind != LOOP_STORE || !store->position || streams->stores[store->array] != 1)
        return NULL;
    const LoopArray *array = &streams->kernel->arrays.items[store->array];
    return array->extent || array->scalar || array->sparse ? NULL : store;
}

// The position of the store in iteration `at` of the loop; NULL where iterations are not consecutive.
static const IntExpr *position_at(const Streams *streams, const LoopNode *loop, const IntExpr *at) {
    Arena *arena = streams->kernel->arena;
    const int64_t count = streams->kernel->vars.count;
    const IntExpr **values = arena_array(arena, const IntExpr *, count);
    const LoopNode *store = loop->body.items[loop->body.count - 1];
    for (int64_t i = 0; i + 1 < loop->body.count; i++)
        if (loop->body.items[i]->value->kind == VALUE_INDEX)
            values[loop->body.items[i]->var] =
                loop_substitute(arena, loop->body.items[i]->value->index, values, count);
    const IntExpr *position = loop_substitute(arena, store->position, values, count);
    if (!moves_by_one(position, loop->var))
        return NULL;
    for (int64_t i = 0; i + 1 < loop->body.count; i++)
        if (loop_mentions(position, loop->body.items[i]->var))
            return NULL;
    values[loop->var] = at;
    return loop_substitute(arena, position, values, count);
}

// The loop in strips, of which all but the first one begin at a line. Definitions before it are appended to
// `before`.
static LoopNode *strips_of(const Streams *streams, const LoopNode *loop, const LoopNode *store,
                           LoopBody *before) {
    LoopKernel *kernel = streams->kernel;
    Arena *arena = kernel->arena;
    const LoopArray *array = &kernel->arrays.items[store->array];
    const int64_t size = (int64_t)type_info(array->type)->size;
    LoopNode *strips = loop_with_body(arena, loop, (LoopBody){0});
    strips->var = loop_add_index(kernel, "strip", loop->var);
    strips->step = STRIP_BYTES / size;
    strips->execution.vector = false;
    const IntExpr *begin = int_var(arena, strips->var);
    const IntExpr *first = position_at(streams, loop, loop->lower);
    if (!first)
        return NULL;
    const Value *line[] = {value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, store->array, first),
                           value_index(arena, int_const(arena, size))};
    const IntExpr *past =
        loop_append_let(kernel, before, "past", loop->var,
                        value_list(arena, VALUE_CALL, VALUE_TYPE_INDEX, "distal_line_offset", 2, line));
    const IntExpr *after = int_op(arena, INT_ADD, begin, int_const(arena, strips->step));
    strips->lower = int_op(arena, INT_SUB, loop->lower, past);
    begin = loop_append_let(kernel, &strips->body, "begin", strips->var,
                            value_index(arena, int_op(arena, INT_MAX, begin, loop->lower)));
    const IntExpr *position = position_at(streams, loop, begin);
    const IntExpr *until = int_op(arena, INT_MIN, after, loop->upper);
    if (loop->lower->op != INT_CONST || loop->lower->value != 0)
        until = int_op(arena, INT_MAX, begin, until); // the loop may end before it begins
    const IntExpr *end =
        loop_append_let(kernel, &strips->body, "end", strips->var, value_index(arena, until));
    const LoopArray row = {.name = arena_printf(arena, "%s_strip", array->name),
                           .type = array->type,
                           .written = true,
                           .local = true,
                           .extent = int_const(arena, strips->step)};
    LoopNode *workspace = loop_node(arena, LOOP_WORKSPACE);
    workspace->array = loop_add_array(kernel, row);
    workspace->stored = true;
    loop_append(arena, &strips->body, workspace);
    LoopNode *inner = loop_with_body(arena, loop, (LoopBody){0});
    inner->execution = (LoopExecution){.distinct = true, .vector = true};
    inner->lower = begin;
    inner->upper = end;
    for (int64_t i = 0; i + 1 < loop->body.count; i++)
        loop_append(arena, &inner->body, loop->body.items[i]);
    loop_append(arena, &inner->body,
                loop_update(arena, LOOP_STORE, workspace->array,
                            int_op(arena, INT_SUB, int_var(arena, loop->var), begin), store->value));
    loop_append(arena, &strips->body, inner);
    const IntExpr *bytes = int_op(arena, INT_MUL, int_op(arena, INT_SUB, end, begin), int_const(arena, size));
    const Value *operands[] = {
        value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, store->array, position),
        value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, workspace->array, int_const(arena, 0)),
        value_index(arena, bytes)};
    LoopNode *call = loop_node(arena, LOOP_CALL);
    call->value = value_list(arena, VALUE_CALL, VALUE_TYPE_NONE, "distal_stream", 3, operands);
    loop_append(arena, &strips->body, call);
    return strips;
}

// A condition that is known before the loop that threads share.
static const Value *define_before(Streams *streams, const char *name, int array, const Value *condition) {
    const int var = loop_add_var(
        streams->kernel,
        (LoopVar){.name = name, .type = VALUE_TYPE_CONDITION, .stem_array = array, .stem_var = -1});
    loop_append(streams->kernel->arena, streams->before, loop_let(streams->kernel->arena, var, condition));
    return value_var(streams->kernel->arena, VALUE_TYPE_CONDITION, var);
}

static void append_if(Arena *arena, const Value *condition, LoopBody body, LoopBody *to) {
    LoopNode *branch = loop_node(arena, LOOP_IF);
    branch->value = condition;
    branch->body = body;
    loop_append(arena, to, branch);
}

// Whether a node has one loop inside of the other only, each of which writes distinct elements, so that their
// work is how many they write.
static bool writes_once(const LoopNode *node) {
    bool once = node->kind == LOOP_FOR ? node->execution.distinct : node->kind != LOOP_WHILE;
    int loops = 0;
    for (int64_t i = 0; i < node->body.count; i++) {
        const LoopNode *inside = node->body.items[i];
        if (inside->kind == LOOP_FOR || loop_has_loop(&inside->body)) {
            once = once && writes_once(inside);
            loops++;
        }
    }
    return once && loops <= 1;
}

// Appends a loop in strips where what the threads store is large, as it is where it is not.
static void append_streamed(Streams *streams, const LoopNode *loop, LoopBody *to) {
    Arena *arena = streams->kernel->arena;
    const LoopNode *store = store_of(streams, loop);
    const IntExpr *most = int_const(arena, LARGE_BYTES);
    const IntExpr *bytes = NULL;
    if (store) {
        const ElementType type = streams->kernel->arrays.items[store->array].type;
        bytes = int_op(arena, INT_MUL, streams->work, int_const(arena, (int64_t)type_info(type)->size));
    }
    const bool is_known = bytes && bytes->op == INT_CONST;
    LoopBody plain = {0}, streamed = {0};
    const LoopNode *strips = bytes && (!is_known || bytes->value > LARGE_BYTES)
                                 ? strips_of(streams, loop, store, &streamed)
                                 : NULL;
    loop_append(arena, &plain, loop);
    if (strips)
        loop_append(arena, &streamed, strips);
    if (!strips || is_known) {
        loop_append_all(arena, to, strips ? streamed : plain);
    } else {
        append_if(arena, define_before(streams, "is_large", store->array, value_less(arena, most, bytes)),
                  streamed, to);
        append_if(arena,
                  define_before(streams, "is_small", store->array,
                                value_less(arena, bytes, int_const(arena, LARGE_BYTES + 1))),
                  plain, to);
    }
}

static LoopBody stream_body(Streams *streams, const LoopBody *body) {
    Arena *arena = streams->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        LoopBody before = {0}, streamed = {0};
        const bool shared =
            node->kind == LOOP_FOR && node->execution.thread && node->execution.work && writes_once(node);
        if (shared) {
            streams->work = node->execution.work;
            streams->before = &before; // cppcheck-suppress autoVariables // until the loop has been made
        } else if (streams->work && node->var >= 0) {
            streams->inside[node->var] = 1;
        }
        if (streams->work && node->kind == LOOP_FOR && !loop_has_loop(&node->body)) {
            append_streamed(streams, node, &streamed);
        } else {
            if (shared)
                streams->inside[node->var] = 1;
            loop_append(arena, &streamed, loop_with_body(arena, node, stream_body(streams, &node->body)));
        }
        if (shared) {
            streams->work = NULL;
            streams->before = NULL;
        }
        loop_append_all(arena, &result, before);
        loop_append_all(arena, &result, streamed);
    }
    return result;
}

const LoopKernel *loop_pass_streams(const LoopKernel *before) {
    Streams streams = {.kernel = loop_kernel_copy(before)};
    streams.stores = arena_array(before->arena, int, before->arrays.count);
    streams.inside = arena_array(before->arena, int, before->vars.count);
    for (int64_t i = 0; i < before->body.count; i++)
        count_stores(&streams, before->body.items[i]);
    streams.kernel->body = stream_body(&streams, &before->body);
    return streams.kernel;
}
