// SPDX-License-Identifier: BSD-3-Clause
#include "loop/nest.h"

#include "loop/passes.h"

LoopNest loop_nest(LoopKernel *kernel, const LoopNode *loop) {
    LoopNest nest = {.kernel = kernel};
    int64_t count = 0;
    for (const LoopNode *node = loop, *next; node; node = next) {
        loop_append(kernel->arena, &nest.headers, node);
        if (node->kind == LOOP_FOR) {
            nest.innermost = node;
            count = nest.headers.count;
        }
        next = NULL;
        for (int64_t i = 0; i < node->body.count; i++) {
            const LoopNode *inside = node->body.items[i];
            if (inside->kind == LOOP_LET)
                loop_append(kernel->arena, &nest.headers, inside);
            else if (i + 1 == node->body.count && inside->body.count > 0)
                next = inside;
            else
                break;
        }
    }
    nest.headers.count = count;
    return nest;
}

bool loop_nest_is_permutable(const LoopNest *nest) {
    for (int64_t i = 0; i < nest->headers.count; i++) {
        const LoopNode *node = nest->headers.items[i];
        if (node->kind == LOOP_FOR) {
            if (!node->execution.permutable || node->step != 1)
                return false;
            continue;
        }
        const ValueList values = loop_values(nest->kernel->arena, node);
        for (int64_t v = 0; v < values.count; v++)
            if (values.items[v]->array >= 0)
                return false;
        if (node->kind != LOOP_LET && node->kind != LOOP_IF)
            return false;
    }
    return !loop_has_loop(&nest->innermost->body);
}

void loop_nest_append_blocks(LoopKernel *kernel, LoopNode *loop, int64_t block, LoopBody *to,
                             LoopBody *ends) {
    Arena *arena = kernel->arena;
    LoopNode *blocks = loop_with_body(arena, loop, loop->body);
    blocks->var = loop_add_index(kernel, "tile", loop->var);
    blocks->step = block;
    loop_append(arena, to, blocks);
    loop->lower = int_var(arena, blocks->var);
    const IntExpr *after = int_op(arena, INT_ADD, loop->lower, int_const(arena, block));
    loop->upper = loop_append_let(kernel, ends, "end", blocks->var,
                                  value_index(arena, int_op(arena, INT_MIN, after, loop->upper)));
}

LoopBody loop_nest_around(Arena *arena, const LoopBody *headers, int64_t from, LoopBody innermost) {
    if (from == headers->count)
        return innermost;
    const LoopNode *node = headers->items[from];
    const LoopBody rest = loop_nest_around(arena, headers, from + 1, innermost);
    LoopBody body = {0};
    loop_append(arena, &body, node->kind == LOOP_LET ? node : loop_with_body(arena, node, rest));
    if (node->kind == LOOP_LET)
        loop_append_all(arena, &body, rest);
    return body;
}
