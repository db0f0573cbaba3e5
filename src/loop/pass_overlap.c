// SPDX-License-Identifier: BSD-3-Clause
// Starts transfers as early and waits for them as late as their body allows, so that they are under way at
// the same time as each other and as what needs none of them.
#include "loop/passes.h"

typedef struct {
    Arena *arena;
    const LoopNode *wait;
    bool uses; // what it gives
} Search;

static bool gives(const LoopNode *wait, int array) {
    bool gives = array == wait->array;
    for (int a = 0; a < wait->view_array_count; a++)
        gives = gives || array == wait->view_arrays[a].array;
    return gives;
}

static const Value *find_use(void *context, const Value *value) {
    Search *search = context;
    search->uses = search->uses || (value->array >= 0 && gives(search->wait, value->array));
    return value;
}

static void search_node(void *context, const LoopNode *node) {
    Search *search = context;
    loop_map_values(search->arena, node, find_use, search);
    search->uses =
        search->uses || node->array == search->wait->array || node->transfer == search->wait->transfer;
}

// Whether a node, or what is inside, uses what a WAIT gives or closes its transfer.
static bool needs(Arena *arena, const LoopNode *node, const LoopNode *wait) {
    Search search = {arena, wait, false};
    search_node(&search, node);
    loop_visit(&node->body, search_node, &search);
    return search.uses;
}

// Waits that `node` needs, and all of them where it is NULL.
static void append_waits(Arena *arena, const LoopNode *node, LoopBody *waiting, LoopBody *to) {
    LoopBody left = {0};
    for (int64_t w = 0; w < waiting->count; w++)
        loop_append(arena, !node || needs(arena, node, waiting->items[w]) ? to : &left, waiting->items[w]);
    *waiting = left;
}

// A START that its WAIT follows at once becomes a FETCH.
static LoopBody with_fetches(Arena *arena, const LoopBody *body) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i], *next = i + 1 < body->count ? body->items[i + 1] : NULL;
        if (node->kind == LOOP_START && next && next->kind == LOOP_WAIT && next->transfer == node->transfer) {
            LoopNode *fetch = arena_copy(arena, next, sizeof *next);
            fetch->kind = LOOP_FETCH;
            node = fetch;
            i++;
        }
        loop_append(arena, &result, node);
    }
    return result;
}

// Partial results are made ready before anything is under way, as that is soon done.
static LoopBody overlapped(Arena *arena, const LoopBody *body) {
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
            append_waits(arena, node, &waiting, &result);
            loop_append(arena, &result, loop_with_body(arena, node, overlapped(arena, &node->body)));
        }
    }
    append_waits(arena, NULL, &waiting, &result);
    return with_fetches(arena, &result);
}

const LoopKernel *loop_pass_overlap(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    kernel->body = overlapped(kernel->arena, &before->body);
    return kernel;
}
