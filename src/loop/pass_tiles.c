// SPDX-License-Identifier: BSD-3-Clause
// Tiles: where the innermost loop strides through an array along whose elements another loop walks, as in a
// transposition, both are executed in blocks. Cache lines are then used up before they are evicted.
#include "loop/nest.h"
#include "loop/passes.h"

// A tile has INNER cache lines, 16 KiB, in the innermost loop: they stay in a first-level cache, and their
// pages in the TLB, while the other loop uses them up. OUTER is small, so that there are tiles for many
// threads.
enum { INNER = 256, OUTER = 32 };

// What an iteration of a loop adds to an expression; where that is not a number, STRIDE_OTHER.
typedef enum { STRIDE_NONE, STRIDE_ONE, STRIDE_OTHER } Stride;

static Stride stride_of(const IntExpr *expr, const Stride *vars) {
    if (expr->op == INT_VAR)
        return vars[expr->value];
    if (!expr->left)
        return STRIDE_NONE;
    const Stride left = stride_of(expr->left, vars), right = stride_of(expr->right, vars);
    if (right == STRIDE_NONE && (left == STRIDE_NONE || expr->op == INT_ADD || expr->op == INT_SUB))
        return left;
    return left == STRIDE_NONE && expr->op == INT_ADD ? right : STRIDE_OTHER;
}

// By variable of the nest, what an iteration of `loop` adds to it.
static const Stride *strides_in(const LoopNest *nest, const LoopNode *loop) {
    Stride *strides = arena_array(nest->kernel->arena, Stride, nest->kernel->vars.count);
    const LoopBody nodes = loop_nodes(nest->kernel->arena, nest->headers.items[0]);
    strides[loop->var] = STRIDE_ONE;
    for (int64_t i = 0; i < nodes.count; i++) {
        const LoopNode *node = nodes.items[i];
        if (node->kind == LOOP_LET)
            strides[node->var] =
                node->value->kind == VALUE_INDEX ? stride_of(node->value->index, strides) : STRIDE_OTHER;
    }
    return strides;
}

// The index among the headers of the crossing loop, which walks along the elements at `position`, through
// which the innermost loop strides; -1 where there is none.
static int crossing_at(const LoopNest *nest, const IntExpr *position) {
    if (!position || stride_of(position, strides_in(nest, nest->innermost)) != STRIDE_OTHER)
        return -1;
    for (int i = 0; i + 1 < nest->headers.count; i++) {
        const LoopNode *loop = nest->headers.items[i];
        if (loop->kind == LOOP_FOR && stride_of(position, strides_in(nest, loop)) == STRIDE_ONE)
            return i;
    }
    return -1;
}

static int find_crossing(const LoopNest *nest) {
    const LoopBody nodes = loop_nodes(nest->kernel->arena, nest->innermost);
    int found = -1;
    for (int64_t i = 0; i < nodes.count && found < 0; i++) {
        const ValueList values = loop_values(nest->kernel->arena, nodes.items[i]);
        for (int64_t v = 0; v < values.count && found < 0; v++)
            if (values.items[v]->array >= 0)
                found = crossing_at(nest, values.items[v]->index);
        if (found < 0)
            found = crossing_at(nest, nodes.items[i]->position);
    }
    return found;
}

// Where a header inside of the crossing loop is placed, which follows from what it depends on.
enum { OUTSIDE, BETWEEN, CROSSING };

// Finds where each header is placed. False where the bounds of a loop depend on a loop that moves inside of
// it.
static bool find_levels(const LoopNest *nest, int crossing, int *levels) {
    int *vars = arena_array(nest->kernel->arena, int, nest->kernel->vars.count);
    vars[nest->headers.items[crossing]->var] = CROSSING;
    for (int i = crossing + 1; i < nest->headers.count; i++) {
        const LoopNode *node = nest->headers.items[i];
        levels[i] = loop_node_depth(nest->kernel->arena, node, vars);
        if (node->kind == LOOP_FOR) {
            if (levels[i] > (node == nest->innermost ? OUTSIDE : BETWEEN))
                return false;
            levels[i] = BETWEEN;
        }
        if (node->var >= 0)
            vars[node->var] = levels[i];
    }
    return true;
}

static void append_level(const LoopNest *nest, int crossing, const int *levels, int level, LoopBody *to) {
    for (int i = crossing + 1; i + 1 < nest->headers.count; i++)
        if (levels[i] == level)
            loop_append(nest->kernel->arena, to, nest->headers.items[i]);
}

// The headers with both loops in blocks.
static LoopBody tiled_headers(const LoopNest *nest, int crossing, const int *levels) {
    Arena *arena = nest->kernel->arena;
    const LoopNode *loop = nest->headers.items[crossing];
    LoopNode *outer = loop_with_body(arena, loop, loop->body);
    LoopNode *inner = loop_with_body(arena, nest->innermost, nest->innermost->body);
    LoopBody headers = {0}, ends = {0};
    outer->execution.permutable = inner->execution.permutable = false;
    for (int i = 0; i < crossing; i++)
        loop_append(arena, &headers, nest->headers.items[i]);
    append_level(nest, crossing, levels, OUTSIDE, &headers);
    loop_nest_append_blocks(nest->kernel, outer, OUTER, &headers, &ends);
    loop_nest_append_blocks(nest->kernel, inner, INNER, &headers, &ends);
    loop_append_all(arena, &headers, ends);
    append_level(nest, crossing, levels, BETWEEN, &headers);
    loop_append(arena, &headers, outer);
    append_level(nest, crossing, levels, CROSSING, &headers);
    loop_append(arena, &headers, inner);
    return headers;
}

static LoopBody tiled(LoopKernel *kernel, const LoopNode *loop) {
    Arena *arena = kernel->arena;
    const LoopNest nest = loop_nest(kernel, loop);
    LoopBody body = {0};
    const int crossing = loop_nest_is_permutable(&nest) ? find_crossing(&nest) : -1;
    int *levels = arena_array(arena, int, nest.headers.count);
    if (crossing >= 0 && find_levels(&nest, crossing, levels)) {
        const LoopBody headers = tiled_headers(&nest, crossing, levels);
        return loop_nest_around(arena, &headers, 0, nest.innermost->body);
    }
    loop_append(arena, &body, loop);
    return body;
}

static LoopBody tile_body(LoopKernel *kernel, const LoopBody *body) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->execution.permutable)
            loop_append_all(kernel->arena, &result, tiled(kernel, node));
        else
            loop_append(kernel->arena, &result,
                        loop_with_body(kernel->arena, node, tile_body(kernel, &node->body)));
    }
    return result;
}

const LoopKernel *loop_pass_tiles(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    kernel->body = tile_body(kernel, &before->body);
    return kernel;
}
