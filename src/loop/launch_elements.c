// SPDX-License-Identifier: BSD-3-Clause
// Launches in which each thread computes elements of its own.
#include "loop/launches.h"

// Along x, a thread computes so many elements, whose loads do not wait for each other; where it sums, the
// loads of a sum do not.
enum { ELEMENTS = 8 };

// A loop of a chain whose iterations the grid has.
static const LoopNode *in_grid(const Launches *launches, const LoopNode *loop, int dim, int each) {
    LoopNode *copy = arena_copy(launches->arena, loop, sizeof *copy);
    copy->execution.unit = GPU_GRID;
    copy->execution.unroll = dim == 0 ? each : 0;
    copy->execution.dim = dim;
    return copy;
}

// The loops of sums add to a scalar, and the element is updated once.
static LoopBody summed_in_scalar(const Launches *launches, const LoopBody *body, const LoopNode *first,
                                 const LoopNode *update) {
    Arena *arena = launches->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_IF && i + 1 == body->count)
            node = loop_with_body(arena, node, summed_in_scalar(launches, &node->body, first, update));
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

// The innermost loops are the dimensions of the grid; where there are more than it has, its z are the
// iterations of all others.
void launch_elements(const Launches *launches, const Chain *elements, const Chain *sums,
                     const LoopNode *update, const LoopBody *body, LoopBody *to) {
    Arena *arena = launches->arena;
    Place places[CHAIN_LOOPS] = {0};
    const IntExpr *extents[GPU_DIMS] = {0}, *threads[GPU_DIMS];
    const int each = update ? 1 : ELEMENTS;
    const int dims = elements->count < GPU_DIMS ? elements->count : GPU_DIMS;
    const int linear = elements->count > GPU_DIMS ? elements->count - (GPU_DIMS - 1) : 0;
    for (int d = 0; d < dims; d++) {
        const LoopNode *loop = elements->loops[elements->count - 1 - d];
        const bool several = linear && d + 1 == GPU_DIMS;
        extents[d] =
            launch_let(launches, to,
                       several ? "rows"
                       : d     ? "height"
                               : "width",
                       several ? launch_extents(launches, elements, linear) : launch_extent(launches, loop));
        if (!several)
            places[elements->count - 1 - d].loop = in_grid(launches, loop, d, each);
    }
    launch_shape(launches, extents, each, to, threads);
    LoopNode *launch = launch_create(launches, NULL, 1);
    for (int d = 0; d < dims; d++) {
        launch->threads[d] = threads[d];
        const IntExpr *of_block =
            launch_op(launches, INT_MUL, threads[d], launch_number(launches, d ? 1 : each));
        launch->blocks[d] = launch_op(launches, INT_CEIL_DIV, extents[d], of_block);
    }
    LoopNode *row = NULL;
    if (linear) {
        row = launch_loop(launches, "row", launch_number(launches, 0), extents[GPU_DIMS - 1], GPU_GRID,
                          GPU_DIMS - 1);
        launch_coordinates(launches, elements, linear, launch_var(launches, row), places);
    }
    const LoopBody inside =
        update ? summed_in_scalar(launches, elements->inside, sums->loops[0], update) : *elements->inside;
    const LoopBody nest = launch_body(launches, elements, body, places, &inside);
    if (row) {
        row->body = nest;
        loop_append(arena, &launch->body, row);
    } else {
        launch->body = nest;
    }
    loop_append(arena, to, launch);
}
