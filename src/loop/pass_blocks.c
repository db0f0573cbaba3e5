// SPDX-License-Identifier: BSD-3-Clause
// Register blocking, as unroll and jam (Callahan, Cocke, Kennedy 1988): a few iterations of the loop around
// the innermost one are made at the same time, so that what they have in common is loaded, or updated, once
// for all.
#include "loop/passes.h"

enum { COPIES = 4 };

// The two innermost loops of a leaf: definitions and sums, the innermost loop, and updates after it.
typedef struct {
    LoopKernel *kernel;
    const LoopNode *outer, *inner;
    int inner_at;           // in the body of `outer`
    int *outer_vars;        // by variable: 1 where `outer` binds it, or something before `inner`
    int *inner_vars;        // and where `inner` does, or something inside
    int64_t var_count;      // before there are copies
    const IntExpr **values; // of the variables in the current copy; NULL: as they are
    int *arrays;            // in the current copy, by array
} Jam;

static bool is_plain(LoopKind kind, bool before) {
    return before ? kind == LOOP_LET || kind == LOOP_WORKSPACE
                  : kind == LOOP_ACCUMULATE || kind == LOOP_STORE;
}

// Whether the node sets a local variable that the next iteration of `outer` reads.
static bool carries(const Jam *jam, const LoopNode *node) {
    if (node->kind != LOOP_STORE || !jam->kernel->arrays.items[node->array].scalar)
        return false;
    for (int i = 0; i < jam->inner_at; i++)
        if (jam->outer->body.items[i]->kind == LOOP_WORKSPACE &&
            jam->outer->body.items[i]->array == node->array)
            return false;
    return true;
}

// A workspace in memory, which copies would share.
static bool has_elements(const Jam *jam, const LoopNode *node) {
    return node->kind == LOOP_WORKSPACE && jam->kernel->arrays.items[node->array].extent;
}

// Finds the innermost loop and what is around it. False where there is something else.
static bool find_inner(Jam *jam) {
    const LoopBody *body = &jam->outer->body;
    jam->inner = NULL;
    for (int i = 0; i < (int)body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_FOR && !jam->inner) {
            jam->inner = node;
            jam->inner_at = i;
        } else if (!is_plain(node->kind, !jam->inner) || node->atomic || node->count || carries(jam, node) ||
                   has_elements(jam, node)) {
            return false;
        }
    }
    if (!jam->inner || jam->inner->execution.thread || jam->inner->execution.unroll || jam->inner->step != 1)
        return false;
    for (int64_t i = 0; i < jam->inner->body.count; i++) {
        const LoopNode *node = jam->inner->body.items[i];
        if ((node->kind != LOOP_LET && !is_plain(node->kind, false)) || node->atomic || node->count ||
            carries(jam, node))
            return false;
    }
    return true;
}

static void find_vars(Jam *jam) {
    jam->outer_vars = arena_array(jam->kernel->arena, int, jam->var_count);
    jam->inner_vars = arena_array(jam->kernel->arena, int, jam->var_count);
    jam->outer_vars[jam->outer->var] = jam->inner_vars[jam->inner->var] = 1;
    for (int i = 0; i < jam->inner_at; i++)
        if (jam->outer->body.items[i]->kind == LOOP_LET)
            jam->outer_vars[jam->outer->body.items[i]->var] = 1;
    for (int64_t i = 0; i < jam->inner->body.count; i++) {
        const LoopNode *node = jam->inner->body.items[i];
        if (node->kind != LOOP_LET)
            continue;
        jam->inner_vars[node->var] = 1;
        if (node->value->kind != VALUE_INDEX || loop_depth_of(node->value->index, jam->outer_vars))
            jam->outer_vars[node->var] = 1;
    }
}

typedef struct {
    const Jam *jam;
    int moving, common; // elements that the innermost loop moves over; those that all copies have in common
} Reuse;

static void count(Reuse *reuse, const IntExpr *position, int weight) {
    if (!position || !loop_depth_of(position, reuse->jam->inner_vars))
        return;
    if (loop_depth_of(position, reuse->jam->outer_vars))
        reuse->moving += weight;
    else
        reuse->common += weight;
}

static const Value *count_load(void *context, const Value *value) {
    if (value->kind == VALUE_LOAD)
        count(context, value->index, 1);
    return value;
}

// Whether copies have at least half of what they touch in common.
static bool is_worthwhile(const Jam *jam) {
    Reuse reuse = {.jam = jam};
    for (int64_t i = 0; i < jam->inner->body.count; i++) {
        const LoopNode *node = jam->inner->body.items[i];
        loop_map_values(jam->kernel->arena, node, count_load, &reuse);
        count(&reuse, node->position, node->kind == LOOP_ACCUMULATE ? 2 : 1);
    }
    return reuse.common > 0 && reuse.common >= reuse.moving;
}

static const IntExpr *substitute(void *context, const IntExpr *expr) {
    const Jam *jam = context;
    return loop_substitute(jam->kernel->arena, expr, jam->values, jam->var_count);
}

static const Value *rename_value(void *context, const Value *value) {
    const Jam *jam = context;
    Value *copy = arena_copy(jam->kernel->arena, value, sizeof *value);
    if (copy->array >= 0)
        copy->array = jam->arrays[copy->array];
    if (copy->kind == VALUE_VAR && copy->var < jam->var_count && jam->values[copy->var])
        copy->var = (int)jam->values[copy->var]->value;
    return copy;
}

// A node of the current copy: what it binds gets a name of its own.
static const LoopNode *renamed(Jam *jam, const LoopNode *node, int copy_number) {
    LoopKernel *kernel = jam->kernel;
    Arena *arena = kernel->arena;
    const LoopNode *mapped =
        loop_map_values(arena, loop_map_ints(arena, node, substitute, jam), rename_value, jam);
    LoopNode *copy = arena_copy(arena, mapped, sizeof *mapped);
    if (node->kind == LOOP_LET && copy_number > 0) {
        LoopVar var = kernel->vars.items[node->var];
        var.given = false;
        copy->var = loop_add_var(kernel, var);
        jam->values[node->var] = int_var(arena, copy->var);
    }
    if (node->kind == LOOP_WORKSPACE && copy_number > 0)
        jam->arrays[node->array] = loop_add_array(kernel, kernel->arrays.items[node->array]);
    if (node->array >= 0)
        copy->array = jam->arrays[node->array];
    return copy;
}

// Additions to the same element become one.
static void append_update(const Jam *jam, const LoopNode *node, LoopBody *to) {
    for (int64_t i = 0; node->kind == LOOP_ACCUMULATE && i < to->count; i++) {
        const LoopNode *other = to->items[i];
        const bool same = other->kind == LOOP_ACCUMULATE && other->array == node->array &&
                          jam->kernel->arrays.items[node->array].reducer == REDUCER_SUM &&
                          other->value->type == node->value->type &&
                          (node->position == other->position ||
                           (node->position && other->position && int_equal(node->position, other->position)));
        if (!same)
            continue;
        LoopNode *both = arena_copy(jam->kernel->arena, node, sizeof *node);
        both->value = value_op(jam->kernel->arena, VALUE_ADD, node->value->type, other->value, node->value);
        // After the definitions that the second value needs.
        for (int64_t k = i; k + 1 < to->count; k++)
            to->items[k] = to->items[k + 1];
        to->items[to->count - 1] = both;
        return;
    }
    loop_append(jam->kernel->arena, to, node);
}

// A definition that is the same in all copies is made once.
static bool is_copied(const Jam *jam, const LoopNode *node) {
    return node->kind != LOOP_LET || jam->outer_vars[node->var];
}

// The body of `outer` with COPIES of its iterations made at the same time.
static LoopBody jammed(Jam *jam) {
    LoopKernel *kernel = jam->kernel;
    Arena *arena = kernel->arena;
    LoopBody before = {0}, inside = {0}, after = {0};
    const int64_t array_count = kernel->arrays.count;
    LoopNode *inner = arena_copy(arena, jam->inner, sizeof *jam->inner);
    inner->execution.sum_count = 0;
    for (int c = 0; c < COPIES; c++) {
        jam->values = arena_array(arena, const IntExpr *, jam->var_count);
        jam->arrays = arena_array(arena, int, array_count);
        for (int a = 0; a < (int)array_count; a++)
            jam->arrays[a] = a;
        jam->values[jam->outer->var] =
            int_op(arena, INT_ADD, int_var(arena, jam->outer->var), int_const(arena, c));
        for (int64_t i = 0; i < jam->outer->body.count; i++) {
            const LoopNode *node = jam->outer->body.items[i];
            if (i != jam->inner_at) {
                loop_append(arena, i < jam->inner_at ? &before : &after, renamed(jam, node, c));
                continue;
            }
            for (int64_t k = 0; k < node->body.count; k++)
                if (c == 0 || is_copied(jam, node->body.items[k]))
                    append_update(jam, renamed(jam, node->body.items[k], c), &inside);
        }
        for (int s = 0; s < jam->inner->execution.sum_count; s++)
            loop_add_sum(arena, inner, jam->arrays[jam->inner->execution.sums[s]]);
    }
    inner->body = inside;
    loop_append(arena, &before, inner);
    for (int64_t i = 0; i < after.count; i++)
        loop_append(arena, &before, after.items[i]);
    return before;
}

// Blocks of iterations, and what is left over.
static void append_jammed(Jam *jam, LoopBody *to) {
    LoopKernel *kernel = jam->kernel;
    Arena *arena = kernel->arena;
    const LoopNode *outer = jam->outer;
    const IntExpr *size = int_const(arena, COPIES);
    const IntExpr *whole =
        int_op(arena, INT_FLOOR_DIV, int_op(arena, INT_MAX, int_const(arena, 0), outer->upper), size);
    const IntExpr *end = loop_append_let(kernel, to, "blocks_end", outer->var,
                                         value_index(arena, int_op(arena, INT_MUL, whole, size)));
    LoopNode *blocks = loop_with_body(arena, outer, jammed(jam));
    blocks->upper = end;
    blocks->step = COPIES;
    LoopNode *rest = loop_with_body(arena, outer, outer->body);
    rest->lower = blocks->upper;
    rest->execution.thread = false;
    rest->execution.work = NULL;
    loop_append(arena, to, blocks);
    loop_append(arena, to, rest);
}

static bool can_jam(Jam *jam, const LoopNode *node, bool in_team, bool collapsed) {
    const LoopExecution *execution = &node->execution;
    if (node->kind != LOOP_FOR || node->step != 1 || node->lower->op != INT_CONST ||
        node->lower->value != 0 || execution->vector || execution->unroll || execution->collapsed > 1 ||
        collapsed || (execution->thread && in_team))
        return false;
    jam->outer = node;
    jam->var_count = jam->kernel->vars.count;
    if (!find_inner(jam))
        return false;
    find_vars(jam);
    return !loop_depth_of(jam->inner->lower, jam->outer_vars) &&
           !loop_depth_of(jam->inner->upper, jam->outer_vars) && is_worthwhile(jam);
}

static LoopBody block_body(Jam *jam, const LoopBody *body, bool in_team, bool collapsed) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (can_jam(jam, node, in_team, collapsed)) {
            append_jammed(jam, &result);
            continue;
        }
        const bool inside_collapsed = node->execution.collapsed > 1;
        loop_append(jam->kernel->arena, &result,
                    loop_with_body(
                        jam->kernel->arena, node,
                        block_body(jam, &node->body, in_team || node->kind == LOOP_TEAM, inside_collapsed)));
    }
    return result;
}

const LoopKernel *loop_pass_blocks(const LoopKernel *before) {
    Jam jam = {.kernel = loop_kernel_copy(before)};
    jam.kernel->body = block_body(&jam, &before->body, false, false);
    return jam.kernel;
}
