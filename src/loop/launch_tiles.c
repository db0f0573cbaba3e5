// SPDX-License-Identifier: BSD-3-Clause
// Launches whose blocks have tiles of elements: a first loop over the threads reads them along rows of the
// operands, and stores them in memory of the block, where a second one, along rows of the result, finds them.
#include "loop/launches.h"

// Tiles are LONG along the result, and SIDE across it. Rows in memory of the block are longer by one element,
// so that a column of them is in different banks.
enum {
    SIDE = 32,
    LONG = 2 * SIDE,
    PITCH = SIDE + 1,
    ROWS = GPU_THREADS / SIDE,
    MOST_TILES = 4,
    MOST_BYTES = 48 << 10
};

// Loads that the elements of a leaf make across the result, and the array of the block that has them.
typedef struct {
    const Value *load;
    int array;
} Tile;

typedef struct {
    const Launches *launches;
    const LoopNode *across, *along; // the loop that loads are along, and the one that results are along
    Tile tiles[MOST_TILES];
    int count;
    const IntExpr *position; // in a tile, of the element of both loops
} Tiles;

static bool is_read_only(const LoopBody *nodes, int array) {
    for (int64_t i = 0; i < nodes->count; i++)
        if (nodes->items[i]->array == array)
            return false;
    return true;
}

static bool is_along(const Tiles *tiles, const Value *load, const LoopBody *nodes) {
    if (load->kind != VALUE_LOAD || !load->index || !is_read_only(nodes, load->array))
        return false;
    const IntExpr *at = launch_expanded(tiles->launches, load->index);
    return launch_moves_by_one(at, tiles->across->var) && !launch_moves_by_one(at, tiles->along->var);
}

// Every load of a leaf along the loop `across`; false where what the leaf does may not be done for all of a
// tile.
static bool find_loads(Tiles *tiles, const LoopBody *nodes) {
    int bytes = 0;
    for (int64_t i = 0; i < nodes->count; i++) {
        const LoopKind kind = nodes->items[i]->kind;
        if (kind != LOOP_LET && kind != LOOP_STORE && kind != LOOP_ACCUMULATE)
            return false;
        const ValueList values = loop_values(tiles->launches->arena, nodes->items[i]);
        for (int64_t v = 0; v < values.count; v++) {
            const Value *value = values.items[v];
            bool found = !is_along(tiles, value, nodes);
            for (int t = 0; t < tiles->count && !found; t++)
                found = value_equal(tiles->tiles[t].load, value);
            if (value->kind == VALUE_SELECT)
                return false;
            const int more = found ? 0 : LONG * PITCH * (int)type_info((ElementType)value->type)->size;
            if (found || tiles->count == MOST_TILES || bytes + more > MOST_BYTES)
                continue;
            bytes += more;
            tiles->tiles[tiles->count++].load = value;
        }
    }
    return true;
}

static const Value *from_tile(void *context, const Value *value) {
    const Tiles *tiles = context;
    for (int t = 0; t < tiles->count; t++)
        if (value_equal(tiles->tiles[t].load, value))
            return value_element(tiles->launches->arena, VALUE_LOAD, value->type, tiles->tiles[t].array,
                                 tiles->position);
    return value;
}

static void use_tiles(void *context, const LoopNode *node, LoopBody *to) {
    const Tiles *tiles = context;
    Arena *arena = tiles->launches->arena;
    loop_append(arena, to, loop_map_values(arena, node, from_tile, context));
}

// Iterations of a loop.
typedef struct {
    const IntExpr *begin, *end;
} Range;

// A loop over sides of tiles, `length` iterations of `loop` each, and what of it is in one.
static LoopNode *over_sides(const Launches *launches, const LoopNode *loop, int dim, int length, Range *range,
                            LoopNode *launch) {
    const IntExpr *side = launch_number(launches, length);
    const IntExpr *count = launch_op(launches, INT_CEIL_DIV, launch_extent(launches, loop), side);
    LoopNode *sides = launch_loop(launches, "tile", launch_number(launches, 0), count, GPU_BLOCK, dim);
    launch->blocks[dim] = count;
    const IntExpr *begin = launch_op(launches, INT_ADD, loop->lower,
                                     launch_op(launches, INT_MUL, launch_var(launches, sides), side));
    range->begin = launch_let(launches, &sides->body, "begin", begin);
    range->end = loop->upper;
    return sides;
}

// Loops over the elements of a tile: neighbouring threads have those of a row, and each thread has those of
// it that are SIDE apart, and of a column that are ROWS apart, none of which waits for another one.
typedef struct {
    LoopNode *y, *x, *columns, *rows;
    const IntExpr *row, *column; // in the tile
} TileLoops;

static LoopNode *unrolled(const Launches *launches, const char *name, int count) {
    LoopNode *loop =
        launch_loop(launches, name, launch_number(launches, 0), launch_number(launches, count), GPU_NONE, 0);
    loop->execution.unroll = count;
    return loop;
}

static const IntExpr *strided(const Launches *launches, const LoopNode *thread, const LoopNode *each,
                              int stride) {
    return launch_op(
        launches, INT_ADD, launch_var(launches, thread),
        launch_op(launches, INT_MUL, launch_var(launches, each), launch_number(launches, stride)));
}

static TileLoops tile_loops(const Launches *launches, int rows, int columns) {
    const IntExpr *zero = launch_number(launches, 0);
    TileLoops loops = {
        .y = launch_loop(launches, "thread_y", zero, launch_number(launches, ROWS), GPU_THREAD, 1),
        .x = launch_loop(launches, "thread_x", zero, launch_number(launches, SIDE), GPU_THREAD, 0),
        .rows = unrolled(launches, "down", rows / ROWS)};
    loops.y->execution.barrier = true;
    loops.row = strided(launches, loops.y, loops.rows, ROWS);
    loops.column = launch_var(launches, loops.x);
    if (columns > SIDE) {
        loops.columns = unrolled(launches, "right", columns / SIDE);
        loops.column = strided(launches, loops.x, loops.columns, SIDE);
    }
    return loops;
}

// Where `offset` is inside of `range`: a definition of a variable, and then `inside`.
static LoopBody where_inside(const Launches *launches, int var, const Range *range, const IntExpr *offset,
                             const LoopBody *inside) {
    Arena *arena = launches->arena;
    const IntExpr *at = launch_op(launches, INT_ADD, range->begin, offset);
    LoopNode *guard = loop_node(arena, LOOP_IF);
    guard->value = value_less(arena, int_var(arena, var), range->end);
    guard->body = *inside;
    LoopBody result = {0};
    loop_append(arena, &result, loop_let(arena, var, value_index(arena, at)));
    loop_append(arena, &result, guard);
    return result;
}

// These loops with what they do for each element, in variables for its row and column.
static const LoopNode *for_elements(const Launches *launches, const TileLoops *loops, int row,
                                    const Range *rows, int column, const Range *columns,
                                    const LoopBody *inside) {
    LoopBody body = {0};
    loops->rows->body = where_inside(launches, row, rows, loops->row, inside);
    loop_append(launches->arena, &body, loops->rows);
    body = where_inside(launches, column, columns, loops->column, &body);
    if (loops->columns) {
        loops->columns->body = body;
        loop_append(launches->arena, &loops->x->body, loops->columns);
    } else {
        loops->x->body = body;
    }
    loop_append(launches->arena, &loops->y->body, loops->x);
    return loops->y;
}

// Position of an element in memory of the block.
static const IntExpr *in_tile(const Launches *launches, const IntExpr *row, const IntExpr *column) {
    return launch_op(launches, INT_ADD, launch_op(launches, INT_MUL, row, launch_number(launches, PITCH)),
                     column);
}

static void append_tiles(Tiles *tiles, const Chain *elements, const LoopBody *body, LoopBody *to) {
    const Launches *launches = tiles->launches;
    Arena *arena = launches->arena;
    LoopNode *launch = launch_create(launches, NULL, SIDE);
    launch->threads[1] = launch_number(launches, ROWS);
    for (int t = 0; t < tiles->count; t++) {
        LoopNode *workspace = loop_node(arena, LOOP_WORKSPACE);
        workspace->stored = true;
        workspace->array = tiles->tiles[t].array =
            loop_add_array(launches->kernel, (LoopArray){.name = "tile",
                                                         .type = (ElementType)tiles->tiles[t].load->type,
                                                         .written = true,
                                                         .extent = launch_number(launches, LONG * PITCH),
                                                         .local = true,
                                                         .shared = true});
        loop_append(arena, &launch->body, workspace);
    }
    // All other loops.
    Chain rest = {0};
    for (int i = 0; i < elements->count; i++)
        if (elements->loops[i] != tiles->across && elements->loops[i] != tiles->along)
            rest.loops[rest.count++] = elements->loops[i];
    Place places[CHAIN_LOOPS] = {0};
    LoopNode *row = NULL;
    if (rest.count > 0) {
        launch->blocks[2] = launch_let(launches, to, "rows", launch_extents(launches, &rest, rest.count));
        row = launch_loop(launches, "row", launch_number(launches, 0), launch->blocks[2], GPU_BLOCK, 2);
        launch_coordinates(launches, &rest, rest.count, launch_var(launches, row), places);
        for (int i = 0; i < rest.count; i++)
            loop_append(arena, &row->body,
                        loop_let(arena, rest.loops[i]->var, value_index(arena, places[i].value)));
    }
    Range across, along;
    LoopNode *down = over_sides(launches, tiles->across, 1, SIDE, &across, launch);
    LoopNode *right = over_sides(launches, tiles->along, 0, LONG, &along, launch);

    const TileLoops from = tile_loops(launches, LONG, SIDE), into = tile_loops(launches, SIDE, LONG);
    const int row_var = loop_add_index(launches->kernel, "row", -1);
    const int column_var = loop_add_index(launches->kernel, "column", -1);
    const int64_t var_count = launches->kernel->vars.count;
    const IntExpr **values = arena_array(arena, const IntExpr *, var_count);
    values[tiles->along->var] = int_var(arena, row_var);
    values[tiles->across->var] = int_var(arena, column_var);
    LoopBody loads = {0};
    for (int t = 0; t < tiles->count; t++) {
        const Value *load = tiles->tiles[t].load;
        const IntExpr *at = loop_substitute(arena, launch_expanded(launches, load->index), values, var_count);
        loop_append(arena, &loads,
                    loop_update(arena, LOOP_STORE, tiles->tiles[t].array,
                                in_tile(launches, from.row, from.column),
                                value_element(arena, VALUE_LOAD, load->type, load->array, at)));
    }
    loop_append(arena, &right->body,
                for_elements(launches, &from, row_var, &along, column_var, &across, &loads));

    tiles->position = in_tile(launches, into.column, into.row);
    const LoopBody inside = loop_rewrite(arena, elements->inside, use_tiles, tiles);
    const LoopBody element = launch_body(launches, elements, body, (Place[CHAIN_LOOPS]){{0}}, &inside);
    loop_append(
        arena, &right->body,
        for_elements(launches, &into, tiles->across->var, &across, tiles->along->var, &along, &element));
    loop_append(arena, &down->body, right);
    loop_append(arena, row ? &row->body : &launch->body, down);
    if (row)
        loop_append(arena, &launch->body, row);
    loop_append(arena, to, launch);
}

bool launch_tiles(const Launches *launches, const Chain *elements, const LoopBody *body, LoopBody *to) {
    Tiles best = {0};
    LoopBody nodes = {0};
    for (int64_t i = 0; i < elements->inside->count; i++)
        loop_append_all(launches->arena, &nodes, loop_nodes(launches->arena, elements->inside->items[i]));
    for (int i = 0; i + 1 < elements->count && !elements->guarded; i++) {
        Tiles tiles = {.launches = launches,
                       .across = elements->loops[i],
                       .along = elements->loops[elements->count - 1]};
        if (find_loads(&tiles, &nodes) && tiles.count > best.count)
            best = tiles;
    }
    if (best.count > 0)
        append_tiles(&best, elements, body, to);
    return best.count > 0;
}
