// SPDX-License-Identifier: BSD-3-Clause
// Which loop of a leaf threads share, where no command says it: the outermost whose iterations write distinct
// elements, together with the next one where that is as good, or else one whose iterations add to one
// element. And the work of loops that threads share, here or by command: little is not worth a team of
// threads.
#include "loop/passes.h"

typedef struct {
    LoopKernel *kernel;
    int *unknown; // by variable: 1 where it has no value yet
} Threads;

static bool is_known(const Threads *threads, const IntExpr *expr) {
    return loop_depth_of(expr, threads->unknown) == 0;
}

// The factors of `count` that are known, multiplied to `work`.
static const IntExpr *multiply(const Threads *threads, const IntExpr *work, const IntExpr *count) {
    if (count->op == INT_MUL)
        return multiply(threads, multiply(threads, work, count->left), count->right);
    return is_known(threads, count) ? int_op(threads->kernel->arena, INT_MUL, work, count) : work;
}

static bool has_work(const LoopNode *node) {
    bool work = node->kind == LOOP_FOR || node->count;
    for (int64_t i = 0; i < node->body.count && !work; i++)
        work = has_work(node->body.items[i]);
    return work;
}

static const IntExpr *work_of(const Threads *threads, const LoopNode *node, const IntExpr *work);

// The work inside of a node that is executed `work` times. Of loops that follow each other, the sum.
static const IntExpr *work_inside(const Threads *threads, const LoopNode *node, const IntExpr *work) {
    const IntExpr *sum = NULL;
    for (int64_t i = 0; i < node->body.count; i++) {
        if (!has_work(node->body.items[i]))
            continue;
        const IntExpr *inside = work_of(threads, node->body.items[i], work);
        if (sum && node->body.items[i]->kind == LOOP_IF && int_equal(sum, inside))
            continue; // another case of the same
        sum = sum ? int_op(threads->kernel->arena, INT_ADD, sum, inside) : inside;
    }
    return sum ? sum : work;
}

static const IntExpr *work_of(const Threads *threads, const LoopNode *node, const IntExpr *work) {
    if (node->kind == LOOP_FOR && node->execution.work && is_known(threads, node->execution.work))
        work = node->execution.work;
    else if (node->kind == LOOP_FOR)
        work = multiply(threads, work, int_op(threads->kernel->arena, INT_SUB, node->upper, node->lower));
    if (node->count)
        work = multiply(threads, work, node->count);
    return work_inside(threads, node, work);
}

// Whether iterations of a loop take different times: a loop inside of it has a condition, or bounds that are
// loaded, such as those of the entries of a row.
static bool is_uneven(const LoopKernel *kernel, const LoopNode *loop) {
    const LoopBody nodes = loop_nodes(kernel->arena, loop);
    int *loaded = arena_array(kernel->arena, int, kernel->vars.count);
    for (int64_t i = 0; i < nodes.count; i++) {
        const LoopNode *node = nodes.items[i];
        const ValueList values = loop_values(kernel->arena, node);
        for (int64_t v = 0; v < values.count && node->kind == LOOP_LET; v++)
            if (values.items[v]->kind == VALUE_LOAD)
                loaded[node->var] = 1;
        if (node->kind == LOOP_WHILE)
            return true;
        if (node != loop && node->kind == LOOP_FOR &&
            (loop_depth_of(node->lower, loaded) || loop_depth_of(node->upper, loaded)))
            return true;
    }
    return false;
}

enum { ENTRIES = 16 }; // assumed below each iteration where their number is not known

// The work for each entry below the iterations of a loop.
static const IntExpr *work_of_entry(const Threads *threads, const LoopNode *loop) {
    const LoopBody nodes = loop_nodes(threads->kernel->arena, loop);
    bool uneven = false;
    for (int64_t i = 1; i < nodes.count && !uneven; i++)
        uneven = nodes.items[i]->kind == LOOP_FOR && is_uneven(threads->kernel, nodes.items[i]);
    return work_inside(threads, loop, int_const(threads->kernel->arena, uneven ? ENTRIES : 1));
}

// Whether threads may share a loop of the leaf: no command says how its loops are executed, and it has one
// library call at most, whose count is set in *call.
static bool may_share(const Threads *threads, const LoopNode *leaf, const IntExpr **call) {
    const LoopBody nodes = loop_nodes(threads->kernel->arena, leaf);
    *call = NULL;
    for (int64_t i = 0; i < nodes.count; i++) {
        const LoopNode *node = nodes.items[i];
        if (node->kind == LOOP_TEAM || node->execution.thread || node->execution.vector ||
            (node->count && *call))
            return false;
        if (node->count)
            *call = node->count;
    }
    return true;
}

// The loop of a leaf that its threads share; NULL where there is none.
static const LoopNode *shared_loop(const Threads *threads, const LoopBody *body, bool outermost) {
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i], *found;
        if (node->kind == LOOP_FOR && !node->execution.unroll &&
            (node->execution.distinct || (outermost && loop_invariant_update(threads->kernel, node))))
            return node;
        found = shared_loop(threads, &node->body, outermost && node->kind != LOOP_FOR);
        if (found)
            return found;
    }
    return NULL;
}

// The only loop in a body that has nothing else but definitions; NULL where there is more.
static const LoopNode *only_loop(const LoopBody *body) {
    const LoopNode *last = body->count > 0 ? body->items[body->count - 1] : NULL;
    for (int64_t i = 0; i + 1 < body->count; i++)
        if (body->items[i]->kind != LOOP_LET)
            return NULL;
    return last && last->kind == LOOP_FOR ? last : NULL;
}

// Whether the iterations of `outer` and of the loop in it can be shared as one: both write distinct elements,
// the inner bounds are the same for all iterations, and there is a loop inside for vectors.
static bool can_collapse(const LoopKernel *kernel, const LoopNode *outer) {
    const LoopNode *inner = only_loop(&outer->body);
    if (!inner || !outer->execution.distinct || !inner->execution.distinct || inner->execution.unroll ||
        !loop_has_loop(&inner->body))
        return false;
    int *inside = arena_array(kernel->arena, int, kernel->vars.count);
    inside[outer->var] = 1;
    for (int64_t i = 0; i + 1 < outer->body.count; i++)
        inside[outer->body.items[i]->var] = 1;
    return loop_depth_of(inner->lower, inside) == 0 && loop_depth_of(inner->upper, inside) == 0;
}

// Definitions between the two loops move into the inner one.
static const LoopNode *collapsed(Arena *arena, const LoopNode *outer) {
    const LoopNode *inner = only_loop(&outer->body);
    LoopBody innermost = {0}, body = {0};
    for (int64_t i = 0; i + 1 < outer->body.count; i++)
        loop_append(arena, &innermost, outer->body.items[i]);
    loop_append_all(arena, &innermost, inner->body);
    loop_append(arena, &body, loop_with_body(arena, inner, innermost));
    LoopNode *copy = loop_with_body(arena, outer, body);
    copy->execution.collapsed = 2;
    return copy;
}

// With `loop` shared, and only where that is better than threads in the library call inside, `call`.
static LoopBody with_shared(const LoopKernel *kernel, const LoopBody *body, const LoopNode *loop,
                            const IntExpr *call) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node == loop) {
            if (!call && can_collapse(kernel, node))
                node = collapsed(kernel->arena, node);
            LoopNode *copy = loop_with_body(kernel->arena, node, node->body);
            copy->execution.thread = true;
            copy->execution.call = call;
            node = copy;
        } else {
            node = loop_with_body(kernel->arena, node, with_shared(kernel, &node->body, loop, call));
        }
        loop_append(kernel->arena, &result, node);
    }
    return result;
}

// A library call has threads of its own, which are idle where it is short, and less useful than threads
// around it where there are many calls (distal_share_calls).
static const LoopNode *with_threads(Threads *threads, const LoopNode *leaf) {
    const LoopKernel *kernel = threads->kernel;
    const IntExpr *call;
    const LoopNode *loop = may_share(threads, leaf, &call) ? shared_loop(threads, &leaf->body, !call) : NULL;
    return loop ? loop_with_body(kernel->arena, leaf, with_shared(kernel, &leaf->body, loop, call)) : leaf;
}

static LoopBody walk(Threads *threads, const LoopBody *body, bool in_team) {
    Arena *arena = threads->kernel->arena;
    LoopBody nodes = {0}, result = {0};
    for (int64_t i = 0; i < body->count; i++)
        loop_append(arena, &nodes, loop_hoist_definitions(arena, body->items[i], &nodes));
    for (int64_t i = 0; i < nodes.count; i++) {
        const LoopNode *node = nodes.items[i];
        if (node->kind == LOOP_LEAF)
            node = with_threads(threads, node);
        LoopNode *copy = arena_copy(arena, node, sizeof *node);
        copy->execution.work = NULL;
        const bool is_team = node->kind == LOOP_TEAM;
        if (is_team || node->execution.thread) {
            const bool uneven = !node->execution.collapsed && is_uneven(threads->kernel, node);
            copy->execution.uneven = uneven && !is_team && !node->execution.portions;
            copy->execution.each = copy->execution.uneven ? work_of_entry(threads, node) : NULL;
            if (!in_team)
                copy->execution.work = work_of(threads, node, int_const(arena, uneven ? ENTRIES : 1));
        }
        // A call whose length is not known yet cannot decide.
        if (node->execution.call && !is_known(threads, node->execution.call))
            copy->execution = (LoopExecution){.distinct = node->execution.distinct};
        if (node->var >= 0)
            threads->unknown[node->var] = 0;
        for (int d = 0; d < node->dim_count; d++)
            if (node->coordinates[d] >= 0)
                threads->unknown[node->coordinates[d]] = 0;
        copy->body = walk(threads, &node->body, in_team || is_team);
        if (node->kind == LOOP_FOR)
            threads->unknown[node->var] = 1;
        loop_append(arena, &result, copy);
    }
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->kind == LOOP_LET)
            threads->unknown[nodes.items[i]->var] = 1;
    return result;
}

const LoopKernel *loop_pass_threads(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    Threads threads = {kernel, arena_array(kernel->arena, int, kernel->vars.count)};
    for (int64_t v = 0; v < kernel->vars.count; v++)
        threads.unknown[v] = 1;
    kernel->body = walk(&threads, &before->body, false);
    return kernel;
}
