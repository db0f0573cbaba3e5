// SPDX-License-Identifier: BSD-3-Clause
// Launches of a team: blocks, warps and threads that would add to the same elements have partial results in
// memory of the GPU, which are added up after all of them.
#include "loop/launches.h"

static bool threads_have_partials(const Launches *launches, const LoopNode *team) {
    const LoopBody nodes = loop_nodes(launches->arena, team);
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->execution.partials && nodes.items[i]->execution.unit == GPU_THREAD)
            return true;
    return false;
}

static const IntExpr *position_of(const Launches *launches, const IntExpr *element, const IntExpr *partial) {
    return launch_op(launches, INT_ADD, launch_op(launches, INT_MUL, element, launches->element_step),
                     launch_op(launches, INT_MUL, partial, launches->partial_step));
}

LoopBody launch_begin_team(Launches *launches, const LoopNode *team, LoopBody *to) {
    LoopKernel *kernel = launches->kernel;
    Arena *arena = launches->arena;
    const int own = team->own, type = (int)kernel->arrays.items[own].type;
    launches->team = team;
    launches->partials = loop_append_let(kernel, to, "partials", -1,
                                         value_element(arena, VALUE_UNITS, VALUE_TYPE_INDEX, own, NULL));
    const IntExpr *span = loop_append_let(kernel, to, "span", -1,
                                          value_element(arena, VALUE_SPAN, VALUE_TYPE_INDEX, own, NULL));
    LoopNode *at = launch_loop(launches, "at", launch_number(launches, 0), span, GPU_NONE, 0);
    LoopNode *partial =
        launch_loop(launches, "partial", launch_number(launches, 0), launches->partials, GPU_NONE, 0);
    // Neighbouring threads add to neighbouring elements of memory: to partial results of an element, or
    // elements of a partial result.
    const bool together = threads_have_partials(launches, team);
    launches->partial_step = together ? launch_number(launches, 1) : span;
    launches->element_step = together ? launches->partials : launch_number(launches, 1);
    const IntExpr *sum = launch_op(launches, INT_ADD, launch_op(launches, INT_MUL, launches->partials, span),
                                   launch_var(launches, at));
    at->step = partial->step = 1;
    at->execution.distinct = true;
    loop_append(arena, &partial->body,
                loop_update(arena, LOOP_ACCUMULATE, own, sum,
                            value_element(arena, VALUE_LOAD, type, own,
                                          position_of(launches, launch_var(launches, at),
                                                      launch_var(launches, partial)))));
    loop_append(arena, &at->body, partial);
    LoopBody sums = {0};
    loop_append(arena, &sums, at);
    return sums;
}

// The loops whose units have partial results, by unit and dimension, and how many units each has. Those of
// one dimension that follow each other have the same units.
enum { OF_BLOCKS, OF_THREADS, UNIT_KINDS };
typedef struct {
    bool used;
    const IntExpr *most;  // iterations that they have at most; NULL: not known before the launch
    const IntExpr *count; // units
} PartialUnits;
typedef struct {
    const Launches *launches;
    const bool *inside; // by variable: it is one of the launch
    Units units;
    PartialUnits dims[UNIT_KINDS][GPU_DIMS];
} Partials;

static PartialUnits *units_of(Partials *partials, const LoopNode *loop, Units around) {
    const int kind = loop->execution.unit == GPU_BLOCK ? OF_BLOCKS : OF_THREADS;
    return &partials->dims[kind][launch_dim(&partials->units, around, loop)];
}

static void find_loops(Partials *partials, const LoopBody *body, Units around) {
    const Launches *launches = partials->launches;
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->execution.partials) {
            PartialUnits *units = units_of(partials, node, around);
            const IntExpr *most = launch_most_iterations(launches, node, partials->inside);
            if (!units->used)
                units->most = most;
            else
                units->most = units->most && most ? launch_op(launches, INT_MAX, units->most, most) : NULL;
            units->used = true;
        }
        find_loops(partials, &node->body, launch_units_inside(around, node));
    }
}

// As many as have partial results, from the innermost loop on: as plan_gpu_partials has counted them.
static void count_units(Partials *partials, LoopBody *to) {
    const Launches *launches = partials->launches;
    const IntExpr *left = launches->partials, *blocks = launch_number(launches, GPU_BLOCKS);
    for (int kind = OF_THREADS; kind >= OF_BLOCKS; kind--)
        for (int d = 0; d < GPU_DIMS; d++) {
            PartialUnits *units = &partials->dims[kind][d];
            if (!units->used)
                continue;
            const IntExpr *most =
                kind == OF_BLOCKS ? blocks : launch_number(launches, launch_threads(&partials->units, d));
            most = units->most ? launch_op(launches, INT_MIN, most, units->most) : most;
            const int var = loop_add_index(launches->kernel, kind == OF_BLOCKS ? "blocks" : "threads", -1);
            units->count = launch_count_units(launches, var, most, &left, to);
            if (kind == OF_BLOCKS)
                blocks = launch_op(launches, INT_FLOOR_DIV, blocks, units->count);
        }
}

// Whether all that the iterations of a loop do to the result is to add atomically.
static bool adds_atomically(const Launches *launches, const LoopNode *loop) {
    const LoopBody nodes = loop_nodes(launches->arena, loop);
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->kind == LOOP_ACCUMULATE && nodes.items[i]->array == launches->team->own &&
            !nodes.items[i]->atomic)
            return false;
    return true;
}

// A body, of which a unit around has partial result number `partial`, with loops over units around those over
// iterations.
static LoopBody over_units(Partials *partials, const LoopBody *body, Units around, const IntExpr *partial) {
    const Launches *launches = partials->launches;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        LoopNode *node = arena_copy(launches->arena, body->items[i], sizeof *node), *outer = node;
        const IntExpr *own = partial;
        if (node->kind == LOOP_ACCUMULATE && node->array == launches->team->own)
            node->position = position_of(launches, node->position, partial);
        if (node->execution.partials) {
            outer = launch_over_units(launches, node, units_of(partials, node, around)->count, &own);
            outer->execution.partials = true;
            node->execution.partials = false;
            node->execution.unordered = adds_atomically(launches, node);
        }
        node->body = over_units(partials, &node->body, launch_units_inside(around, body->items[i]), own);
        loop_append(launches->arena, &result, outer);
    }
    return result;
}

LoopBody launch_with_partials(const Launches *launches, const LoopBody *body, LoopBody *to) {
    Partials partials = {
        .launches = launches, .inside = launch_defined(launches, body), .units = launch_units_of(body)};
    find_loops(&partials, body, (Units){0});
    count_units(&partials, to);
    return over_units(&partials, body, (Units){0}, launch_number(launches, 0));
}
