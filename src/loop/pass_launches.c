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

// Whether how many terms a sum has is known before a launch with this body.
static bool is_known_before(const Launches *launches, const Chain *sums, const LoopBody *body) {
    const bool *inside = launch_defined(launches, body);
    bool known = true;
    for (int i = 0; i < sums->count; i++)
        known = known && !launch_depends(sums->loops[i]->lower, inside) &&
                !launch_depends(sums->loops[i]->upper, inside);
    return known;
}

static void append_launches(const Launches *launches, const LoopBody *body, LoopBody *to);

// A node whose body follows on the host.
static void append_around(const Launches *launches, const LoopNode *node, LoopBody *to) {
    LoopBody inside = {0};
    append_launches(launches, &node->body, &inside);
    loop_append(launches->arena, to, loop_with_body(launches->arena, node, inside));
}

// The launches of a team's body, and those that add up its partial results, by default.
static void append_team(const Launches *launches, const LoopNode *team, LoopBody *to) {
    Launches with = *launches;
    LoopBody inside = {0};
    const LoopBody sums = launch_begin_team(&with, team, &inside);
    append_launches(&with, &team->body, &inside);
    append_launches(launches, &sums, &inside);
    loop_append(launches->arena, to, loop_with_body(launches->arena, team, inside));
}

// What fills a row and what reads it: one launch after the other.
static void append_sequence(const Launches *launches, LoopBody body, LoopBody *to) {
    for (int64_t i = 0; i < body.count; i++) {
        const LoopNode *node = body.items[i];
        if (node->kind == LOOP_LET) {
            loop_append(launches->arena, to, node);
        } else if (node->kind == LOOP_WORKSPACE) {
            body = launch_row_between(launches, &body, i, to);
            i = -1;
        } else {
            const LoopBody own = {&body.items[i], 1, 1}, nodes = loop_nodes(launches->arena, node);
            Launches with = *launches;
            launch_expand(&with, &nodes);
            append_launches(&with, &own, to);
        }
    }
}

// The launch of loops that write distinct elements, in which there may be sums.
static void append_elements(const Launches *launches, const Chain *elements, const LoopBody *nodes,
                            const LoopBody *rest, LoopBody *to) {
    const Chain sums = launch_chain(launches, elements->inside, false);
    const LoopNode *update = launch_update(launches, &sums);
    if (launch_fills_rows(launches, elements, nodes))
        launch_rows(launches, elements, rest, to);
    else if (update && is_known_before(launches, &sums, rest) &&
             launch_contiguous(launches, nodes, sums.loops[sums.count - 1]->var) >
                 launch_contiguous(launches, nodes, elements->loops[elements->count - 1]->var))
        launch_sums(launches, elements, &sums, update, rest, to);
    else if (sums.count > 0 || !launch_tiles(launches, elements, rest, to))
        launch_elements(launches, elements, &sums, update, rest, to);
}

// What is left of a leaf after its definitions, conditions, and loops that follow one another on the host.
static void append_launches(const Launches *launches, const LoopBody *body, LoopBody *to) {
    Arena *arena = launches->arena;
    LoopBody rest = {0};
    for (int64_t i = 0; i < body->count; i++)
        loop_append(arena, body->items[i]->kind == LOOP_LET && rest.count == 0 ? to : &rest, body->items[i]);
    if (rest.count == 0)
        return;
    const LoopNode *node = rest.items[0];
    if (rest.count > 1) {
        append_sequence(launches, rest, to);
        return;
    }
    if (node->kind == LOOP_IF) {
        append_around(launches, node, to);
        return;
    }
    if (node->kind == LOOP_TEAM) {
        append_team(launches, node, to);
        return;
    }
    const LoopBody nodes = loop_nodes(arena, node);
    const Chain elements = launch_chain(launches, &rest, true);
    const Chain sums = launch_chain(launches, elements.inside, false);
    const LoopNode *update = launch_has_rows(launches, &nodes) ? NULL : launch_update(launches, &sums);
    const bool commanded = launch_has_units(&nodes);
    const bool follows = node->kind == LOOP_FOR && node->execution.unit == GPU_NONE;
    if (node->execution.unit == GPU_BLOCK && launch_has_workspaces(&nodes))
        launch_row_units(launches, &rest, to);
    else if (follows && (commanded || (elements.count == 0 && !update)))
        append_around(launches, node, to);
    else if (!commanded && elements.count > 0)
        append_elements(launches, &elements, &nodes, &rest, to);
    else if (!commanded && update)
        launch_one_sum(launches, &sums, update, &rest, to);
    else
        launch_units(launches, &rest, to);
}

static void launch_leaf(void *context, const LoopNode *node, LoopBody *to) {
    Launches *launches = context;
    if (node->kind == LOOP_LEAF) {
        const LoopBody nodes = loop_nodes(launches->arena, node);
        bool calls = false;
        for (int64_t i = 0; i < nodes.count; i++)
            calls = calls || nodes.items[i]->kind == LOOP_CALL;
        LoopBody body = {0};
        launches->values = NULL;
        launches->var_count = 0;
        launch_expand(launches, &nodes);
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
