// SPDX-License-Identifier: BSD-3-Clause
// Dense loops inside of loops over stored coordinates, as over the columns in the product of a sparse matrix
// with a dense one: a block of their iterations is moved outside of the loops over coordinates, and the
// elements that these update over and over are summed in a local array that compilers keep in registers
// (strip mining, interchange and scalar replacement: Callahan, Carr, Kennedy 1990). Rows that are filled and
// read inside become local, too.
// Where rows at the coordinates themselves are updated, blocks are moved outside as well: the loops over
// coordinates are often too short to have loops over blocks in each iteration. Loops inside that add to one
// row have a local array, unless they have a single entry.
#include "loop/nest_sparse.h"
#include "loop/passes.h"

// A block is as long as local arrays with its elements stay in registers: 512 bytes are all of AVX2, a
// quarter of AVX-512. A block longer than four cache lines hardly saves more loads of coordinates.
// The remainder is done in blocks of a cache line, a vector of AVX-512, and then in one block with a
// condition for each element, which becomes the mask of a vector.
enum { REGISTER_BYTES = 512, BLOCK_BYTES = 256, SHORT_BYTES = 64 };

// One block: its dense loops have `count` iterations, from `start` on. Where that is NULL, they have those
// from `start` to the upper bound, in arrays with room for `length`.
typedef struct {
    const LoopSparseNest *nest;
    const IntExpr *start, *count;
    int64_t length;
    bool masked;
    int *arrays;       // by array: the local one that takes its place, or itself
    const IntExpr *at; // the place of the current iteration in local arrays
} Block;

static const Value *in_block(void *context, const Value *value) {
    const Block *block = context;
    Arena *arena = block->nest->kernel->arena;
    // A block has iterations, so there are some of the dense loops.
    if (value->kind == VALUE_SELECT &&
        value_equal(value->operands[0], value_less(arena, int_const(arena, 0), block->nest->upper)))
        return value->operands[1];
    if (value->array < 0 || block->arrays[value->array] == value->array)
        return value;
    return value_element(arena, value->kind, value->type, block->arrays[value->array], block->at);
}

static int add_local(const Block *block, int array) {
    LoopKernel *kernel = block->nest->kernel;
    const LoopArray *from = &kernel->arrays.items[array];
    return loop_add_array(kernel, (LoopArray){.name = arena_printf(kernel->arena, "%s_block", from->name),
                                              .type = from->type,
                                              .written = true,
                                              .local = true,
                                              .extent = int_const(kernel->arena, block->length)});
}

// The loop with the iterations of the block, and in it the variable of the loop that it takes the place of.
static LoopNode *block_loop(Block *block, const LoopNode *loop, LoopBody *body) {
    LoopKernel *kernel = block->nest->kernel;
    Arena *arena = kernel->arena;
    LoopNode *copy = loop_with_body(arena, loop, (LoopBody){0});
    *body = (LoopBody){0};
    copy->execution.sum_count = 0;
    if (!block->count) {
        copy->lower = block->start;
        block->at = int_op(arena, INT_SUB, int_var(arena, loop->var), block->start);
        return copy;
    }
    copy->var = loop_add_index(kernel, "in", loop->var);
    copy->upper = block->count;
    block->at = int_var(arena, copy->var);
    loop_append(
        arena, body,
        loop_let(arena, loop->var, value_index(arena, int_op(arena, INT_ADD, block->start, block->at))));
    return copy;
}

static const LoopNode *dense_block(const Block *whole, const LoopNode *loop) {
    Block block = *whole;
    Arena *arena = block.nest->kernel->arena;
    const int result = block.nest->result->array;
    LoopBody body;
    // What is not local has no room for the elements that a mask leaves out.
    if (loop == block.nest->result_loop && block.masked && block.arrays[result] == result) {
        block.masked = false;
        block.count = NULL;
    }
    LoopNode *copy = block_loop(&block, loop, &body);
    for (int64_t i = 0; i < loop->body.count; i++) {
        LoopNode *node =
            arena_copy(arena, loop_map_values(arena, loop->body.items[i], in_block, &block), sizeof *node);
        if (loop_is_update(node) && block.arrays[node->array] != node->array) {
            node->array = block.arrays[node->array];
            node->position = block.at;
        }
        if (loop_is_update(node) && block.masked)
            node->value = value_select(arena, value_less(arena, int_var(arena, loop->var), loop->upper),
                                       node->value, value_zero(arena, node->value->type));
        loop_append(arena, &body, node);
    }
    copy->body = body;
    return copy;
}

static void append_sums(Block *block, LoopBody *to);

static LoopBody block_nodes(Block *block, const LoopBody *from, int64_t first) {
    const LoopSparseNest *nest = block->nest;
    Arena *arena = nest->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = first; i < from->count; i++) {
        const LoopNode *node = from->items[i];
        if (node->kind == LOOP_FOR && loop_is_dense(nest, node)) {
            loop_append(arena, &result, dense_block(block, node));
            continue;
        }
        LoopBody body = {0};
        if (node == nest->sums) {
            for (int64_t k = 0; k < nest->sums_first; k++)
                loop_append(arena, &body, node->body.items[k]);
            append_sums(block, &body);
        } else {
            body = block_nodes(block, &node->body, 0);
        }
        LoopNode *copy = loop_with_body(arena, loop_map_values(arena, node, in_block, block), body);
        if (node->kind == LOOP_WORKSPACE && nest->rows[node->array])
            copy->array = block->arrays[node->array];
        loop_append(arena, &result, copy);
    }
    return result;
}

// Appends sums in a local array, the nodes that add to them, and the update of the result.
static void append_local_sums(const Block *outer, LoopBody *to) {
    const LoopSparseNest *nest = outer->nest;
    LoopKernel *kernel = nest->kernel;
    Arena *arena = kernel->arena;
    Block block = *outer;
    block.arrays = arena_copy(arena, outer->arrays, sizeof(int) * (size_t)nest->array_count);
    block.arrays[nest->result->array] = add_local(&block, nest->result->array);
    LoopNode *sums = loop_node(arena, LOOP_WORKSPACE);
    sums->array = block.arrays[nest->result->array];
    loop_append(arena, to, sums);
    loop_append_all(arena, to, block_nodes(&block, &nest->sums->body, nest->sums_first));
    LoopBody body;
    if (block.masked)
        block.count = NULL;
    LoopNode *loop = block_loop(&block, nest->result_loop, &body);
    LoopNode *update = arena_copy(arena, nest->result, sizeof *update);
    update->kind = nest->zeros ? LOOP_STORE : LOOP_ACCUMULATE;
    update->value =
        value_element(arena, VALUE_LOAD, (int)kernel->arrays.items[sums->array].type, sums->array, block.at);
    loop_append(arena, &body, update);
    loop->body = body;
    loop_append(arena, to, loop);
}

// The loop over coordinates whose iterations add to one row, where that is all that its body does; else NULL.
static const LoopNode *only_loop(const LoopSparseNest *nest) {
    const LoopBody *body = &nest->sums->body;
    const LoopNode *loop = body->items[nest->sums_first];
    return loop->kind == LOOP_FOR && loop->step == 1 && nest->sums_first + 1 == body->count ? loop : NULL;
}

// Appends what adds to one row, inside of a block: a single entry adds to it without a local array.
static void append_sums(Block *block, LoopBody *to) {
    Arena *arena = block->nest->kernel->arena;
    const LoopNode *loop = only_loop(block->nest);
    if (!loop) {
        append_local_sums(block, to);
        return;
    }
    const IntExpr *second = int_op(arena, INT_ADD, loop->lower, int_const(arena, 1));
    LoopNode *single = loop_node(arena, LOOP_IF), *several = loop_node(arena, LOOP_IF);
    single->value = value_op(arena, VALUE_EQUAL, VALUE_TYPE_CONDITION, value_index(arena, second),
                             value_index(arena, loop->upper));
    LoopNode *entry = loop_with_body(arena, loop, block_nodes(block, &loop->body, 0));
    entry->upper = second;
    loop_append(arena, &single->body, entry);
    loop_append(arena, to, single);
    several->value = value_less(arena, second, loop->upper);
    append_local_sums(block, &several->body);
    loop_append(arena, to, several);
}

static void append_block(Block *block, LoopBody *to) {
    const LoopSparseNest *nest = block->nest;
    Arena *arena = nest->kernel->arena;
    block->arrays = arena_array(arena, int, nest->array_count);
    for (int a = 0; a < (int)nest->array_count; a++)
        block->arrays[a] = nest->rows[a] ? add_local(block, a) : a;
    if (nest->sums == nest->body)
        append_local_sums(block, to);
    else
        loop_append_all(arena, to, block_nodes(block, &nest->body->body, nest->first));
}

// Appends a loop over blocks of `length` iterations from `begin` on, and gives its end.
static const IntExpr *append_blocks(const LoopSparseNest *nest, const IntExpr *begin, int64_t length,
                                    LoopBody *to) {
    LoopKernel *kernel = nest->kernel;
    Arena *arena = kernel->arena;
    const IntExpr *count = int_const(arena, length);
    const IntExpr *whole =
        int_op(arena, INT_FLOOR_DIV, int_op(arena, INT_MAX, int_const(arena, 0), nest->upper), count);
    const int stem = nest->result_loop->var;
    const IntExpr *end = loop_append_let(kernel, to, "blocks_end", stem,
                                         value_index(arena, int_op(arena, INT_MUL, whole, count)));
    LoopNode *blocks = loop_node(arena, LOOP_FOR);
    blocks->var = loop_add_index(kernel, "block", stem);
    blocks->lower = begin;
    blocks->upper = end;
    blocks->step = length;
    Block block = {.nest = nest, .start = int_var(arena, blocks->var), .count = count, .length = length};
    append_block(&block, &blocks->body);
    loop_append(arena, to, blocks);
    return end;
}

// The nodes from `first` on, in blocks.
static void append_nest(const LoopSparseNest *nest, LoopBody *to) {
    LoopKernel *kernel = nest->kernel;
    Arena *arena = kernel->arena;
    const int64_t bytes = (int64_t)type_info(kernel->arrays.items[nest->result->array].type)->size;
    const int64_t room = REGISTER_BYTES / (1 + nest->row_count) & -SHORT_BYTES;
    const int64_t length = (room < SHORT_BYTES   ? SHORT_BYTES
                            : room < BLOCK_BYTES ? room
                                                 : BLOCK_BYTES) /
                           bytes;
    LoopBody *blocks = to;
    if (nest->sums == nest->body)
        nest->results[nest->result->array] = true;
    const LoopNode *only = nest->body->body.items[nest->first];
    // Nothing is added where there is nothing to iterate over.
    if (!nest->zeros && only->kind == LOOP_FOR && nest->first + 1 == nest->body->body.count) {
        LoopNode *any = loop_node(arena, LOOP_IF);
        any->value = value_less(arena, only->lower, only->upper);
        loop_append(arena, to, any);
        blocks = &any->body;
    }
    const IntExpr *end = append_blocks(nest, int_const(arena, 0), length, blocks);
    const int64_t rest = SHORT_BYTES / bytes;
    if (rest < length && rest > 1)
        end = append_blocks(nest, end, rest, blocks);
    LoopNode *left = loop_node(arena, LOOP_IF);
    left->value = value_less(arena, end, nest->upper);
    Block block = {.nest = nest, .start = end, .length = rest > 1 ? rest : length, .masked = nest->masks};
    if (nest->masks)
        block.count = int_const(arena, block.length);
    append_block(&block, &left->body);
    loop_append(arena, blocks, left);
}

static LoopBody in_registers(LoopSparseNest *nest, const LoopBody *body) {
    Arena *arena = nest->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        LoopBody inside = {0};
        if (loop_find_nest_sparse(nest, node)) {
            for (int64_t k = 0; k < nest->first; k++)
                if (node->body.items[k] != nest->zeros)
                    loop_append(arena, &inside, node->body.items[k]);
            append_nest(nest, &inside);
        } else {
            inside = in_registers(nest, &node->body);
        }
        loop_append(arena, &result, loop_with_body(arena, node, inside));
    }
    return result;
}

static void block_leaf(void *context, const LoopNode *node, LoopBody *to) {
    LoopSparseNest *nest = context;
    if (node->kind == LOOP_LEAF) {
        LoopBody leaf = {0};
        loop_append(nest->kernel->arena, &leaf, node);
        nest->results = arena_array(nest->kernel->arena, bool, nest->array_count);
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): one node becomes one
        node = in_registers(nest, &leaf).items[0];
        node = loop_where_present(nest->kernel, node, nest->results, nest->array_count);
    }
    loop_append(nest->kernel->arena, to, node);
}

const LoopKernel *loop_pass_registers(const LoopKernel *before) {
    LoopSparseNest nest = loop_nest_sparse(loop_kernel_copy(before));
    nest.kernel->body = loop_rewrite(before->arena, &before->body, block_leaf, &nest);
    return nest.kernel;
}
