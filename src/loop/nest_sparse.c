// SPDX-License-Identifier: BSD-3-Clause
#include "loop/nest_sparse.h"

static bool mentions_loaded(const LoopSparseNest *nest, const IntExpr *expr) {
    return expr && ((expr->op == INT_VAR && nest->loaded[expr->value]) || mentions_loaded(nest, expr->left) ||
                    mentions_loaded(nest, expr->right));
}

static void find_loaded(LoopSparseNest *nest, const LoopBody *body) {
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

bool loop_is_update(const LoopNode *node) {
    return node->kind == LOOP_STORE || node->kind == LOOP_ACCUMULATE;
}

// A loop over 0 to before an upper bound that is known outside, with nothing but definitions and updates of
// elements.
bool loop_is_dense(const LoopSparseNest *nest, const LoopNode *loop) {
    bool updates = false;
    if (loop->lower->op != INT_CONST || loop->lower->value != 0 || loop->step != 1 ||
        loop->execution.thread || loop->execution.unroll || loop_depth_of(loop->upper, nest->inside))
        return false;
    for (int64_t i = 0; i < loop->body.count; i++) {
        const LoopNode *node = loop->body.items[i];
        if (node->kind != LOOP_LET &&
            (!loop_is_update(node) || node->atomic || node->count || !node->position))
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
static bool reads_own(const LoopSparseNest *nest, const LoopNode *node, int var) {
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

static bool add_dense(LoopSparseNest *nest, const LoopNode *loop) {
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
        if (nest->result || node->kind != LOOP_ACCUMULATE || !loop->execution.distinct)
            return false;
        nest->result = node;
        nest->result_loop = loop;
    }
    return true;
}

// Whether a node is a loop whose bounds are loaded.
static bool is_stored(const LoopSparseNest *nest, const LoopNode *node) {
    return node->kind == LOOP_WHILE || (node->kind == LOOP_FOR && (mentions_loaded(nest, node->lower) ||
                                                                   mentions_loaded(nest, node->upper)));
}

// Whether the nodes do nothing but update local variables and, in dense loops, rows and the result. `over`:
// they are inside of a loop whose bounds are loaded.
static bool add_nodes(LoopSparseNest *nest, const LoopBody *body, int64_t first, bool over) {
    for (int64_t i = first; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const LoopArray *array = node->array >= 0 ? &nest->kernel->arrays.items[node->array] : NULL;
        if (node->kind == LOOP_FOR && loop_is_dense(nest, node)) {
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
        if (!add_nodes(nest, &node->body, 0, over || is_stored(nest, node)))
            return false;
    }
    return true;
}

// Rows have an element for each iteration of the dense loops.
static bool rows_fit(const LoopSparseNest *nest) {
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
static bool zeros_fit(const LoopSparseNest *nest) {
    if (!nest->zeros || !nest->result_loop)
        return !nest->zeros;
    Arena *arena = nest->kernel->arena;
    const LoopNode *store = nest->zeros->body.items[0];
    const IntExpr **values = arena_array(arena, const IntExpr *, nest->var_count);
    values[nest->zeros->var] = int_var(arena, nest->result_loop->var);
    return store->array == nest->result->array && int_equal(nest->zeros->upper, nest->upper) &&
           int_equal(loop_substitute(arena, store->position, values, nest->var_count),
                     nest->result->position);
}

// By variable: 1 where nodes of a body bind it, from `first` on.
static int *bound_in(const LoopSparseNest *nest, const LoopBody *body, int64_t first) {
    Arena *arena = nest->kernel->arena;
    int *bound = arena_array(arena, int, nest->var_count);
    for (int64_t i = first; i < body->count; i++) {
        const LoopBody nodes = loop_nodes(arena, body->items[i]);
        for (int64_t n = 0; n < nodes.count; n++)
            if (nodes.items[n]->var >= 0)
                bound[nodes.items[n]->var] = 1;
    }
    return bound;
}

// The node of a body that the loop around the result is in, or is.
static const LoopNode *around_result(const LoopSparseNest *nest, const LoopBody *body, int64_t first) {
    for (int64_t i = first; i < body->count; i++) {
        const LoopBody nodes = loop_nodes(nest->kernel->arena, body->items[i]);
        for (int64_t n = 0; n < nodes.count; n++)
            if (nodes.items[n] == nest->result_loop)
                return body->items[i];
    }
    return NULL;
}

// The number of definitions that a body begins with.
static int64_t leading_definitions(const LoopBody *body) {
    int64_t count = 0;
    while (count < body->count && body->items[count]->kind == LOOP_LET)
        count++;
    return count;
}

// Whether loops over stored coordinates are around the loop of the result, in nodes of a body from `first`
// on.
static bool is_over_stored(const LoopSparseNest *nest, const LoopBody *body, int64_t first) {
    const LoopNode *node = around_result(nest, body, first);
    return node != nest->result_loop && (is_stored(nest, node) || is_over_stored(nest, &node->body, 0));
}

// The outermost body in which loops over stored coordinates add to one row. An element of a sparse array may
// be missing where nothing is added to it, so there is none where the result is one.
static void find_sums(LoopSparseNest *nest) {
    const LoopNode *node = nest->body;
    nest->sums_first = nest->first;
    nest->sums = NULL;
    if (nest->kernel->arrays.items[nest->result->array].sparse)
        return;
    while (node != nest->result_loop) {
        int *inside = bound_in(nest, &node->body, nest->sums_first);
        inside[nest->result_loop->var] = 0;
        if (loop_depth_of(nest->result->position, inside) == 0) {
            nest->sums = is_over_stored(nest, &node->body, nest->sums_first) ? node : NULL;
            return;
        }
        node = around_result(nest, &node->body, nest->sums_first);
        nest->sums_first = leading_definitions(&node->body);
    }
}

bool loop_find_nest_sparse(LoopSparseNest *nest, const LoopNode *body) {
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
    nest->inside = bound_in(nest, &body->body, nest->first);
    nest->local = arena_array(arena, bool, nest->array_count);
    nest->rows = arena_array(arena, bool, nest->array_count);
    nest->row_count = 0;
    nest->upper = NULL;
    nest->result = nest->result_loop = NULL;
    nest->masks = true;
    if (!add_nodes(nest, &body->body, nest->first, false) || !nest->result || !rows_fit(nest))
        return false;
    find_sums(nest);
    if (nest->sums == nest->body)
        return zeros_fit(nest);
    // Were the loop over the rows of a matrix in the nest, all of it would be read for each block. Where the
    // number of iterations is known, there are no loops over blocks to save.
    return body->kind == LOOP_FOR && !nest->zeros && nest->upper->op != INT_CONST &&
           nest->result_loop->execution.vector &&
           is_stored(nest, around_result(nest, &body->body, nest->first));
}

LoopSparseNest loop_nest_sparse(LoopKernel *kernel) {
    LoopSparseNest nest = {.kernel = kernel,
                           .var_count = kernel->vars.count,
                           .array_count = kernel->arrays.count,
                           .loaded = arena_array(kernel->arena, bool, kernel->vars.count)};
    find_loaded(&nest, &kernel->body);
    return nest;
}
