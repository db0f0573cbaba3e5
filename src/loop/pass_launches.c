// SPDX-License-Identifier: BSD-3-Clause
// Makes kernels of a GPU of leaves: each becomes launches, in which blocks and threads execute the iterations
// of its loops as commands say, or else
//   - where loops write distinct elements, a thread computes a few elements, neighbouring threads
//   neighbouring
//     ones, or a block a square of them, where operands are stored across the result;
//   - where it is along a sum that operands are contiguous, several threads of a block sum parts of an
//   element;
//   - where there is one element, all blocks sum parts of it, and a second launch adds what they have found.
// Sums of parts are added in one order, so that results do not depend on what runs first.
#include "loop/launches.h"
#include "loop/passes.h"

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

// How many elements that an iteration reads are next to those of the iteration after.
static int contiguous(const Launches *launches, const LoopBody *nodes, int var) {
    int count = 0;
    for (int64_t i = 0; i < nodes->count; i++) {
        const ValueList values = loop_values(launches->arena, nodes->items[i]);
        for (int64_t v = 0; v < values.count; v++)
            count += values.items[v]->kind == VALUE_LOAD && values.items[v]->index &&
                     launch_moves_by_one(launch_expanded(launches, values.items[v]->index), var);
    }
    return count;
}

// What definitions in a leaf say, without other definitions.
static void expand_definitions(Launches *launches, const LoopBody *nodes) {
    launches->var_count = launches->kernel->vars.count;
    launches->values = arena_array(launches->arena, const IntExpr *, launches->var_count);
    for (int64_t i = 0; i < nodes->count; i++)
        if (nodes->items[i]->kind == LOOP_LET && nodes->items[i]->value->kind == VALUE_INDEX)
            launches->values[nodes->items[i]->var] = launch_expanded(launches, nodes->items[i]->value->index);
}

// The update that a chain of loops makes of one element; NULL where it does something else.
static const LoopNode *update_of(const Launches *launches, const Chain *sums) {
    return sums->count > 0 ? loop_invariant_update(launches->kernel, sums->loops[0]) : NULL;
}

// Whether how many terms a sum has is known before a launch that has all of these nodes.
static bool is_known_before(const Launches *launches, const Chain *sums, const LoopBody *nodes) {
    bool *inside = arena_array(launches->arena, bool, launches->kernel->vars.count + 1);
    for (int64_t i = 0; i < nodes->count; i++)
        if (nodes->items[i]->var >= 0)
            inside[nodes->items[i]->var] = true;
    bool known = true;
    for (int i = 0; i < sums->count; i++)
        known = known && !launch_depends(sums->loops[i]->lower, inside) &&
                !launch_depends(sums->loops[i]->upper, inside);
    return known;
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
    else if (update && is_known_before(launches, &sums, &nodes) &&
             contiguous(launches, &nodes, sums.loops[sums.count - 1]->var) >
                 contiguous(launches, &nodes, elements.loops[elements.count - 1]->var))
        launch_sums(launches, &elements, &sums, update, &rest, to);
    else if (sums.count > 0 || !launch_tiles(launches, &elements, &rest, to))
        launch_elements(launches, &elements, &sums, update, &rest, to);
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
