// SPDX-License-Identifier: BSD-3-Clause
// Dense loops inside of loops over stored coordinates, which sum, as the dot products of a sampled product of
// matrices, or update a row at a loaded coordinate: strips of a known number of iterations (strip mining),
// which compilers unroll, and whose partial sums stay in registers. Such loops are short, so that entering a
// loop of any length would take a good part of the time.
#include "loop/passes.h"

// As long as the sums of `registers`: four cache lines, then one, then what is left over.
static const int64_t strip_bytes[] = {256, 64};
enum { STRIPS = sizeof strip_bytes / sizeof *strip_bytes };

typedef struct {
    LoopKernel *kernel;
    int *loaded; // by variable: 1 where it follows from what is loaded in the leaf
} Strips;

static void find_loaded(const Strips *strips, const LoopNode *leaf) {
    const LoopBody nodes = loop_nodes(strips->kernel->arena, leaf);
    for (int64_t i = 0; i < nodes.count; i++) {
        const ValueList values = loop_values(strips->kernel->arena, nodes.items[i]);
        for (int64_t v = 0; v < values.count && nodes.items[i]->kind == LOOP_LET; v++)
            if (values.items[v]->kind == VALUE_LOAD ||
                (values.items[v]->index && loop_depth_of(values.items[v]->index, strips->loaded)))
                strips->loaded[nodes.items[i]->var] = 1;
    }
}

// What a loop of unknown length updates that does nothing else; -1: it is another loop. Either it adds to
// local variables, or its iterations write distinct elements.
static int updated_array(const Strips *strips, const LoopNode *loop) {
    const bool sums = loop->execution.sum_count > 0;
    int array = -1;
    if (loop->kind != LOOP_FOR || !loop->execution.vector || (!sums && !loop->execution.distinct) ||
        loop->execution.thread || loop->execution.unroll || loop->step != 1 || loop->lower->op != INT_CONST ||
        loop->lower->value != 0 || loop->upper->op == INT_CONST || loop_depth_of(loop->upper, strips->loaded))
        return -1;
    for (int64_t i = 0; i < loop->body.count; i++) {
        const LoopNode *node = loop->body.items[i];
        if (node->kind == LOOP_LET)
            continue;
        if ((node->kind != LOOP_ACCUMULATE && (sums || node->kind != LOOP_STORE)) ||
            strips->kernel->arrays.items[node->array].scalar != sums)
            return -1;
        array = node->array;
    }
    return array;
}

static void append_strips(Strips *strips, const LoopNode *loop, int updated, LoopBody *to) {
    LoopKernel *kernel = strips->kernel;
    Arena *arena = kernel->arena;
    const int64_t size = (int64_t)type_info(kernel->arrays.items[updated].type)->size;
    const IntExpr *begin = loop->lower;
    for (int s = 0; s < STRIPS; s++) {
        const IntExpr *length = int_const(arena, strip_bytes[s] / size);
        const IntExpr *whole =
            int_op(arena, INT_FLOOR_DIV, int_op(arena, INT_MAX, int_const(arena, 0), loop->upper), length);
        const IntExpr *end = loop_append_let(kernel, to, "strips_end", loop->var,
                                             value_index(arena, int_op(arena, INT_MUL, whole, length)));
        LoopNode *strip = loop_node(arena, LOOP_FOR);
        strip->var = loop_add_index(kernel, "strip", loop->var);
        strip->lower = begin;
        strip->upper = end;
        strip->step = length->value;
        LoopNode *inner = loop_with_body(arena, loop, (LoopBody){0});
        inner->var = loop_add_index(kernel, "in", loop->var);
        inner->upper = length;
        loop_append(arena, &inner->body,
                    loop_let(arena, loop->var,
                             value_index(arena, int_op(arena, INT_ADD, int_var(arena, strip->var),
                                                       int_var(arena, inner->var)))));
        loop_append_all(arena, &inner->body, loop->body);
        loop_append(arena, &strip->body, inner);
        loop_append(arena, to, strip);
        begin = end;
    }
    LoopNode *rest = loop_with_body(arena, loop, loop->body);
    rest->lower = begin;
    if (loop->execution.sum_count == 0) {
        loop_append(arena, to, rest);
        return;
    }
    // Compilers add the sums of all lanes, in memory, even where there are no iterations.
    LoopNode *any = loop_node(arena, LOOP_IF);
    any->value = value_less(arena, begin, loop->upper);
    loop_append(arena, &any->body, rest);
    loop_append(arena, to, any);
}

// `over`: the body is inside of a loop whose bounds are loaded.
static LoopBody strip_body(Strips *strips, const LoopBody *body, bool over) {
    Arena *arena = strips->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const int updated = over ? updated_array(strips, node) : -1;
        if (updated >= 0) {
            append_strips(strips, node, updated, &result);
            continue;
        }
        const bool stored = node->kind == LOOP_WHILE ||
                            (node->kind == LOOP_FOR && (loop_depth_of(node->lower, strips->loaded) ||
                                                        loop_depth_of(node->upper, strips->loaded)));
        loop_append(arena, &result,
                    loop_with_body(arena, node, strip_body(strips, &node->body, over || stored)));
    }
    return result;
}

static void strip_leaf(void *context, const LoopNode *node, LoopBody *to) {
    Strips *strips = context;
    if (node->kind == LOOP_LEAF) {
        strips->loaded = arena_array(strips->kernel->arena, int, strips->kernel->vars.count);
        find_loaded(strips, node);
        node = loop_with_body(strips->kernel->arena, node, strip_body(strips, &node->body, false));
    }
    loop_append(strips->kernel->arena, to, node);
}

const LoopKernel *loop_pass_strips(const LoopKernel *before) {
    Strips strips = {.kernel = loop_kernel_copy(before)};
    strips.kernel->body = loop_rewrite(before->arena, &before->body, strip_leaf, &strips);
    return strips.kernel;
}
