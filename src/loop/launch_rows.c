// SPDX-License-Identifier: BSD-3-Clause
// Launches of leaves with rows, workspaces that are filled and read in each iteration of loops around them.
// Blocks take iterations of these loops, and each has a row of its own: in memory of the block where the row
// is short, else in memory of the GPU. The threads of a block share what fills the row, wait for each other,
// and share what reads it. Where there is no such loop, the row is in memory of the GPU, and one launch after
// the other fills and reads it.
#include "loop/launches.h"

// Bytes of a row, and of all rows, that are in memory of a block.
enum { ROW_BYTES = 8 << 10, ALL_ROW_BYTES = 24 << 10 };

// What the blocks of a launch do.
typedef struct {
    const Launches *launches;
    LoopBody *before;      // what is before the launch
    LoopBody shared;       // workspaces in memory of the block
    int64_t shared_bytes;  // of rows among them
    int parts[TYPE_COUNT]; // arrays for sums, by type; -1: there is none
    const IntExpr *block;  // the number of the block
    const IntExpr *most;   // how many blocks have memory for their rows; NULL: any number
    const LoopNode *launch;
    int dims; // of the threads of a block
} Blocks;

bool launch_has_workspaces(const LoopBody *nodes) {
    for (int64_t i = 0; i < nodes->count; i++)
        if (nodes->items[i]->kind == LOOP_WORKSPACE)
            return true;
    return false;
}

bool launch_has_rows(const Launches *launches, const LoopBody *nodes) {
    for (int64_t i = 0; i < nodes->count; i++)
        if (nodes->items[i]->kind == LOOP_WORKSPACE &&
            !launches->kernel->arrays.items[nodes->items[i]->array].scalar)
            return true;
    return false;
}

static bool is_in(const Chain *chain, int var) {
    for (int i = 0; i < chain->count; i++)
        if (chain->loops[i]->var == var)
            return true;
    return false;
}

bool launch_fills_rows(const Launches *launches, const Chain *elements, const LoopBody *nodes) {
    const int along = launch_contiguous(launches, nodes, elements->loops[elements->count - 1]->var);
    bool fills = launch_has_rows(launches, nodes);
    for (int64_t i = 0; i < nodes->count && !fills && launch_has_workspaces(nodes); i++)
        fills = nodes->items[i]->kind == LOOP_FOR && !is_in(elements, nodes->items[i]->var) &&
                launch_contiguous(launches, nodes, nodes->items[i]->var) > along;
    return fills;
}

// Elements of one array move by `by`; those of a scalar get a position.
typedef struct {
    const Launches *launches;
    int array;
    const IntExpr *by;
} Move;

static const IntExpr *moved(const Move *move, const IntExpr *position) {
    return position ? launch_op(move->launches, INT_ADD, move->by, position) : move->by;
}

static const Value *move_value(void *context, const Value *value) {
    const Move *move = context;
    if ((value->kind != VALUE_LOAD && value->kind != VALUE_ADDRESS) || value->array != move->array)
        return value;
    Value *copy = arena_copy(move->launches->arena, value, sizeof *value);
    copy->index = moved(move, value->index);
    return copy;
}

static void move_node(void *context, const LoopNode *node, LoopBody *to) {
    const Move *move = context;
    LoopNode *copy =
        arena_copy(move->launches->arena, loop_map_values(move->launches->arena, node, move_value, context),
                   sizeof *node);
    if ((node->kind == LOOP_STORE || node->kind == LOOP_ACCUMULATE) && node->array == move->array)
        copy->position = moved(move, node->position);
    loop_append(move->launches->arena, to, copy);
}

// Sets all elements of a row to zero.
static const LoopNode *clear(const Launches *launches, int array) {
    const LoopArray *row = &launches->kernel->arrays.items[array];
    LoopNode *loop = launch_loop(launches, "at", launch_number(launches, 0), row->extent, GPU_NONE, 0);
    loop->execution.distinct = true;
    loop_append(launches->arena, &loop->body,
                loop_update(launches->arena, LOOP_STORE, array, launch_var(launches, loop),
                            value_zero(launches->arena, (int)row->type)));
    return loop;
}

// What follows the workspace, which is node `at` of the body, where its elements are `by` further on.
static LoopBody after_row(const Launches *launches, const LoopBody *body, int64_t at, const IntExpr *by) {
    const LoopNode *workspace = body->items[at];
    LoopBody rest = {0};
    if (!workspace->stored)
        loop_append(launches->arena, &rest, clear(launches, workspace->array));
    for (int64_t i = at + 1; i < body->count; i++)
        loop_append(launches->arena, &rest, body->items[i]);
    Move move = {launches, workspace->array, by};
    return loop_rewrite(launches->arena, &rest, move_node, &move);
}

static void append_workspace(const Launches *launches, int array, LoopBody *to) {
    LoopNode *workspace = loop_node(launches->arena, LOOP_WORKSPACE);
    workspace->array = array;
    workspace->stored = true; // it is cleared by threads
    loop_append(launches->arena, to, workspace);
}

// Makes a row with elements of a scalar.
static LoopArray *row_of(const Launches *launches, int array) {
    LoopArray *row = &launches->kernel->arrays.items[array];
    if (row->scalar)
        row->extent = launch_number(launches, 1);
    row->scalar = false;
    return row;
}

LoopBody launch_row_between(const Launches *launches, const LoopBody *body, int64_t at, LoopBody *to) {
    const int array = body->items[at]->array;
    row_of(launches, array);
    append_workspace(launches, array, to);
    return after_row(launches, body, at, launch_number(launches, 0));
}

// The row of this block, for what follows in the body.
static LoopBody open_row(Blocks *blocks, const LoopBody *body, int64_t at) {
    const Launches *launches = blocks->launches;
    const int array = body->items[at]->array;
    LoopArray *row = row_of(launches, array);
    const int64_t left = ALL_ROW_BYTES - blocks->shared_bytes;
    const int64_t most = (left < ROW_BYTES ? left : ROW_BYTES) / (int64_t)type_info(row->type)->size;
    if (row->extent->op == INT_CONST && row->extent->value <= most) {
        if (row->extent->value == 0)
            row->extent = launch_number(launches, 1); // C has no arrays without elements
        row->local = row->shared = true;
        blocks->shared_bytes += row->extent->value * (int64_t)type_info(row->type)->size;
        append_workspace(launches, array, &blocks->shared);
        return after_row(launches, body, at, launch_number(launches, 0));
    }
    append_workspace(launches, array, blocks->before);
    const IntExpr *extent = launch_let(launches, blocks->before, "row", row->extent);
    const IntExpr *rows =
        loop_append_let(launches->kernel, blocks->before, "row_count", -1,
                        value_element(launches->arena, VALUE_UNITS, VALUE_TYPE_INDEX, array, NULL));
    blocks->most = blocks->most ? launch_op(launches, INT_MIN, blocks->most, rows) : rows;
    return after_row(launches, body, at, launch_op(launches, INT_MUL, blocks->block, extent));
}

// A loop over threads along the first `used` dimensions, after which threads of the block wait for each
// other. Those that are not the first along other dimensions do nothing.
static void append_threads(const Blocks *blocks, const LoopNode *loop, int used, LoopBody *to) {
    const Launches *launches = blocks->launches;
    for (int d = used; d < blocks->dims; d++) {
        LoopNode *first = launch_loop(launches, "first", launch_number(launches, 0),
                                      launch_number(launches, 1), GPU_THREAD, d);
        loop_append(launches->arena, &first->body, loop);
        loop = first;
    }
    LoopNode *copy = arena_copy(launches->arena, loop, sizeof *loop);
    copy->execution.barrier = true;
    loop_append(launches->arena, to, copy);
}

static LoopBody block_body(Blocks *blocks, LoopBody body);

// A sum that all threads share.
static void append_sum(Blocks *blocks, const Chain *sums, const LoopNode *update, const LoopBody *body,
                       LoopBody *to) {
    const Launches *launches = blocks->launches;
    const ElementType type = (ElementType)update->value->type;
    LoopBody steps = {0};
    if (blocks->parts[type] < 0)
        blocks->parts[type] = launch_parts(launches, type, &blocks->shared);
    launch_block_sum(launches, sums, update, blocks->parts[type], blocks->launch->threads[0], body, &steps);
    for (int64_t i = 0; i < steps.count; i++)
        append_threads(blocks, steps.items[i], 2, to);
}

// A loop over threads along x that those along other dimensions share as well.
static LoopNode *in_all_dims(const Blocks *blocks, LoopNode *loop) {
    const Launches *launches = blocks->launches;
    static const char *const names[GPU_DIMS] = {"thread_x", "thread_y", "thread_z"};
    const IntExpr *first = launch_number(launches, 0), *count = launch_number(launches, 1);
    LoopNode *threads[GPU_DIMS];
    if (blocks->dims == 1)
        return loop;
    for (int d = blocks->dims - 1; d >= 0; d--) {
        const IntExpr *extent = blocks->launch->threads[d];
        threads[d] = launch_loop(launches, names[d], launch_number(launches, 0), extent, GPU_THREAD, d);
        first = launch_op(launches, INT_ADD, launch_op(launches, INT_MUL, first, extent),
                          launch_var(launches, threads[d]));
        count = launch_op(launches, INT_MUL, count, extent);
    }
    loop->execution = (LoopExecution){.distinct = true};
    loop->lower = first;
    loop->stride = count;
    for (int d = 0; d < blocks->dims; d++) {
        loop_append(launches->arena, &threads[d]->body, loop);
        loop = threads[d];
    }
    return loop;
}

// Loops that threads share as no command says: neighbouring threads have neighbouring iterations of those
// that write distinct elements, or there is a sum of one element; else the outermost one follows, as that has
// others inside.
static void append_shared(Blocks *blocks, const LoopNode *node, LoopBody *to) {
    const Launches *launches = blocks->launches;
    LoopBody body = {0};
    loop_append(launches->arena, &body, node);
    const Chain elements = launch_chain(launches, &body, true);
    const Chain sums = launch_chain(launches, elements.inside, false);
    const LoopNode *update = launch_update(launches, &sums);
    if (elements.count == 0 && update) {
        append_sum(blocks, &sums, update, &body, to);
        return;
    }
    if (elements.count == 0 && node->kind == LOOP_FOR) {
        loop_append(launches->arena, to,
                    loop_with_body(launches->arena, node, block_body(blocks, node->body)));
        return;
    }
    // Without loops, one thread does it.
    LoopNode *element = launch_loop(launches, "element", launch_number(launches, 0),
                                    launch_extents(launches, &elements, elements.count), GPU_THREAD, 0);
    Place places[CHAIN_LOOPS] = {0};
    launch_coordinates(launches, &elements, elements.count, launch_var(launches, element), places);
    const LoopBody inside = elements.count && update
                                ? launch_summed(launches, elements.inside, sums.loops[0], update)
                                : *elements.inside;
    element->body = launch_body(launches, &elements, &body, places, &inside);
    append_threads(blocks, in_all_dims(blocks, element), blocks->dims, to);
}

// Loops with the dimensions of the units that commands give them.
static LoopNode *with_dim(const Launches *launches, const LoopNode *node, const Units *units, Units around) {
    LoopNode *copy = arena_copy(launches->arena, node, sizeof *node);
    if (node->execution.unit != GPU_NONE)
        copy->execution.dim = launch_dim(units, around, node);
    copy->body = (LoopBody){0};
    for (int64_t i = 0; i < node->body.count; i++)
        loop_append(launches->arena, &copy->body,
                    with_dim(launches, node->body.items[i], units, launch_units_inside(around, node)));
    return copy;
}

static void append_commanded(const Blocks *blocks, const LoopNode *node, LoopBody *to) {
    LoopBody body = {0};
    loop_append(blocks->launches->arena, &body, node);
    body = launch_by_one_thread(blocks->launches, &body);
    const Units units = launch_units_of(&body);
    append_threads(blocks, with_dim(blocks->launches, body.items[0], &units, (Units){0}),
                   launch_thread_dims(&units), to);
}

// What all threads of a block do: loops around rows follow one another, and threads share those inside.
static LoopBody block_body(Blocks *blocks, LoopBody body) {
    const Launches *launches = blocks->launches;
    LoopBody result = {0};
    for (int64_t i = 0; i < body.count; i++) {
        const LoopNode *node = body.items[i];
        const LoopBody nodes = loop_nodes(launches->arena, node);
        if (node->kind == LOOP_WORKSPACE) {
            body = open_row(blocks, &body, i);
            i = -1;
        } else if (node->kind == LOOP_LET) {
            loop_append(launches->arena, &result, node);
        } else if (node->execution.unit != GPU_NONE) {
            append_commanded(blocks, node, &result);
        } else if (node->kind == LOOP_IF || launch_has_units(&nodes) || launch_has_rows(launches, &nodes)) {
            loop_append(launches->arena, &result,
                        loop_with_body(launches->arena, node, block_body(blocks, node->body)));
        } else {
            append_shared(blocks, node, &result);
        }
    }
    return result;
}

static Blocks blocks_of(const Launches *launches, const LoopNode *launch, const IntExpr *block,
                        LoopBody *before) {
    Blocks blocks = {.launches = launches, .launch = launch, .before = before, .block = block, .dims = 1};
    for (int t = 0; t < TYPE_COUNT; t++)
        blocks.parts[t] = -1;
    return blocks;
}

static void append_launch(Blocks *blocks, LoopNode *launch, const LoopBody *body, LoopBody *to) {
    launch->body = blocks->shared;
    loop_append_all(blocks->launches->arena, &launch->body, *body);
    loop_append(blocks->launches->arena, to, launch);
}

void launch_rows(const Launches *launches, const Chain *elements, const LoopBody *body, LoopBody *to) {
    Arena *arena = launches->arena;
    const IntExpr *total =
        launch_let(launches, to, "iterations", launch_extents(launches, elements, elements->count));
    const int count_var = loop_add_index(launches->kernel, "blocks", -1);
    const IntExpr *count = int_var(arena, count_var);
    const IntExpr *zero = launch_number(launches, 0), *number = zero;
    LoopNode *iteration = launch_loop(launches, "iteration", zero, total, GPU_BLOCK, 0);
    const LoopNode *block = launch_over_units(launches, iteration, count, &number);
    LoopNode *launch = launch_create(launches, count, GPU_THREADS);
    Blocks blocks = blocks_of(launches, launch, number, to);
    Place places[CHAIN_LOOPS] = {0};
    launch_coordinates(launches, elements, elements->count, launch_var(launches, iteration), places);
    const LoopBody inside = block_body(&blocks, *elements->inside);
    iteration->body = launch_body(launches, elements, body, places, &inside);
    const IntExpr *most = blocks.most ? blocks.most : launch_number(launches, GPU_BLOCKS);
    loop_append(arena, to,
                loop_let(arena, count_var, value_index(arena, launch_op(launches, INT_MIN, total, most))));
    LoopBody all = {0};
    loop_append(arena, &all, block);
    append_launch(&blocks, launch, &all, to);
}

// The loops of a launch that commands give to blocks, outermost first.
typedef struct {
    int count;
    const LoopNode *loops[GPU_DIMS];
    LoopNode *blocks[GPU_DIMS]; // over the blocks that share the iterations of each
    int counts[GPU_DIMS];       // variables for how many of them there are
    const IntExpr *number;      // of a block, along all dimensions
    LoopNode *innermost;        // what has the body of the last one
} BlockLoops;

// A body with loops over blocks around the iterations of each such loop.
static LoopBody over_blocks(const Launches *launches, const LoopBody *body, BlockLoops *loops) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        LoopNode *node = arena_copy(launches->arena, body->items[i], sizeof *node), *outer = node;
        if (node->execution.unit == GPU_BLOCK) {
            const int at = loops->count++;
            loops->loops[at] = body->items[i];
            loops->counts[at] = loop_add_index(launches->kernel, "blocks", -1);
            loops->blocks[at] = outer = launch_over_units(
                launches, node, int_var(launches->arena, loops->counts[at]), &loops->number);
            loops->innermost = node;
        }
        node->body = over_blocks(launches, &node->body, loops);
        loop_append(launches->arena, &result, outer);
    }
    return result;
}

// How many blocks the launch has along each dimension: no more than have memory for rows, together.
static void count_blocks(const Blocks *blocks, const BlockLoops *loops, const bool *inside,
                         LoopNode *launch) {
    const Launches *launches = blocks->launches;
    const IntExpr *left = blocks->most;
    for (int i = loops->count - 1, dim = 0; i >= 0; i--, dim++) {
        const IntExpr *most = launch_most_iterations(launches, loops->loops[i], inside);
        loops->blocks[i]->execution.dim = dim;
        launch->blocks[dim] =
            launch_count_units(launches, loops->counts[i], most ? most : launch_number(launches, GPU_BLOCKS),
                               &left, blocks->before);
    }
}

void launch_row_units(const Launches *launches, const LoopBody *body, LoopBody *to) {
    const LoopBody safe = launch_units_first(launches, body);
    LoopNode *launch = launch_create(launches, NULL, GPU_THREADS);
    BlockLoops loops = {.number = launch_number(launches, 0), .innermost = launch};
    const LoopBody over = over_blocks(launches, &safe, &loops);
    Blocks blocks = blocks_of(launches, launch, loops.number, to);
    const Units units = launch_units_of(&loops.innermost->body);
    launch_set_threads(launches, &units, launch);
    if (launch_thread_dims(&units) > 0)
        blocks.dims = launch_thread_dims(&units);
    loops.innermost->body = block_body(&blocks, loops.innermost->body);
    count_blocks(&blocks, &loops, launch_defined(launches, &over), launch);
    append_launch(&blocks, launch, &over, to);
}
