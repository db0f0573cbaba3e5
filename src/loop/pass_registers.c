// SPDX-License-Identifier: BSD-3-Clause
// Dense loops inside of loops over stored coordinates, as over the columns in the product of a sparse matrix
// with a dense one: a block of their iterations is moved outside of the loops over coordinates, and the
// elements that these update over and over are summed in a local array that compilers keep in registers
// (strip mining, interchange and scalar replacement: Callahan, Carr, Kennedy 1990). Rows that are filled and
// read inside become local, too.
#include "loop/passes.h"

// A block is as long as local arrays with its elements stay in registers: 512 bytes are all of AVX2, a
// quarter of AVX-512. A block longer than four cache lines hardly saves more loads of coordinates.
// The remainder is done in blocks of a cache line, a vector of AVX-512, and then in one block with a
// condition for each element, which becomes the mask of a vector.
enum { REGISTER_BYTES = 512, BLOCK_BYTES = 256, SHORT_BYTES = 64 };

// Nodes of a body, the dense loops inside of them, and what these update.
typedef struct {
    LoopKernel *kernel;
    int64_t var_count, array_count; // before there are blocks
    bool *loaded;                   // by variable: it follows from what is loaded
    bool *results;                  // by array: blocks update it once
    const LoopNode *body;           // whose nodes from `first` on they are
    int64_t first;
    int *inside;        // by variable: 1 where it is bound inside
    bool *local, *rows; // by array: it is a workspace inside; one with an element for each iteration
    int row_count;
    const IntExpr *upper;        // of the dense loops; NULL: there is none yet
    const LoopNode *result;      // the update of an array that is not local; NULL: none yet
    const LoopNode *result_loop; // around it
    const LoopNode *zeros;       // a loop before `first` that sets what is updated to zero; NULL: none
    bool masks;                  // elements can be left out under a condition
} Nest;

static bool mentions_loaded(const Nest *nest, const IntExpr *expr) {
    return expr && ((expr->op == INT_VAR && nest->loaded[expr->value]) || mentions_loaded(nest, expr->left) ||
                    mentions_loaded(nest, expr->right));
}

static void find_loaded(Nest *nest, const LoopBody *body) {
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const ValueList values = loop_values(nest->kernel->arena, node);
        for (int64_t v = 0; v < values.count && node->kind == LOOP_LET; v++) {
            const Value *value = values.items[v];
            nest->loaded[node->var] = nest->loaded[node->var] || value->kind == VALUE_LOAD ||
                                      (value->var >= 0 && nest->loaded[value->var]) ||
                                      mentions_loaded(nest, value->index);
        }
        find_loaded(nest, &node->body);
    }
}

static bool is_update(const LoopNode *node) {
    return node->kind == LOOP_STORE || node->kind == LOOP_ACCUMULATE;
}

// A loop over 0 to before an upper bound that is known outside, with nothing but definitions and updates of
// elements.
static bool is_dense(const Nest *nest, const LoopNode *loop) {
    bool updates = false;
    if (loop->lower->op != INT_CONST || loop->lower->value != 0 || loop->step != 1 ||
        loop->execution.thread || loop->execution.unroll || loop_depth_of(loop->upper, nest->inside))
        return false;
    for (int64_t i = 0; i < loop->body.count; i++) {
        const LoopNode *node = loop->body.items[i];
        if (node->kind != LOOP_LET && (!is_update(node) || node->atomic || node->count || !node->position))
            return false;
        updates = updates || node->kind != LOOP_LET;
    }
    return updates;
}

static bool is_var(const IntExpr *expr, int var) {
    return expr && expr->op == INT_VAR && expr->value == var;
}

// Whether a node reads rows at the iteration of its dense loop only, or none where it is in no such loop, and
// nothing else that is written.
static bool reads_own(const Nest *nest, const LoopNode *node, int var) {
    const ValueList values = loop_values(nest->kernel->arena, node);
    for (int64_t v = 0; v < values.count; v++) {
        const Value *value = values.items[v];
        if (value->array < 0 || !nest->kernel->arrays.items[value->array].written)
            continue;
        const bool scalar = nest->kernel->arrays.items[value->array].scalar;
        if (value->kind != VALUE_LOAD ||
            (!scalar && (!nest->rows[value->array] || !is_var(value->index, var))))
            return false;
    }
    return true;
}

static bool add_dense(Nest *nest, const LoopNode *loop) {
    if (nest->upper && !int_equal(nest->upper, loop->upper))
        return false;
    nest->upper = loop->upper;
    for (int64_t i = 0; i < loop->body.count; i++) {
        const LoopNode *node = loop->body.items[i];
        if (!reads_own(nest, node, loop->var))
            return false;
        if (node->kind == LOOP_LET) {
            nest->masks = nest->masks && node->value->kind == VALUE_INDEX;
            continue;
        }
        nest->masks = nest->masks && !value_is_complex(node->value);
        if (nest->rows[node->array]) {
            if (!is_var(node->position, loop->var))
                return false;
            continue;
        }
        // The position depends on nothing inside but the loop.
        nest->inside[loop->var] = 0;
        const bool fixed = loop_depth_of(node->position, nest->inside) == 0;
        nest->inside[loop->var] = 1;
        if (!fixed || nest->result || node->kind != LOOP_ACCUMULATE || !loop->execution.distinct ||
            nest->kernel->arrays.items[node->array].sparse)
            return false;
        nest->result = node;
        nest->result_loop = loop;
    }
    return true;
}

// Whether the nodes do nothing but update local variables and, in dense loops, rows and the result. `over`:
// they are inside of a loop whose bounds are loaded.
static bool add_nodes(Nest *nest, const LoopBody *body, int64_t first, bool over) {
    for (int64_t i = first; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const LoopArray *array = node->array >= 0 ? &nest->kernel->arrays.items[node->array] : NULL;
        if (node->kind == LOOP_FOR && is_dense(nest, node)) {
            if (!add_dense(nest, node) || (nest->result_loop == node && !over))
                return false;
            continue;
        }
        if (!reads_own(nest, node, -1))
            return false;
        switch (node->kind) {
        case LOOP_LET:
        case LOOP_IF:
            break;
        case LOOP_FOR:
        case LOOP_WHILE:
            if (node->execution.thread)
                return false;
            break;
        case LOOP_WORKSPACE:
            nest->local[node->array] = true;
            nest->rows[node->array] = array && !array->scalar;
            nest->row_count += nest->rows[node->array];
            break;
        case LOOP_STORE:
        case LOOP_ACCUMULATE:
            if (!array || !nest->local[node->array] || !array->scalar)
                return false;
            break;
        default:
            return false;
        }
        const bool stored = node->kind == LOOP_WHILE ||
                            (node->kind == LOOP_FOR &&
                             (mentions_loaded(nest, node->lower) || mentions_loaded(nest, node->upper)));
        if (!add_nodes(nest, &node->body, 0, over || stored))
            return false;
    }
    return true;
}

// Rows have an element for each iteration of the dense loops.
static bool rows_fit(const Nest *nest) {
    for (int a = 0; a < (int)nest->array_count; a++)
        if (nest->rows[a] && !int_equal(nest->kernel->arrays.items[a].extent, nest->upper))
            return false;
    return true;
}

static bool sets_zero(Arena *arena, const LoopNode *loop) {
    const LoopNode *node = loop->kind == LOOP_FOR && loop->body.count == 1 ? loop->body.items[0] : NULL;
    return node && node->kind == LOOP_STORE && value_equal(node->value, value_zero(arena, node->value->type));
}

// Whether the loop before the nest, if there is one, sets to zero what the nest updates.
static bool zeros_fit(const Nest *nest) {
    if (!nest->zeros)
        return true;
    Arena *arena = nest->kernel->arena;
    const LoopNode *store = nest->zeros->body.items[0];
    const IntExpr **values = arena_array(arena, const IntExpr *, nest->var_count);
    values[nest->zeros->var] = int_var(arena, nest->result_loop->var);
    return store->array == nest->result->array && int_equal(nest->zeros->upper, nest->upper) &&
           int_equal(loop_substitute(arena, store->position, values, nest->var_count),
                     nest->result->position);
}

static bool find_nest(Nest *nest, const LoopNode *body) {
    Arena *arena = nest->kernel->arena;
    nest->body = body;
    nest->zeros = NULL;
    for (nest->first = 0; nest->first < body->body.count; nest->first++) {
        const LoopNode *node = body->body.items[nest->first];
        if (!nest->zeros && sets_zero(arena, node))
            nest->zeros = node;
        else if (node->kind != LOOP_LET)
            break;
    }
    nest->inside = arena_array(arena, int, nest->var_count);
    nest->local = arena_array(arena, bool, nest->array_count);
    nest->rows = arena_array(arena, bool, nest->array_count);
    nest->row_count = 0;
    nest->upper = NULL;
    nest->result = nest->result_loop = NULL;
    nest->masks = true;
    for (int64_t i = nest->first; i < body->body.count; i++) {
        const LoopBody nodes = loop_nodes(arena, body->body.items[i]);
        for (int64_t n = 0; n < nodes.count; n++)
            if (nodes.items[n]->var >= 0)
                nest->inside[nodes.items[n]->var] = 1;
    }
    return add_nodes(nest, &body->body, nest->first, false) && nest->result && rows_fit(nest) &&
           zeros_fit(nest);
}

// One block: its dense loops have `count` iterations, from `start` on. Where that is NULL, they have those
// from `start` to the upper bound, in arrays with room for `length`.
typedef struct {
    const Nest *nest;
    const IntExpr *start, *count;
    int64_t length;
    bool masked;
    int *arrays;       // by array: the local one that takes its place, or itself
    const IntExpr *at; // the place of the current iteration in local arrays
} Block;

static const Value *in_block(void *context, const Value *value) {
    const Block *block = context;
    if (value->array < 0 || block->arrays[value->array] == value->array)
        return value;
    return value_element(block->nest->kernel->arena, value->kind, value->type, block->arrays[value->array],
                         block->at);
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

static const LoopNode *dense_block(Block *block, const LoopNode *loop) {
    Arena *arena = block->nest->kernel->arena;
    LoopBody body;
    LoopNode *copy = block_loop(block, loop, &body);
    for (int64_t i = 0; i < loop->body.count; i++) {
        LoopNode *node =
            arena_copy(arena, loop_map_values(arena, loop->body.items[i], in_block, block), sizeof *node);
        if (is_update(node)) {
            node->array = block->arrays[node->array];
            node->position = block->at;
        }
        if (is_update(node) && block->masked)
            node->value = value_select(arena, value_less(arena, int_var(arena, loop->var), loop->upper),
                                       node->value, value_zero(arena, node->value->type));
        loop_append(arena, &body, node);
    }
    copy->body = body;
    return copy;
}

static LoopBody block_nodes(Block *block, const LoopBody *from, int64_t first) {
    const Nest *nest = block->nest;
    Arena *arena = nest->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = first; i < from->count; i++) {
        const LoopNode *node = from->items[i];
        if (node->kind == LOOP_FOR && is_dense(nest, node)) {
            loop_append(arena, &result, dense_block(block, node));
            continue;
        }
        LoopNode *copy = loop_with_body(arena, node, block_nodes(block, &node->body, 0));
        if (node->kind == LOOP_WORKSPACE && nest->rows[node->array])
            copy->array = block->arrays[node->array];
        loop_append(arena, &result, copy);
    }
    return result;
}

// Appends the sums of a block, the nodes that add to them, and the update of the result.
static void append_block(Block *block, LoopBody *to) {
    const Nest *nest = block->nest;
    LoopKernel *kernel = nest->kernel;
    Arena *arena = kernel->arena;
    block->arrays = arena_array(arena, int, nest->array_count);
    for (int a = 0; a < (int)nest->array_count; a++)
        block->arrays[a] = nest->rows[a] || a == nest->result->array ? add_local(block, a) : a;
    LoopNode *sums = loop_node(arena, LOOP_WORKSPACE);
    sums->array = block->arrays[nest->result->array];
    loop_append(arena, to, sums);
    loop_append_all(arena, to, block_nodes(block, &nest->body->body, nest->first));
    LoopBody body;
    if (block->masked)
        block->count = NULL;
    LoopNode *loop = block_loop(block, nest->result_loop, &body);
    LoopNode *update = arena_copy(arena, nest->result, sizeof *update);
    update->kind = nest->zeros ? LOOP_STORE : LOOP_ACCUMULATE;
    update->value =
        value_element(arena, VALUE_LOAD, (int)kernel->arrays.items[sums->array].type, sums->array, block->at);
    loop_append(arena, &body, update);
    loop->body = body;
    loop_append(arena, to, loop);
}

// Appends a loop over blocks of `length` iterations from `begin` on, and gives its end.
static const IntExpr *append_blocks(const Nest *nest, const IntExpr *begin, int64_t length, LoopBody *to) {
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
static void append_nest(const Nest *nest, LoopBody *to) {
    LoopKernel *kernel = nest->kernel;
    Arena *arena = kernel->arena;
    const int64_t bytes = (int64_t)type_info(kernel->arrays.items[nest->result->array].type)->size;
    const int64_t room = REGISTER_BYTES / (1 + nest->row_count) & -SHORT_BYTES;
    const int64_t length = (room < SHORT_BYTES   ? SHORT_BYTES
                            : room < BLOCK_BYTES ? room
                                                 : BLOCK_BYTES) /
                           bytes;
    LoopBody *blocks = to;
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

static LoopBody in_registers(Nest *nest, const LoopBody *body) {
    Arena *arena = nest->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        LoopBody inside = {0};
        if (find_nest(nest, node)) {
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
    Nest *nest = context;
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
    Nest nest = {.kernel = loop_kernel_copy(before),
                 .var_count = before->vars.count,
                 .array_count = before->arrays.count,
                 .loaded = arena_array(before->arena, bool, before->vars.count)};
    find_loaded(&nest, &before->body);
    nest.kernel->body = loop_rewrite(before->arena, &before->body, block_leaf, &nest);
    return nest.kernel;
}
