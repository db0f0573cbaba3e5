// SPDX-License-Identifier: BSD-3-Clause
// Launches in which each thread computes elements of its own.
#include "loop/launches.h"

// A loop of a chain whose iterations the grid has.
static const LoopNode *in_grid(const Launches *launches, const LoopNode *loop, int dim) {
    LoopNode *copy = arena_copy(launches->arena, loop, sizeof *copy);
    copy->execution.unit = GPU_GRID;
    copy->execution.dim = dim;
    return copy;
}

LoopBody launch_summed(const Launches *launches, const LoopBody *body, const LoopNode *first,
                       const LoopNode *update) {
    Arena *arena = launches->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_IF && i + 1 == body->count)
            node = loop_with_body(arena, node, launch_summed(launches, &node->body, first, update));
        if (node != first) {
            loop_append(arena, &result, node);
            continue;
        }
        const int sum = launch_sum(launches, update, &result);
        LoopBody loop = {0};
        loop_append(arena, &loop, node);
        loop_append_all(arena, &result, launch_redirect(launches, &loop, update->array, sum));
        LoopNode *last = arena_copy(arena, update, sizeof *last);
        last->value = value_element(arena, VALUE_LOAD, update->value->type, sum, NULL);
        loop_append(arena, &result, last);
        launches->summed[update->array] = true;
    }
    return result;
}

// Threads of the warps that `elements` elements need.
static const IntExpr *warps_for(const Launches *launches, const IntExpr *elements) {
    const IntExpr *warps =
        launch_op(launches, INT_CEIL_DIV, elements, launch_number(launches, GPU_LANES * LAUNCH_EACH));
    return launch_op(launches, INT_MUL, warps, launch_number(launches, GPU_LANES));
}

// The innermost loops are the dimensions of the grid; where there are more than it has, its z are the
// iterations of all others.
void launch_elements(const Launches *launches, const Chain *elements, const Chain *sums,
                     const LoopNode *update, const LoopBody *body, LoopBody *to) {
    static const char *const names[GPU_DIMS] = {"width", "height", "depth"};
    Arena *arena = launches->arena;
    Place places[CHAIN_LOOPS] = {0};
    const IntExpr *extents[GPU_DIMS] = {0}, *threads[GPU_DIMS];
    const int last = elements->count - 1,
              outer = elements->count > GPU_DIMS ? elements->count - (GPU_DIMS - 1) : 0;
    for (int d = 0; d < GPU_DIMS && d <= last; d++) {
        const LoopNode *loop = elements->loops[last - d];
        const bool several = outer && d + 1 == GPU_DIMS;
        extents[d] = several ? launch_extents(launches, elements, outer) : launch_extent(launches, loop);
        if (d == 0 && !update)
            extents[d] = launch_op(launches, INT_MIN, extents[d], warps_for(launches, extents[d]));
        extents[d] = launch_let(launches, to, names[d], extents[d]);
        if (!several)
            places[last - d].loop = in_grid(launches, loop, d);
    }
    launch_shape(launches, extents, to, threads);
    LoopNode *launch = launch_create(launches, NULL, 1);
    for (int d = 0; d < GPU_DIMS && d <= last; d++) {
        launch->threads[d] = threads[d];
        launch->blocks[d] = launch_op(launches, INT_CEIL_DIV, extents[d], threads[d]);
    }
    LoopNode *row = NULL;
    if (outer) {
        row = launch_loop(launches, "row", launch_number(launches, 0), extents[GPU_DIMS - 1], GPU_GRID,
                          GPU_DIMS - 1);
        launch_coordinates(launches, elements, outer, launch_var(launches, row), places);
    }
    LoopBody inside = *elements->inside;
    if (update) {
        inside = launch_summed(launches, elements->inside, sums->loops[0], update);
    } else {
        LoopNode *thread =
            launch_loop(launches, "thread", launch_number(launches, 0), extents[0], GPU_GRID, 0);
        const LoopNode *loop = elements->loops[last];
        const IntExpr *first = launch_first(launches, launch_var(launches, thread));
        inside = launch_each(launches, loop->var, launch_op(launches, INT_ADD, loop->lower, first),
                             loop->upper, elements->inside);
        places[last].loop = thread;
    }
    const LoopBody nest = launch_body(launches, elements, body, places, &inside);
    if (row) {
        row->body = nest;
        loop_append(arena, &launch->body, row);
    } else {
        launch->body = nest;
    }
    loop_append(arena, to, launch);
}
