// SPDX-License-Identifier: BSD-3-Clause
// Starts transfers as early and waits for them as late as their body allows, so that they are under way at
// the same time as each other and as what needs none of them.
#include "loop/passes.h"

// Whether a node, or what is inside, uses what a WAIT gives or closes its transfer.
static bool needs(const LoopKernel *kernel, const LoopNode *node, const LoopNode *wait) {
    const LoopBody nodes = loop_nodes(kernel->arena, node);
    LoopUses uses = loop_uses_none(kernel);
    bool needed = false;
    for (int64_t i = 0; i < nodes.count; i++) {
        loop_add_uses(kernel->arena, &uses, nodes.items[i]);
        needed = needed || nodes.items[i]->transfer == wait->transfer || nodes.items[i]->array == wait->array;
    }
    for (int a = 0; a < wait->view_array_count; a++)
        needed = needed || uses.arrays[wait->view_arrays[a].array];
    return needed || uses.arrays[wait->array];
}

// A START that its WAIT follows at once becomes a FETCH.
static void append_wait(Arena *arena, const LoopNode *wait, LoopBody *to) {
    const LoopNode *last = to->count > 0 ? to->items[to->count - 1] : NULL;
    if (last && last->kind == LOOP_START && last->transfer == wait->transfer) {
        LoopNode *fetch = arena_copy(arena, wait, sizeof *wait);
        fetch->kind = LOOP_FETCH;
        to->items[to->count - 1] = fetch;
    } else {
        loop_append(arena, to, wait);
    }
}

// Waits that `node` needs, and all of them where it is NULL.
static void append_waits(const LoopKernel *kernel, const LoopNode *node, LoopBody *waiting, LoopBody *to) {
    LoopBody left = {0};
    for (int64_t w = 0; w < waiting->count; w++)
        if (!node || needs(kernel, node, waiting->items[w]))
            append_wait(kernel->arena, waiting->items[w], to);
        else
            loop_append(kernel->arena, &left, waiting->items[w]);
    *waiting = left;
}

// Partial results are made ready before anything is under way, as that is soon done.
static LoopBody overlapped(const LoopKernel *kernel, const LoopBody *body) {
    Arena *arena = kernel->arena;
    LoopBody result = {0}, waiting = {0};
    static const LoopKind first[] = {LOOP_OPEN, LOOP_START};
    for (size_t k = 0; k < sizeof first / sizeof *first; k++)
        for (int64_t i = 0; i < body->count; i++)
            if (body->items[i]->kind == first[k])
                loop_append(arena, &result, body->items[i]);
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_WAIT) {
            loop_append(arena, &waiting, node);
        } else if (node->kind != LOOP_START && node->kind != LOOP_OPEN) {
            append_waits(kernel, node, &waiting, &result);
            loop_append(arena, &result, loop_with_body(arena, node, overlapped(kernel, &node->body)));
        }
    }
    append_waits(kernel, NULL, &waiting, &result);
    return result;
}

const LoopKernel *loop_pass_overlap(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    kernel->body = overlapped(kernel, &before->body);
    return kernel;
}
