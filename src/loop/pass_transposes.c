// SPDX-License-Identifier: BSD-3-Clause
// Transpositions: where an operand is stored across the result, so that consecutive elements of the one are
// far apart in the other, both are visited in blocks. A block of the operand is transposed in registers
// (distal_transpose_*): straight into the result where that is a copy, else into a block that stays in the
// cache, which takes the place of the operand in the loops.
#include "loop/nest.h"
#include "loop/passes.h"

// A block has OPERAND_BYTES of each row of the operand, so that these are read as streams, and COPY_ELEMENTS
// or BLOCK_ELEMENTS of those of the result: what stays in the cache are then 32 KiB, of the first level.
enum { OPERAND_BYTES = 512, COPY_ELEMENTS = 512, BLOCK_ELEMENTS = 64 };
// Larger results do not fit in the last-level cache, and are written with nontemporal stores.
enum { STREAM_BYTES = 1 << 25 };

typedef struct {
    LoopNest nest;
    const LoopNode *update;
    const IntExpr **values; // by variable that is defined in the nest, its value without such variables
    int64_t value_count;
    int *depends;            // by variable: 1 where it changes with `across` or `along`
    const LoopNode *along;   // the loop along the stored elements of the result
    const LoopNode *across;  // and that along those of the operand
    bool copies;             // the result is a copy of the operand
    int64_t rows;            // of a block
    const IntExpr *row, *to; // distances between rows of blocks of the operand, and of the result
} Transposition;

// What an iteration of a loop over `var` adds to an expression; NULL where that is not the same for all.
static const IntExpr *coefficient(Arena *arena, const IntExpr *expr, int var) {
    if (expr->op == INT_VAR && expr->value == var)
        return int_const(arena, 1);
    if (!loop_mentions(expr, var))
        return int_const(arena, 0);
    const IntExpr *left = coefficient(arena, expr->left, var), *right = coefficient(arena, expr->right, var);
    if (!left || !right)
        return NULL;
    if (expr->op == INT_ADD || expr->op == INT_SUB)
        return int_op(arena, expr->op, left, right);
    if (expr->op == INT_MUL && !loop_mentions(expr->right, var))
        return int_op(arena, INT_MUL, left, expr->right);
    if (expr->op == INT_MUL && !loop_mentions(expr->left, var))
        return int_op(arena, INT_MUL, expr->left, right);
    return NULL;
}

static bool is_number(const IntExpr *expr, int64_t number) {
    return expr && expr->op == INT_CONST && expr->value == number;
}

static const IntExpr *expanded(const Transposition *of, const IntExpr *expr) {
    return loop_substitute(of->nest.kernel->arena, expr, of->values, of->value_count);
}

static bool expand(Transposition *of, const LoopNode *node) {
    if (node->kind == LOOP_LET && node->value->kind == VALUE_INDEX)
        of->values[node->var] = expanded(of, node->value->index);
    return node->kind != LOOP_LET || node->value->kind == VALUE_INDEX;
}

// The update that the nest makes, after definitions, in distinct iterations of all loops. False where there
// is more.
static bool find_update(Transposition *of) {
    const LoopNest *nest = &of->nest;
    const LoopBody *body = &nest->innermost->body;
    for (int64_t i = 0; i < nest->headers.count; i++) {
        const LoopNode *node = nest->headers.items[i];
        if ((node->kind == LOOP_FOR && (!node->execution.distinct || node->execution.unroll)) ||
            !expand(of, node))
            return false;
    }
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        of->update = node->kind == LOOP_STORE || node->kind == LOOP_ACCUMULATE ? node : NULL;
        if ((node->kind != LOOP_LET && !of->update) || (of->update && i + 1 < body->count) ||
            !expand(of, node))
            return false;
    }
    return of->update && of->update->position && !of->update->atomic && !of->update->count;
}

// The loop of the nest along whose iterations the elements at a position are consecutive; NULL: there is
// none.
static const LoopNode *unit_loop(const Transposition *of, const IntExpr *position) {
    for (int64_t i = 0; i < of->nest.headers.count; i++) {
        const LoopNode *node = of->nest.headers.items[i];
        if (node->kind == LOOP_FOR && is_number(coefficient(of->nest.kernel->arena, position, node->var), 1))
            return node;
    }
    return NULL;
}

// Whether blocks of what is loaded can be transposed. *row: the distance between their rows.
static bool is_across(const Transposition *of, const Value *load, const IntExpr **row) {
    Arena *arena = of->nest.kernel->arena;
    if (load->kind != VALUE_LOAD || !load->index || of->nest.kernel->arrays.items[load->array].extent)
        return false;
    const IntExpr *index = expanded(of, load->index);
    *row = coefficient(arena, index, of->along->var);
    for (int64_t i = 0; *row && i < of->nest.headers.count; i++)
        if (of->nest.headers.items[i]->kind == LOOP_FOR &&
            loop_mentions(*row, of->nest.headers.items[i]->var))
            return false;
    return *row && !is_number(*row, 0) && !is_number(*row, 1) && unit_loop(of, index) == of->across;
}

// Finds an operand that is stored across the result.
static bool find_operand(Transposition *of) {
    Arena *arena = of->nest.kernel->arena;
    const IntExpr *position = expanded(of, of->update->position);
    const ValueList values = loop_values(arena, of->update);
    of->along = unit_loop(of, position);
    const Value *operand = NULL;
    for (int64_t v = 0; of->along && v < values.count && !operand; v++) {
        const Value *load = values.items[v];
        if (load->kind != VALUE_LOAD || !load->index)
            continue;
        of->across = unit_loop(of, expanded(of, load->index));
        if (of->across && of->across != of->along && is_across(of, load, &of->row))
            operand = load;
    }
    if (!operand)
        return false;
    of->rows = OPERAND_BYTES / (int64_t)type_info((ElementType)operand->type)->size;
    const Value *value = of->update->value;
    of->to = coefficient(arena, position, of->across->var);
    of->copies = of->update->kind == LOOP_STORE && value->kind == VALUE_LOAD && of->to &&
                 (int)of->nest.kernel->arrays.items[of->update->array].type == value->type;
    return true;
}

// Whether the two loops can move inside of all others. Finds which definitions depend on them.
static bool can_move(Transposition *of) {
    Arena *arena = of->nest.kernel->arena;
    of->depends[of->along->var] = of->depends[of->across->var] = 1;
    for (int64_t i = 0; i < of->nest.headers.count; i++) {
        const LoopNode *node = of->nest.headers.items[i];
        const bool depends = loop_node_depth(arena, node, of->depends) > 0;
        if (depends && node->kind != LOOP_LET)
            return false;
        if (depends)
            of->depends[node->var] = 1;
    }
    return true;
}

// Whether the result is larger than the cache, as far as that is known outside of the nest: a condition; NULL
// where it is not known, or where it is not so. *always: it is so.
static const Value *is_large(const Transposition *of, bool *always) {
    Arena *arena = of->nest.kernel->arena;
    const ElementType type = of->nest.kernel->arrays.items[of->update->array].type;
    const IntExpr *bytes = int_const(arena, (int64_t)type_info(type)->size);
    for (int64_t i = 0; i < of->nest.headers.count; i++) {
        const LoopNode *node = of->nest.headers.items[i];
        if (node->kind != LOOP_FOR)
            continue;
        const IntExpr *extent = expanded(of, int_op(arena, INT_SUB, node->upper, node->lower));
        for (int64_t o = 0; o < of->nest.headers.count; o++)
            if (of->nest.headers.items[o]->kind == LOOP_FOR &&
                loop_mentions(extent, of->nest.headers.items[o]->var))
                return NULL;
        bytes = int_op(arena, INT_MUL, bytes, extent);
    }
    *always = bytes->op == INT_CONST && bytes->value > STREAM_BYTES;
    return bytes->op == INT_CONST ? NULL : value_less(arena, int_const(arena, STREAM_BYTES), bytes);
}

// The position of the first element of a block.
static const IntExpr *first(const Transposition *of, const IntExpr *position, const LoopNode *across,
                            const LoopNode *along) {
    const IntExpr **begin = arena_array(of->nest.kernel->arena, const IntExpr *, of->value_count);
    begin[of->across->var] = across->lower;
    begin[of->along->var] = along->lower;
    return loop_substitute(of->nest.kernel->arena, expanded(of, position), begin, of->value_count);
}

// A call that transposes a block of `load`; `across` and `along` are the loops of a block.
static const LoopNode *transpose(const Transposition *of, const LoopNode *across, const LoopNode *along,
                                 const Value *load, const IntExpr *row, int to, const IntExpr *position,
                                 const IntExpr *to_row, const Value *stream) {
    Arena *arena = of->nest.kernel->arena;
    const IntExpr *rows = int_op(arena, INT_SUB, across->upper, across->lower),
                  *cols = int_op(arena, INT_SUB, along->upper, along->lower);
    enum { OPERANDS = 7 };
    const Value *operands[OPERANDS] = {
        value_index(arena, rows),
        value_index(arena, cols),
        value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, to, position),
        value_index(arena, to_row),
        value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, load->array,
                      first(of, load->index, across, along)),
        value_index(arena, row),
        stream,
    };
    LoopNode *call = loop_node(arena, LOOP_CALL);
    call->value =
        value_list(arena, VALUE_CALL, VALUE_TYPE_NONE,
                   arena_printf(arena, "distal_transpose_%d", (int)type_info((ElementType)load->type)->size),
                   OPERANDS, operands);
    return call;
}

// The loops of the update, which read blocks where they read operands.
typedef struct {
    const Transposition *of;
    const LoopNode *across, *along;
    LoopBody *to; // workspaces and the calls that fill them
    int count;
    const Value **loads; // of which there are blocks
    int *blocks;
} Blocks;

static const Value *in_block(void *context, const Value *value) {
    Blocks *blocks = context;
    const Transposition *of = blocks->of;
    LoopKernel *kernel = of->nest.kernel;
    Arena *arena = kernel->arena;
    const IntExpr *row;
    if (!is_across(of, value, &row))
        return value;
    const IntExpr *length = int_const(arena, BLOCK_ELEMENTS);
    int b = 0;
    while (b < blocks->count && !value_equal(blocks->loads[b], value))
        b++;
    if (b == blocks->count) {
        const LoopArray block = {.name =
                                     arena_printf(arena, "%s_block", kernel->arrays.items[value->array].name),
                                 .type = (ElementType)value->type,
                                 .written = true,
                                 .local = true,
                                 .extent = int_const(arena, of->rows * BLOCK_ELEMENTS)};
        LoopNode *workspace = loop_node(arena, LOOP_WORKSPACE);
        workspace->array = blocks->blocks[b] = loop_add_array(kernel, block);
        workspace->stored = true;
        loop_append(arena, blocks->to, workspace);
        loop_append(arena, blocks->to,
                    transpose(of, blocks->across, blocks->along, value, row, workspace->array,
                              int_const(arena, 0), length, value_index(arena, int_const(arena, 0))));
        blocks->loads[blocks->count++] = value;
    }
    const IntExpr *r = int_op(arena, INT_SUB, int_var(arena, of->across->var), blocks->across->lower),
                  *c = int_op(arena, INT_SUB, int_var(arena, of->along->var), blocks->along->lower);
    return value_element(arena, VALUE_LOAD, value->type, blocks->blocks[b],
                         int_op(arena, INT_ADD, int_op(arena, INT_MUL, r, length), c));
}

static LoopBody block_body(const Transposition *of, LoopNode *across, LoopNode *along) {
    LoopKernel *kernel = of->nest.kernel;
    Arena *arena = kernel->arena;
    LoopBody body = {0}, inside = {0};
    const int64_t most = loop_values(arena, of->update).count;
    Blocks blocks = {
        of, across, along, &body, 0, arena_array(arena, const Value *, most), arena_array(arena, int, most)};
    for (int64_t i = 0; i < of->nest.headers.count; i++)
        if (of->nest.headers.items[i]->kind == LOOP_LET && of->depends[of->nest.headers.items[i]->var])
            loop_append(arena, &inside, of->nest.headers.items[i]);
    for (int64_t i = 0; i + 1 < of->nest.innermost->body.count; i++)
        loop_append(arena, &inside, of->nest.innermost->body.items[i]);
    loop_append(arena, &inside, loop_map_values(arena, of->update, in_block, &blocks));
    LoopBody headers = {0};
    loop_append(arena, &headers, across);
    loop_append(arena, &headers, along);
    loop_append_all(arena, &body, loop_nest_around(arena, &headers, 0, inside));
    return body;
}

static LoopBody transposed(const Transposition *of) {
    LoopKernel *kernel = of->nest.kernel;
    Arena *arena = kernel->arena;
    LoopBody body = {0}, headers = {0}, ends = {0};
    LoopNode *across = loop_with_body(arena, of->across, of->across->body),
             *along = loop_with_body(arena, of->along, of->along->body);
    across->execution.permutable = along->execution.permutable = false;
    for (int64_t i = 0; i < of->nest.headers.count; i++) {
        const LoopNode *node = of->nest.headers.items[i];
        if (node == of->across || node == of->along || (node->kind == LOOP_LET && of->depends[node->var]))
            continue;
        LoopNode *copy = loop_with_body(arena, node, node->body);
        copy->execution.permutable = false;
        loop_append(arena, &headers, copy);
    }
    loop_nest_append_blocks(kernel, across, of->rows, &headers, &ends);
    loop_nest_append_blocks(kernel, along, of->copies ? COPY_ELEMENTS : BLOCK_ELEMENTS, &headers, &ends);
    LoopBody inside = ends;
    if (!of->copies) {
        loop_append_all(arena, &inside, block_body(of, across, along));
    } else {
        bool always = false;
        const Value *large = is_large(of, &always), *stream = value_index(arena, int_const(arena, always));
        if (large) {
            const int var = loop_add_var(kernel, (LoopVar){.name = "is_large",
                                                           .type = VALUE_TYPE_CONDITION,
                                                           .stem_array = of->update->array,
                                                           .stem_var = -1});
            loop_append(arena, &body, loop_let(arena, var, large));
            stream = value_var(arena, VALUE_TYPE_CONDITION, var);
        }
        loop_append(arena, &inside,
                    transpose(of, across, along, of->update->value, of->row, of->update->array,
                              first(of, of->update->position, across, along), of->to, stream));
    }
    loop_append_all(arena, &body, loop_nest_around(arena, &headers, 0, inside));
    return body;
}

static LoopBody transpose_body(LoopKernel *kernel, const LoopBody *body) {
    Arena *arena = kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (!node->execution.permutable) {
            loop_append(arena, &result, loop_with_body(arena, node, transpose_body(kernel, &node->body)));
            continue;
        }
        Transposition of = {.nest = loop_nest(kernel, node), .value_count = kernel->vars.count};
        of.values = arena_array(arena, const IntExpr *, of.value_count);
        of.depends = arena_array(arena, int, of.value_count);
        if (loop_nest_is_permutable(&of.nest) && find_update(&of) && find_operand(&of) && can_move(&of))
            loop_append_all(arena, &result, transposed(&of));
        else
            loop_append(arena, &result, node);
    }
    return result;
}

const LoopKernel *loop_pass_transposes(const LoopKernel *before) {
    LoopKernel *kernel = loop_kernel_copy(before);
    kernel->body = transpose_body(kernel, &before->body);
    return kernel;
}
