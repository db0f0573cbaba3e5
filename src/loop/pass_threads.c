// SPDX-License-Identifier: BSD-3-Clause
// Which loop of a leaf threads share, where no command says it: the outermost whose iterations write distinct
// elements, together with the next one where that is as good, or else one whose iterations add to one
// element. And the work of loops that threads share, here or by command: little is not worth a team of
// threads.
#include "loop/passes.h"

typedef struct {
    LoopKernel *kernel;
    bool *bound; // by variable
} Threads;

static bool is_known(const Threads *threads, const IntExpr *expr) {
    if (expr->op == INT_VAR)
        return threads->bound[expr->value];
    return (!expr->left || is_known(threads, expr->left)) && (!expr->right || is_known(threads, expr->right));
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

// Of loops that follow each other, the sum.
static const IntExpr *work_of(const Threads *threads, const LoopNode *node, const IntExpr *work) {
    const IntExpr *sum = NULL;
    if (node->kind == LOOP_FOR)
        work = multiply(threads, work, int_op(threads->kernel->arena, INT_SUB, node->upper, node->lower));
    if (node->count)
        work = multiply(threads, work, node->count);
    for (int64_t i = 0; i < node->body.count; i++) {
        if (!has_work(node->body.items[i]))
            continue;
        const IntExpr *inside = work_of(threads, node->body.items[i], work);
        sum = sum ? int_op(threads->kernel->arena, INT_ADD, sum, inside) : inside;
    }
    return sum ? sum : work;
}

// What a leaf has in it.
typedef struct {
    bool scheduled; // threads or vectors by command
    int call_count;
    const LoopNode *call; // of the library
    bool shares_space;    // with other calls: they may not be made at the same time
} Contents;

static const Value *find_space(void *context, const Value *value) {
    Contents *contents = context;
    contents->shares_space = contents->shares_space || value->kind == VALUE_SPACE;
    return value;
}

typedef struct {
    Arena *arena;
    Contents *contents;
} Inspection;

static void inspect(void *context, const LoopNode *node) {
    const Inspection *inspection = context;
    Contents *contents = inspection->contents;
    contents->scheduled =
        contents->scheduled || node->kind == LOOP_TEAM || node->execution.thread || node->execution.vector;
    if (node->count) {
        contents->call = node;
        contents->call_count++;
    }
    loop_map_values(inspection->arena, node, find_space, contents);
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
static bool can_collapse(const LoopNode *outer) {
    const LoopNode *inner = only_loop(&outer->body);
    if (!inner || !outer->execution.distinct || !inner->execution.distinct || inner->execution.unroll ||
        !loop_has_loop(&inner->body))
        return false;
    bool moves = loop_mentions(inner->upper, outer->var) || loop_mentions(inner->lower, outer->var);
    for (int64_t i = 0; i + 1 < outer->body.count; i++)
        moves = moves || loop_mentions(inner->upper, outer->body.items[i]->var) ||
                loop_mentions(inner->lower, outer->body.items[i]->var);
    return !moves;
}

// Definitions between the two loops move into the inner one.
static const LoopNode *collapsed(Arena *arena, const LoopNode *outer) {
    const LoopNode *inner = only_loop(&outer->body);
    LoopBody innermost = {0}, body = {0};
    for (int64_t i = 0; i + 1 < outer->body.count; i++)
        loop_append(arena, &innermost, outer->body.items[i]);
    for (int64_t i = 0; i < inner->body.count; i++)
        loop_append(arena, &innermost, inner->body.items[i]);
    loop_append(arena, &body, loop_with_body(arena, inner, innermost));
    LoopNode *copy = loop_with_body(arena, outer, body);
    copy->execution.collapsed = 2;
    return copy;
}

typedef struct {
    Arena *arena;
    const LoopNode *loop;
    const IntExpr *call;
} Choice;

static LoopBody with_choice(const Choice *choice, const LoopBody *body) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        LoopNode *copy;
        if (node == choice->loop) {
            if (!choice->call && can_collapse(node))
                node = collapsed(choice->arena, node);
            copy = loop_with_body(choice->arena, node, node->body);
            copy->execution.thread = true;
            copy->execution.call = choice->call;
        } else {
            copy = loop_with_body(choice->arena, node, with_choice(choice, &node->body));
        }
        loop_append(choice->arena, &result, copy);
    }
    return result;
}

// A library call has threads of its own, which are idle where it is short: then the loops around it are
// shared.
static const LoopNode *with_threads(Threads *threads, const LoopNode *leaf) {
    Arena *arena = threads->kernel->arena;
    Contents contents = {0};
    Inspection inspection = {arena, &contents};
    loop_visit(&leaf->body, inspect, &inspection);
    if (contents.scheduled || contents.shares_space || contents.call_count > 1)
        return leaf;
    const Choice choice = {arena, shared_loop(threads, &leaf->body, !contents.call),
                           contents.call ? contents.call->count : NULL};
    return choice.loop ? loop_with_body(arena, leaf, with_choice(&choice, &leaf->body)) : leaf;
}

static LoopBody walk(Threads *threads, const LoopBody *body, bool in_team) {
    Arena *arena = threads->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_LEAF)
            node = with_threads(threads, node);
        LoopNode *copy = arena_copy(arena, node, sizeof *node);
        const bool is_team = node->kind == LOOP_TEAM;
        if (is_team || (node->execution.thread && !in_team))
            copy->execution.work = work_of(threads, node, int_const(arena, 1));
        // A call whose length is not known yet cannot decide.
        if (node->execution.call && !is_known(threads, node->execution.call))
            copy->execution = (LoopExecution){.distinct = node->execution.distinct};
        if (node->var >= 0)
            threads->bound[node->var] = true;
        for (int d = 0; d < node->dim_count; d++)
            if (node->coordinates[d] >= 0)
                threads->bound[node->coordinates[d]] = true;
        copy->body = walk(threads, &node->body, in_team || is_team);
        if (node->kind == LOOP_FOR)
            threads->bound[node->var] = false;
        loop_append(arena, &result, copy);
    }
    for (int64_t i = 0; i < body->count; i++)
        if (body->items[i]->kind == LOOP_LET)
            threads->bound[body->items[i]->var] = false;
    return result;
}

const LoopKernel *loop_pass_threads(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    Threads threads = {kernel, arena_array(kernel->arena, bool, kernel->vars.count)};
    kernel->body = walk(&threads, &before->body, false);
    return kernel;
}
