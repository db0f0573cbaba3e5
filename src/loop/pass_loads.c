// SPDX-License-Identifier: BSD-3-Clause
// Moves loads of elements whose position a loop does not change in front of the loop. C compilers do so only
// where they see that nothing in the loop writes the element; in the functions that they make of threaded
// loops they do not see it.
#include "loop/hoist.h"
#include "loop/passes.h"

// Each value takes a register while the loop runs. Processors have 16 or 32 vector registers, and the loop
// needs some for its sums and its other elements.
enum { MOST_VALUES = 8 };

static int count_values(const LoopHoist *hoist) {
    int count = 0;
    for (int64_t i = 0; i < hoist->definitions.count; i++)
        count += hoist->definitions.items[i].from == hoist->scope->body;
    return count;
}

static bool is_less(const IntExpr *a, const IntExpr *b) {
    return a->op == INT_CONST && b->op == INT_CONST && a->value < b->value;
}

static int greater(int a, int b) {
    return a > b ? a : b;
}

// The least depth that a load can be moved to, and in *condition whether the loops that it is moved out of
// have iterations; NULL where that is known.
static int least_depth(const LoopHoist *hoist, const IntExpr *position, const Value **condition) {
    Arena *arena = hoist->kernel->arena;
    const int depth = loop_depth_of(position, hoist->depths);
    const LoopScope *scope = hoist->scope;
    int least = scope->depth, bounds = 0, count = 0;
    const Value **conditions = arena_array(arena, const Value *, scope->depth);
    *condition = NULL;
    for (; scope->depth > depth && scope->node->kind == LOOP_FOR; scope = scope->outer) {
        const LoopNode *loop = scope->node;
        if (!is_less(loop->lower, loop->upper))
            conditions[count++] = value_less(arena, loop->lower, loop->upper);
        bounds = greater(bounds, greater(loop_depth_of(loop->lower, hoist->depths),
                                         loop_depth_of(loop->upper, hoist->depths)));
        const bool between = scope->outer->node->execution.collapsed > 1;
        if (between || bounds > scope->outer->depth)
            continue;
        least = scope->outer->depth;
        *condition = count > 1 ? value_list(arena, VALUE_AND, VALUE_TYPE_CONDITION, NULL, count, conditions)
                     : count == 1 ? conditions[0]
                                  : NULL;
    }
    return least;
}

// The element may not exist where the loops have no iterations, so the load is conditional.
static const Value *loaded(LoopHoist *hoist, const Value *load) {
    LoopKernel *kernel = hoist->kernel;
    const Value *condition, *value = load;
    const int depth = least_depth(hoist, load->index, &condition);
    if (depth == hoist->scope->depth)
        return load;
    if (condition)
        value = value_select(kernel->arena, condition, load, value_zero(kernel->arena, load->type));
    const LoopVar var = {.name = "value", .type = load->type, .stem_array = load->array, .stem_var = -1};
    return value_var(kernel->arena, load->type, loop_define(hoist, depth, var, value));
}

// Operands that are evaluated conditionally are not moved.
static const Value *with_loaded(LoopHoist *hoist, const Value *value) {
    if (value->kind == VALUE_LOAD && value->index && !hoist->kernel->arrays.items[value->array].written &&
        count_values(hoist) < MOST_VALUES)
        return loaded(hoist, value);
    if (value->kind == VALUE_SELECT || value->type == VALUE_TYPE_CONDITION)
        return value;
    Value *copy = arena_copy(hoist->kernel->arena, value, sizeof *value);
    const Value **operands = arena_array(hoist->kernel->arena, const Value *, value->operand_count);
    for (int i = 0; i < value->operand_count; i++)
        operands[i] = with_loaded(hoist, value->operands[i]);
    copy->operands = operands;
    return copy;
}

static const LoopNode *read_outside(LoopHoist *hoist, const LoopNode *node) {
    LoopNode *copy = arena_copy(hoist->kernel->arena, node, sizeof *node);
    if (node->value)
        copy->value = with_loaded(hoist, node->value);
    return copy;
}

const LoopKernel *loop_pass_loads(const LoopKernel *before) {
    return loop_hoist(before, read_outside);
}
