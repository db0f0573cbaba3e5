// SPDX-License-Identifier: BSD-3-Clause
// Starts transfers as early and waits for them as late as their body allows, so that they are under way at
// the same time as each other and as what needs none of them. A leaf over rows, of which some need nothing
// that arrives, is executed for these first, and waits then.
#include "loop/passes.h"

// Which arrays and transfers a node uses, with what is inside of it.
typedef struct {
    LoopBody nodes;
    LoopUses uses;
} Used;

static Used used_by(const LoopKernel *kernel, const LoopNode *node) {
    return (Used){loop_nodes(kernel->arena, node), loop_uses_within(kernel, node)};
}

// Whether a node uses an array that this WAIT provides, or closes its transfer.
static bool needs(const Used *used, const LoopNode *wait) {
    for (int64_t i = 0; i < used->nodes.count; i++)
        if (used->nodes.items[i]->transfer == wait->transfer || used->nodes.items[i]->array == wait->array)
            return true;
    for (int a = 0; a < wait->view_array_count; a++)
        if (used->uses.arrays[wait->view_arrays[a].array])
            return true;
    return used->uses.arrays[wait->array];
}

// A START that its WAIT follows at once becomes a FETCH. A WAIT that the leaf
// executes inside its ROWS becomes a VIEW before the leaf.
static void append_wait(Arena *arena, const LoopNode *wait, bool rows, LoopBody *to) {
    if (rows && wait->overlaps) {
        LoopNode *view = arena_copy(arena, wait, sizeof *wait);
        view->kind = LOOP_VIEW;
        loop_append(arena, to, view);
        return;
    }
    const LoopNode *last = to->count > 0 ? to->items[to->count - 1] : NULL;
    if (last && last->kind == LOOP_START && last->transfer == wait->transfer) {
        LoopNode *fetch = arena_copy(arena, wait, sizeof *wait);
        fetch->kind = LOOP_FETCH;
        to->items[to->count - 1] = fetch;
    } else {
        loop_append(arena, to, wait);
    }
}

// Waits that `node` needs, and all of them where it is NULL. Returns one that the rows of the node wait for,
// NULL where there is none.
static const LoopNode *append_waits(const LoopKernel *kernel, const LoopNode *node, bool rows,
                                    LoopBody *waiting, LoopBody *to) {
    LoopBody left = {0};
    const LoopNode *viewed = NULL;
    const Used used = node && waiting->count > 0 ? used_by(kernel, node) : (Used){0};
    for (int64_t w = 0; w < waiting->count; w++) {
        const LoopNode *wait = waiting->items[w];
        if (node && !needs(&used, wait)) {
            loop_append(kernel->arena, &left, wait);
            continue;
        }
        append_wait(kernel->arena, wait, rows, to);
        viewed = rows && wait->overlaps ? wait : viewed;
    }
    *waiting = left;
    return viewed;
}

// Whether the outermost loop of a leaf is over rows, which may be executed in any order.
static bool has_rows(const LoopBody *body) {
    for (int64_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == LOOP_FOR || has_rows(&body->items[i]->body))
            return body->items[i]->kind != LOOP_FOR || body->items[i]->first;
    return false;
}

typedef struct {
    LoopKernel *kernel;
    const IntExpr *begin, *end;
} Rows;

// The loop over rows from `begin` to before `end`.
static void clip_rows(void *context, const LoopNode *node, LoopBody *to) {
    const Rows *rows = context;
    Arena *arena = rows->kernel->arena;
    if (node->kind == LOOP_FOR && node->first) {
        LoopNode *loop = arena_copy(arena, node, sizeof *node);
        const IntExpr *begin = int_op(arena, INT_SUB, rows->begin, node->first);
        loop->lower = loop_append_let(rows->kernel, to, "from", node->var,
                                      value_index(arena, int_op(arena, INT_MAX, node->lower, begin)));
        const IntExpr *end = int_op(arena, INT_SUB, rows->end, node->first);
        end = int_op(arena, INT_MAX, loop->lower, int_op(arena, INT_MIN, node->upper, end));
        loop->upper = loop_append_let(rows->kernel, to, "to", node->var, value_index(arena, end));
        node = loop;
    }
    loop_append(arena, to, node);
}

// A leaf that is executed for one range of rows after the other, as `viewed` and other transfers arrive.
static const LoopNode *with_rows(LoopKernel *kernel, const LoopNode *leaf, const LoopNode *viewed) {
    Arena *arena = kernel->arena;
    LoopNode *node = loop_node(arena, LOOP_ROWS);
    LoopField *fields = arena_array(arena, LoopField, 2);
    fields[0] = (LoopField){loop_add_index(kernel, "begin", -1), "rows", 0};
    fields[1] = (LoopField){loop_add_index(kernel, "end", -1), "rows", 1};
    Rows rows = {kernel, int_var(arena, fields[0].var), int_var(arena, fields[1].var)};
    node->transfer = viewed->transfer;
    node->field_count = 2;
    node->fields = fields;
    loop_append(arena, &node->body,
                loop_with_body(arena, leaf, loop_rewrite(arena, &leaf->body, clip_rows, &rows)));
    return node;
}

// OPEN comes first: it sets partial results to zero, which takes little time, and no transfer has to wait for
// it.
static LoopBody overlapped(LoopKernel *kernel, const LoopBody *body) {
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
            const bool rows = node->kind == LOOP_LEAF && has_rows(&node->body);
            const LoopNode *viewed = append_waits(kernel, node, rows, &waiting, &result);
            node = loop_with_body(arena, node, overlapped(kernel, &node->body));
            loop_append(arena, &result, viewed ? with_rows(kernel, node, viewed) : node);
        }
    }
    append_waits(kernel, NULL, false, &waiting, &result);
    return result;
}

const LoopKernel *loop_pass_overlap(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    kernel->body = overlapped(kernel, &before->body);
    return kernel;
}
