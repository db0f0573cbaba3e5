// SPDX-License-Identifier: BSD-3-Clause
// Makes kernels of a GPU of leaves: each becomes launches, in which blocks and threads execute the iterations
// of its loops as commands say, or else
//   - where loops write distinct elements, a thread computes an element, neighbouring threads neighbouring
//   ones;
//   - where it is along a sum that operands are contiguous, a block computes an element, and its threads sum
//   parts;
//   - where there is one element, all blocks sum parts of it, and a second launch adds what they have found.
// Sums of parts are added in one order, so that results do not depend on what runs first.
#include "loop/launches.h"
#include "loop/passes.h"

enum { MOST_LOOPS = 64, SUM_THREADS = 128, SUM_PARTS = 16 };

// Loops inside of each other whose bounds do not depend on each other: one loop over all of their iterations.
typedef struct {
    const LoopNode *loops[MOST_LOOPS];
    int count;
    const LoopBody *inside; // the body of the last one
} Chain;

// What follows nothing but definitions, and is followed by nothing; NULL where there is no such node.
static const LoopNode *only_node(const LoopBody *body) {
    for (int64_t i = 0; i < body->count; i++)
        if (body->items[i]->kind != LOOP_LET)
            return i == body->count - 1 ? body->items[i] : NULL;
    return NULL;
}

static Chain chain_of(const Launches *launches, const LoopBody *body, bool distinct) {
    Chain chain = {.inside = body};
    bool *inside = arena_array(launches->arena, bool, launches->var_count + 1);
    for (const LoopNode *node = only_node(body); node; node = only_node(body)) {
        for (int64_t i = 0; i + 1 < body->count; i++)
            inside[body->items[i]->var] = true;
        const bool joins = node->kind == LOOP_FOR && node->execution.distinct == distinct &&
                           node->step == 1 && chain.count < MOST_LOOPS &&
                           !launch_depends(node->lower, inside) && !launch_depends(node->upper, inside);
        if (!joins && node->kind != LOOP_IF)
            break;
        body = &node->body;
        if (!joins)
            continue;
        inside[node->var] = true;
        chain.loops[chain.count++] = node;
        chain.inside = body;
    }
    return chain;
}

// The iterations of all loops of a chain.
static const IntExpr *iterations_of(const Launches *launches, const Chain *chain) {
    const IntExpr *total = launch_number(launches, 1);
    for (int i = 0; i < chain->count; i++) {
        const IntExpr *count = launch_op(launches, INT_SUB, chain->loops[i]->upper, chain->loops[i]->lower);
        total = launch_op(launches, INT_MUL, total,
                          launch_op(launches, INT_MAX, launch_number(launches, 0), count));
    }
    return total;
}

// A divisor: where it is 0, there are no iterations.
static const IntExpr *divisor(const Launches *launches, const IntExpr *expr) {
    return launch_op(launches, INT_MAX, launch_number(launches, 1), expr);
}

// The variable of loop `index` of a chain in the iteration that has the number `linear`.
static const IntExpr *coordinate(const Launches *launches, const Chain *chain, int index,
                                 const IntExpr *linear) {
    const LoopNode *loop = chain->loops[index];
    const IntExpr *inner = launch_number(launches, 1), *at = linear;
    for (int i = index + 1; i < chain->count; i++)
        inner = launch_op(launches, INT_MUL, inner,
                          launch_op(launches, INT_SUB, chain->loops[i]->upper, chain->loops[i]->lower));
    if (index + 1 < chain->count)
        at = launch_op(launches, INT_FLOOR_DIV, at, divisor(launches, inner));
    if (index > 0)
        at = launch_op(launches, INT_MOD, at,
                       divisor(launches, launch_op(launches, INT_SUB, loop->upper, loop->lower)));
    return launch_op(launches, INT_ADD, loop->lower, at);
}

static int index_in(const Chain *chain, const LoopNode *node) {
    int i = 0;
    while (i < chain->count && chain->loops[i] != node)
        i++;
    return i < chain->count ? i : -1;
}

// A body in which definitions take the place of the loops of a chain, and `inside` that of what the last one
// has.
static LoopBody one_iteration(const Launches *launches, const Chain *chain, const LoopBody *body,
                              const IntExpr *linear, const LoopBody *inside) {
    LoopBody result = {0};
    if (body == chain->inside)
        return *inside;
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const int loop = index_in(chain, node);
        if (loop >= 0)
            loop_append(launches->arena, &result,
                        loop_let(launches->arena, node->var,
                                 value_index(launches->arena, coordinate(launches, chain, loop, linear))));
        if (loop >= 0)
            loop_append_all(launches->arena, &result,
                            one_iteration(launches, chain, &node->body, linear, inside));
        else if (node->kind == LOOP_IF && i + 1 == body->count)
            loop_append(launches->arena, &result,
                        loop_with_body(launches->arena, node,
                                       one_iteration(launches, chain, &node->body, linear, inside)));
        else
            loop_append(launches->arena, &result, node);
    }
    return result;
}

static const IntExpr *var_of(const Launches *launches, const LoopNode *loop) {
    return int_var(launches->arena, loop->var);
}

// A thread for each iteration of the chain.
static void launch_elements(const Launches *launches, const Chain *chain, const LoopBody *body,
                            LoopBody *to) {
    const IntExpr *total = loop_append_let(launches->kernel, to, "elements", -1,
                                           value_index(launches->arena, iterations_of(launches, chain)));
    const IntExpr *blocks = launch_op(launches, INT_CEIL_DIV, total, launch_number(launches, GPU_THREADS));
    LoopNode *launch = launch_create(launches, blocks, GPU_THREADS);
    LoopNode *block = launch_loop(launches, "block", launch_number(launches, 0), blocks, GPU_BLOCK);
    const IntExpr *begin =
        launch_op(launches, INT_MUL, var_of(launches, block), launch_number(launches, GPU_THREADS));
    const IntExpr *end = launch_op(launches, INT_MIN, total,
                                   launch_op(launches, INT_ADD, begin, launch_number(launches, GPU_THREADS)));
    LoopNode *thread = launch_loop(launches, "element", begin, end, GPU_THREAD);
    thread->body = one_iteration(launches, chain, body, var_of(launches, thread), chain->inside);
    loop_append(launches->arena, &block->body, thread);
    loop_append(launches->arena, &launch->body, block);
    loop_append(launches->arena, to, launch);
}

// A scalar for what a thread sums, with the reducer of the array that is updated.
static int add_sum(const Launches *launches, const LoopNode *update, LoopBody *to) {
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

// An array of a value for each thread of a block, or for each block of a launch.
static int add_parts(const Launches *launches, const LoopNode *update, int count, bool shared, LoopBody *to) {
    LoopNode *workspace = loop_node(launches->arena, LOOP_WORKSPACE);
    workspace->array = loop_add_array(launches->kernel, (LoopArray){.name = shared ? "parts" : "partial",
                                                                    .type = (ElementType)update->value->type,
                                                                    .written = true,
                                                                    .extent = launch_number(launches, count),
                                                                    .local = shared,
                                                                    .shared = shared,
                                                                    .partial = !shared});
    workspace->stored = true;
    loop_append(launches->arena, to, workspace);
    return workspace->array;
}

// Threads sum `count` elements of an array each, `step` apart from each other, and store the sum in the first
// of them, or make `last` of it.
static void append_sums(const Launches *launches, const LoopNode *update, int parts, int threads, int count,
                        int step, const LoopNode *last, LoopBody *to) {
    Arena *arena = launches->arena;
    LoopNode *loop = launch_loop(launches, "thread", launch_number(launches, 0),
                                 launch_number(launches, threads), GPU_THREAD);
    const int sum = add_sum(launches, update, &loop->body);
    const IntExpr *first =
        launch_op(launches, INT_MUL, var_of(launches, loop), launch_number(launches, (int64_t)count * step));
    LoopNode *each =
        launch_loop(launches, "part", launch_number(launches, 0), launch_number(launches, count), GPU_NONE);
    const IntExpr *at =
        launch_op(launches, INT_ADD, first,
                  launch_op(launches, INT_MUL, var_of(launches, each), launch_number(launches, step)));
    loop_append(arena, &each->body,
                loop_update(arena, LOOP_ACCUMULATE, sum, NULL,
                            value_element(arena, VALUE_LOAD, update->value->type, parts, at)));
    loop_append(arena, &loop->body, each);
    const Value *value = value_element(arena, VALUE_LOAD, update->value->type, sum, NULL);
    LoopNode *store =
        arena_copy(arena, last ? last : loop_update(arena, LOOP_STORE, parts, first, value), sizeof *store);
    store->value = value;
    loop_append(arena, &loop->body, store);
    loop->execution.barrier = true;
    loop_append(arena, to, loop);
}

// What all threads of a block have stored in `parts` is summed, and `last` updates an element with it.
static void sum_parts(const Launches *launches, const LoopNode *update, int parts, const LoopNode *last,
                      LoopBody *to) {
    append_sums(launches, update, parts, SUM_PARTS, SUM_THREADS / SUM_PARTS, 1, NULL, to);
    append_sums(launches, update, parts, 1, SUM_PARTS, SUM_THREADS / SUM_PARTS, last, to);
}

// Threads of a block each sum those iterations of a chain of loops that begin with a number `first` of their
// own, `step` apart.
static void append_threads(const Launches *launches, const Chain *sums, const LoopBody *body,
                           const LoopNode *update, int parts, const IntExpr *first, int64_t step,
                           LoopBody *to) {
    Arena *arena = launches->arena;
    const IntExpr *terms =
        loop_append_let(launches->kernel, to, "terms", -1, value_index(arena, iterations_of(launches, sums)));
    LoopNode *thread = launch_loop(launches, "thread", launch_number(launches, 0),
                                   launch_number(launches, SUM_THREADS), GPU_THREAD);
    Redirection redirection = {launches, update->array, add_sum(launches, update, &thread->body)};
    LoopNode *term = launch_loop(
        launches, "term", launch_op(launches, INT_ADD, first, var_of(launches, thread)), terms, GPU_NONE);
    term->step = step;
    launches->summed[update->array] = true;
    const LoopBody inside = loop_rewrite(arena, sums->inside, redirect, &redirection);
    term->body = one_iteration(launches, sums, body, var_of(launches, term), &inside);
    loop_append(arena, &thread->body, term);
    loop_append(arena, &thread->body,
                loop_update(arena, LOOP_STORE, parts, var_of(launches, thread),
                            value_element(arena, VALUE_LOAD, update->value->type, redirection.to, NULL)));
    thread->execution.barrier = true;
    loop_append(arena, to, thread);
}

// Definitions and conditions before the loops of `sums`, and then the sum by the threads of a block.
static void append_block(const Launches *launches, const Chain *sums, const LoopNode *update, int parts,
                         const LoopBody *body, LoopBody *to) {
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        LoopBody inside = {0};
        if (node == sums->loops[0]) {
            loop_append(launches->arena, &inside, node);
            append_threads(launches, sums, &inside, update, parts, launch_number(launches, 0), SUM_THREADS,
                           to);
            sum_parts(launches, update, parts, update, to);
            return;
        }
        if (node->kind == LOOP_IF) {
            append_block(launches, sums, update, parts, &node->body, &inside);
            node = loop_with_body(launches->arena, node, inside);
        }
        loop_append(launches->arena, to, node);
    }
}

// A block for each iteration of `elements`, whose threads share those of `sums` inside.
static void launch_sums(const Launches *launches, const Chain *elements, const Chain *sums,
                        const LoopNode *update, const LoopBody *body, LoopBody *to) {
    Arena *arena = launches->arena;
    const IntExpr *total = loop_append_let(launches->kernel, to, "elements", -1,
                                           value_index(arena, iterations_of(launches, elements)));
    LoopNode *launch = launch_create(launches, total, SUM_THREADS);
    const int parts = add_parts(launches, update, SUM_THREADS, true, &launch->body);
    LoopNode *block = launch_loop(launches, "element", launch_number(launches, 0), total, GPU_BLOCK);
    LoopBody inside = {0};
    append_block(launches, sums, update, parts, elements->inside, &inside);
    block->body = one_iteration(launches, elements, body, var_of(launches, block), &inside);
    loop_append(arena, &launch->body, block);
    loop_append(arena, to, launch);
}

// All blocks share the iterations of `sums`; then one block adds what each of them has.
static void launch_one_sum(const Launches *launches, const Chain *sums, const LoopNode *update,
                           const LoopBody *body, LoopBody *to) {
    Arena *arena = launches->arena;
    const int partial = add_parts(launches, update, GPU_SUM_BLOCKS, false, to);
    LoopNode *launch = launch_create(launches, launch_number(launches, GPU_SUM_BLOCKS), SUM_THREADS);
    int parts = add_parts(launches, update, SUM_THREADS, true, &launch->body);
    LoopNode *block = launch_loop(launches, "block", launch_number(launches, 0),
                                  launch_number(launches, GPU_SUM_BLOCKS), GPU_BLOCK);
    const IntExpr *first =
        launch_op(launches, INT_MUL, var_of(launches, block), launch_number(launches, SUM_THREADS));
    append_threads(launches, sums, body, update, parts, first, (int64_t)GPU_SUM_BLOCKS * SUM_THREADS,
                   &block->body);
    sum_parts(launches, update, parts,
              loop_update(arena, LOOP_STORE, partial, var_of(launches, block), update->value), &block->body);
    loop_append(arena, &launch->body, block);
    loop_append(arena, to, launch);
    launch = launch_create(launches, launch_number(launches, 1), SUM_THREADS);
    parts = add_parts(launches, update, SUM_THREADS, true, &launch->body);
    LoopNode *thread = launch_loop(launches, "thread", launch_number(launches, 0),
                                   launch_number(launches, SUM_THREADS), GPU_THREAD);
    const int sum = add_sum(launches, update, &thread->body);
    LoopNode *each = launch_loop(launches, "part", var_of(launches, thread),
                                 launch_number(launches, GPU_SUM_BLOCKS), GPU_NONE);
    each->step = SUM_THREADS;
    loop_append(
        arena, &each->body,
        loop_update(arena, LOOP_ACCUMULATE, sum, NULL,
                    value_element(arena, VALUE_LOAD, update->value->type, partial, var_of(launches, each))));
    loop_append(arena, &thread->body, each);
    loop_append(arena, &thread->body,
                loop_update(arena, LOOP_STORE, parts, var_of(launches, thread),
                            value_element(arena, VALUE_LOAD, update->value->type, sum, NULL)));
    thread->execution.barrier = true;
    loop_append(arena, &launch->body, thread);
    sum_parts(launches, update, parts, update, &launch->body);
    loop_append(arena, to, launch);
}

// Whether an iteration of a loop moves a position on by one.
static bool moves_by_one(const IntExpr *position, int var) {
    return (position->op == INT_VAR && position->value == var) ||
           ((position->op == INT_ADD || position->op == INT_SUB) && moves_by_one(position->left, var)) ||
           (position->op == INT_ADD && moves_by_one(position->right, var));
}

// How many elements that an iteration reads or writes are next to those of the iteration after.
static int contiguous(const Launches *launches, const LoopBody *nodes, int var) {
    int count = 0;
    for (int64_t i = 0; i < nodes->count; i++) {
        const LoopNode *node = nodes->items[i];
        const ValueList values = loop_values(launches->arena, node);
        for (int64_t v = 0; v < values.count; v++)
            count += values.items[v]->kind == VALUE_LOAD && values.items[v]->index &&
                     moves_by_one(loop_substitute(launches->arena, values.items[v]->index, launches->values,
                                                  launches->var_count),
                                  var);
        count += node->position && moves_by_one(loop_substitute(launches->arena, node->position,
                                                                launches->values, launches->var_count),
                                                var);
    }
    return count;
}

// What definitions in a leaf say, without other definitions.
static void expand_definitions(Launches *launches, const LoopBody *nodes) {
    launches->var_count = launches->kernel->vars.count;
    launches->values = arena_array(launches->arena, const IntExpr *, launches->var_count);
    for (int64_t i = 0; i < nodes->count; i++)
        if (nodes->items[i]->kind == LOOP_LET && nodes->items[i]->value->kind == VALUE_INDEX)
            launches->values[nodes->items[i]->var] = loop_substitute(
                launches->arena, nodes->items[i]->value->index, launches->values, launches->var_count);
}

// The update that a chain of loops makes of one element; NULL where it does something else.
static const LoopNode *update_of(const Launches *launches, const Chain *sums) {
    return sums->count > 0 ? loop_invariant_update(launches->kernel, sums->loops[0]) : NULL;
}

// What is left of a leaf after its definitions, conditions, and loops that follow one another on the host.
static void append_launches(const Launches *launches, const LoopBody *body, LoopBody *to) {
    Arena *arena = launches->arena;
    LoopBody rest = {0};
    for (int64_t i = 0; i < body->count; i++)
        loop_append(arena, body->items[i]->kind == LOOP_LET && rest.count == 0 ? to : &rest, body->items[i]);
    if (rest.count == 0)
        return;
    const LoopNode *node = only_node(&rest);
    const LoopBody nodes = node ? loop_nodes(arena, node) : rest;
    const bool commanded = launch_has_units(&nodes);
    if (node && node->kind == LOOP_IF) {
        LoopBody inside = {0};
        append_launches(launches, &node->body, &inside);
        loop_append(arena, to, loop_with_body(arena, node, inside));
        return;
    }
    const Chain elements = chain_of(launches, &rest, true);
    const Chain sums = chain_of(launches, elements.inside, false);
    const LoopNode *update = update_of(launches, &sums);
    if (node && node->kind == LOOP_FOR && node->execution.unit == GPU_NONE &&
        (commanded || (elements.count == 0 && !update))) {
        LoopBody inside = {0};
        append_launches(launches, &node->body, &inside);
        loop_append(arena, to, loop_with_body(arena, node, inside));
        return;
    }
    if (commanded || elements.count + sums.count == 0)
        launch_units(launches, &rest, to);
    else if (elements.count == 0)
        launch_one_sum(launches, &sums, update, &rest, to);
    else if (update && contiguous(launches, &nodes, sums.loops[sums.count - 1]->var) >
                           contiguous(launches, &nodes, elements.loops[elements.count - 1]->var))
        launch_sums(launches, &elements, &sums, update, &rest, to);
    else
        launch_elements(launches, &elements, &rest, to);
}

static void launch_leaf(void *context, const LoopNode *node, LoopBody *to) {
    Launches *launches = context;
    if (node->kind == LOOP_LEAF) {
        const LoopBody nodes = loop_nodes(launches->arena, node);
        bool calls = false;
        for (int64_t i = 0; i < nodes.count; i++)
            calls = calls || nodes.items[i]->kind == LOOP_CALL;
        LoopBody body = {0};
        expand_definitions(launches, &nodes);
        launches->summed = arena_array(launches->arena, bool, launches->array_count);
        if (!calls) {
            append_launches(launches, &node->body, &body);
            node = loop_where_present(launches->kernel, loop_with_body(launches->arena, node, body),
                                      launches->summed, launches->array_count);
        }
    }
    loop_append(launches->arena, to, node);
}

const LoopKernel *loop_pass_launches(const LoopKernel *before) {
    Launches launches = {
        .kernel = loop_kernel_copy(before), .arena = before->arena, .array_count = before->arrays.count};
    launches.kernel->body = loop_rewrite(before->arena, &before->body, launch_leaf, &launches);
    return launches.kernel;
}
