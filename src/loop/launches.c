// SPDX-License-Identifier: BSD-3-Clause
// What launches are made of: expressions, loops, and the loops of a leaf in other places.
#include "loop/launches.h"

#include "loop/passes.h"

const IntExpr *launch_number(const Launches *launches, int64_t value) {
    return int_const(launches->arena, value);
}

const IntExpr *launch_op(const Launches *launches, IntOp kind, const IntExpr *left, const IntExpr *right) {
    return int_op(launches->arena, kind, left, right);
}

const IntExpr *launch_var(const Launches *launches, const LoopNode *loop) {
    return int_var(launches->arena, loop->var);
}

const IntExpr *launch_let(const Launches *launches, LoopBody *to, const char *name, const IntExpr *value) {
    return value->op == INT_CONST
               ? value
               : loop_append_let(launches->kernel, to, name, -1, value_index(launches->arena, value));
}

bool launch_depends(const IntExpr *expr, const bool *vars) {
    return (expr->op == INT_VAR && vars[expr->value]) || (expr->left && launch_depends(expr->left, vars)) ||
           (expr->right && launch_depends(expr->right, vars));
}

bool *launch_defined(const Launches *launches, const LoopBody *body) {
    bool *defined = arena_array(launches->arena, bool, launches->kernel->vars.count + 1);
    for (int64_t i = 0; i < body->count; i++) {
        const LoopBody nodes = loop_nodes(launches->arena, body->items[i]);
        for (int64_t n = 0; n < nodes.count; n++)
            if (nodes.items[n]->var >= 0)
                defined[nodes.items[n]->var] = true;
    }
    return defined;
}

LoopNode *launch_create(const Launches *launches, const IntExpr *blocks, int threads) {
    LoopNode *launch = loop_node(launches->arena, LOOP_LAUNCH);
    launch->blocks[0] = blocks;
    launch->threads[0] = launch_number(launches, threads);
    return launch;
}

LoopNode *launch_loop(const Launches *launches, const char *name, const IntExpr *lower, const IntExpr *upper,
                      GpuUnit unit, int dim) {
    LoopNode *loop = loop_node(launches->arena, LOOP_FOR);
    loop->var = loop_add_index(launches->kernel, name, -1);
    loop->lower = lower;
    loop->upper = upper;
    loop->execution.unit = unit;
    loop->execution.dim = dim;
    loop->execution.distinct = unit != GPU_NONE;
    return loop;
}

const IntExpr *launch_extent(const Launches *launches, const LoopNode *loop) {
    return launch_op(launches, INT_MAX, launch_number(launches, 0),
                     launch_op(launches, INT_SUB, loop->upper, loop->lower));
}

const IntExpr *launch_extents(const Launches *launches, const Chain *chain, int count) {
    const IntExpr *total = launch_number(launches, 1);
    for (int i = 0; i < count; i++)
        total = launch_op(launches, INT_MUL, total, launch_extent(launches, chain->loops[i]));
    return total;
}

// What follows nothing but definitions, and is followed by nothing; NULL where there is no such node.
static const LoopNode *only_node(const LoopBody *body) {
    for (int64_t i = 0; i < body->count; i++)
        if (body->items[i]->kind != LOOP_LET)
            return i == body->count - 1 ? body->items[i] : NULL;
    return NULL;
}

Chain launch_chain(const Launches *launches, const LoopBody *body, bool distinct) {
    Chain chain = {.inside = body};
    bool *inside = arena_array(launches->arena, bool, launches->kernel->vars.count + 1);
    bool guarded = false;
    for (const LoopNode *node = only_node(body); node; node = only_node(body)) {
        for (int64_t i = 0; i + 1 < body->count; i++)
            inside[body->items[i]->var] = true;
        const bool joins = node->kind == LOOP_FOR && node->execution.distinct == distinct &&
                           node->step == 1 && chain.count < CHAIN_LOOPS &&
                           !launch_depends(node->lower, inside) && !launch_depends(node->upper, inside);
        if (!joins && node->kind != LOOP_IF)
            break;
        body = &node->body;
        guarded = guarded || !joins;
        if (!joins)
            continue;
        inside[node->var] = true;
        chain.guarded = guarded;
        chain.loops[chain.count++] = node;
        chain.inside = body;
    }
    return chain;
}

const LoopNode *launch_update(const Launches *launches, const Chain *sums) {
    return sums->count > 0 ? loop_invariant_update(launches->kernel, sums->loops[0]) : NULL;
}

// A divisor: where it is 0, there are no iterations.
static const IntExpr *divisor(const Launches *launches, const IntExpr *expr) {
    return launch_op(launches, INT_MAX, launch_number(launches, 1), expr);
}

void launch_coordinates(const Launches *launches, const Chain *chain, int count, const IntExpr *linear,
                        Place *places) {
    const IntExpr *inner = launch_number(launches, 1);
    for (int i = count - 1; i >= 0; i--) {
        const LoopNode *loop = chain->loops[i];
        const IntExpr *extent = launch_op(launches, INT_SUB, loop->upper, loop->lower), *at = linear;
        if (i + 1 < count)
            at = launch_op(launches, INT_FLOOR_DIV, at, divisor(launches, inner));
        if (i > 0)
            at = launch_op(launches, INT_MOD, at, divisor(launches, extent));
        places[i].value = launch_op(launches, INT_ADD, loop->lower, at);
        inner = launch_op(launches, INT_MUL, inner, extent);
    }
}

static int index_in(const Chain *chain, const LoopNode *node) {
    int i = 0;
    while (i < chain->count && chain->loops[i] != node)
        i++;
    return i < chain->count ? i : -1;
}

LoopBody launch_body(const Launches *launches, const Chain *chain, const LoopBody *body, const Place *places,
                     const LoopBody *inside) {
    Arena *arena = launches->arena;
    LoopBody result = {0};
    if (body == chain->inside)
        return *inside;
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const int at = index_in(chain, node);
        if (at < 0 && (node->kind != LOOP_IF || i + 1 < body->count)) {
            loop_append(arena, &result, node);
            continue;
        }
        const LoopNode *around = at < 0 ? node : places[at].loop;
        LoopBody within = {0}, *into = around ? &within : &result;
        if (at >= 0 && places[at].value)
            loop_append(arena, into, loop_let(arena, node->var, value_index(arena, places[at].value)));
        loop_append_all(arena, into, launch_body(launches, chain, &node->body, places, inside));
        if (around)
            loop_append(arena, &result, loop_with_body(arena, around, within));
    }
    return result;
}

int launch_sum(const Launches *launches, const LoopNode *update, LoopBody *to) {
    const Reducer reducer = launches->kernel->arrays.items[update->array].reducer;
    LoopNode *workspace = loop_node(launches->arena, LOOP_WORKSPACE);
    workspace->array = loop_add_array(launches->kernel, (LoopArray){.name = reducer_names[reducer],
                                                                    .type = (ElementType)update->value->type,
                                                                    .written = true,
                                                                    .scalar = true,
                                                                    .reducer = reducer});
    loop_append(launches->arena, to, workspace);
    return workspace->array;
}

typedef struct {
    const Launches *launches;
    int from, to;
} Redirection;

static void redirect(void *context, const LoopNode *node, LoopBody *to) {
    const Redirection *redirection = context;
    if (node->kind == LOOP_ACCUMULATE && node->array == redirection->from) {
        LoopNode *copy = arena_copy(redirection->launches->arena, node, sizeof *node);
        copy->array = redirection->to;
        copy->position = NULL;
        copy->atomic = false;
        node = copy;
    }
    loop_append(redirection->launches->arena, to, node);
}

LoopBody launch_redirect(const Launches *launches, const LoopBody *body, int array, int sum) {
    Redirection redirection = {launches, array, sum};
    return loop_rewrite(launches->arena, body, redirect, &redirection);
}

void launch_shape(const Launches *launches, const IntExpr *const *extents, LoopBody *to,
                  const IntExpr **threads) {
    static const char *const names[GPU_DIMS] = {"threads_x", "threads_y", "threads_z"};
    static const int most[GPU_DIMS] = {GPU_THREADS, GPU_THREADS, 64};
    const IntExpr *one = launch_number(launches, 1), *taken = one;
    for (int d = 0; d < GPU_DIMS; d++) {
        const IntExpr *count = extents[d] ? extents[d] : one;
        const IntExpr *left = launch_op(launches, INT_FLOOR_DIV, launch_number(launches, GPU_THREADS), taken);
        count = launch_op(launches, INT_MIN, count,
                          launch_op(launches, INT_MIN, left, launch_number(launches, most[d])));
        threads[d] =
            extents[d] ? launch_let(launches, to, names[d], launch_op(launches, INT_MAX, one, count)) : one;
        taken = launch_op(launches, INT_MUL, taken, threads[d]);
    }
}

const IntExpr *launch_first(const Launches *launches, const IntExpr *thread) {
    const IntExpr *lanes = launch_number(launches, GPU_LANES);
    const IntExpr *warp = launch_op(launches, INT_FLOOR_DIV, thread, lanes);
    return launch_op(launches, INT_ADD,
                     launch_op(launches, INT_MUL, warp, launch_number(launches, GPU_LANES * LAUNCH_EACH)),
                     launch_op(launches, INT_MOD, thread, lanes));
}

LoopBody launch_each(const Launches *launches, int var, const IntExpr *first, const IntExpr *end,
                     const LoopBody *inside) {
    Arena *arena = launches->arena;
    const IntExpr *count = launch_number(launches, LAUNCH_EACH);
    LoopNode *each = launch_loop(launches, "each", launch_number(launches, 0), count, GPU_NONE, 0);
    each->execution.unroll = LAUNCH_EACH;
    const IntExpr *offset =
        launch_op(launches, INT_MUL, launch_var(launches, each), launch_number(launches, GPU_LANES));
    LoopNode *guard = loop_node(arena, LOOP_IF);
    guard->value = value_less(arena, int_var(arena, var), end);
    guard->body = *inside;
    loop_append(arena, &each->body,
                loop_let(arena, var, value_index(arena, launch_op(launches, INT_ADD, first, offset))));
    loop_append(arena, &each->body, guard);
    LoopBody body = {0};
    loop_append(arena, &body, each);
    return body;
}

bool launch_moves_by_one(const IntExpr *position, int var) {
    return (position->op == INT_VAR && position->value == var) ||
           ((position->op == INT_ADD || position->op == INT_SUB) &&
            launch_moves_by_one(position->left, var)) ||
           (position->op == INT_ADD && launch_moves_by_one(position->right, var));
}

const IntExpr *launch_expanded(const Launches *launches, const IntExpr *position) {
    return loop_substitute(launches->arena, position, launches->values, launches->var_count);
}

int launch_contiguous(const Launches *launches, const LoopBody *nodes, int var) {
    int count = 0;
    for (int64_t i = 0; i < nodes->count; i++) {
        const ValueList values = loop_values(launches->arena, nodes->items[i]);
        for (int64_t v = 0; v < values.count; v++)
            count += values.items[v]->kind == VALUE_LOAD && values.items[v]->index &&
                     launch_moves_by_one(launch_expanded(launches, values.items[v]->index), var);
    }
    return count;
}

void launch_expand(Launches *launches, const LoopBody *nodes) {
    const int64_t before = launches->var_count;
    const IntExpr *const *values = launches->values;
    launches->var_count = launches->kernel->vars.count;
    launches->values = arena_array(launches->arena, const IntExpr *, launches->var_count);
    for (int64_t v = 0; v < before; v++)
        launches->values[v] = values[v];
    for (int64_t i = 0; i < nodes->count; i++)
        if (nodes->items[i]->kind == LOOP_LET)
            launches->values[nodes->items[i]->var] = NULL;
    for (int64_t i = 0; i < nodes->count; i++)
        if (nodes->items[i]->kind == LOOP_LET && nodes->items[i]->value->kind == VALUE_INDEX)
            launches->values[nodes->items[i]->var] = launch_expanded(launches, nodes->items[i]->value->index);
}
