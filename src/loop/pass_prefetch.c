// SPDX-License-Identifier: BSD-3-Clause
// Where a loop over stored coordinates gathers rows of a dense operand, or adds to rows of the result, it
// prefetches the row of an entry further on (software prefetching of indirect loads: Mowry, Lam, Gupta 1992).
// Whether that pays off follows from the coordinates, so the runtime decides it (distal_prefetch_end) once
// for each execution of a leaf, or of the ROWS around it, and gives the position up to which rows are
// prefetched.
#include "loop/passes.h"

// Of a row, less than a cache line is not prefetched, nor more than 2 KiB: 8 rows ahead then take half of a
// cache of 32 KiB.
enum { LEAST_BYTES = 64, MOST_BYTES = 2048 };

// How many entries ahead: as far as 4 KiB of rows, which is about what a core reads from memory while it
// waits for one line. Of short rows, fewer bytes are enough, as each entry takes time of its own.
enum { LEAST_DISTANCE = 8, MOST_DISTANCE = 32, AHEAD_BYTES = 4096 };

static int64_t distance_of(int64_t bytes) {
    const int64_t rows = AHEAD_BYTES / bytes;
    return rows < LEAST_DISTANCE ? LEAST_DISTANCE : rows > MOST_DISTANCE ? MOST_DISTANCE : rows;
}

// Rows at the coordinates of a list.
typedef struct {
    int list;
    const IntExpr *bytes; // from one row to the next
    int64_t distance;     // the most entries that it is ahead
    int end;              // variable: entries before this position prefetch a row
} Gather;

typedef struct {
    LoopKernel *kernel;
    int64_t var_count; // before there are new ones
    const LoopLevelArray *arrays;
    int *counts;           // by array: the variable of the number of positions; -1: none yet
    int *inside;           // by variable: 1 where it is bound in the leaf
    Array(Gather) gathers; // of the leaf
} Prefetch;

// A loop over positions, in which `coordinate` defines that of the entry; what is inside of it, up to the
// current node.
typedef struct {
    Prefetch *prefetch;
    const LoopNode *loop, *coordinate;
    int list;
    const IntExpr **values; // by variable: its definition, where that is index arithmetic; else NULL
} Entries;

// The list whose element at the current position of `loop` a node defines; -1: it does something else.
static int list_of(const Prefetch *prefetch, const LoopNode *loop, const LoopNode *node) {
    const Value *value = node->kind == LOOP_LET ? node->value : NULL;
    if (value && value->kind == VALUE_CONVERT)
        value = value->operands[0];
    return value && value->kind == VALUE_LOAD &&
                   prefetch->arrays[value->array].kind == LEVEL_ARRAY_COORDINATES &&
                   value->index->op == INT_VAR && value->index->value == loop->var
               ? value->array
               : -1;
}

// By what an expression grows when `var` does by one; NULL where that is no product, or is nothing.
static const IntExpr *coefficient(Arena *arena, const IntExpr *expr, int var) {
    if (expr->op == INT_VAR && expr->value == var)
        return int_const(arena, 1);
    const bool left = expr->left && loop_mentions(expr->left, var);
    const bool right = expr->right && loop_mentions(expr->right, var);
    if (left == right)
        return NULL;
    const IntExpr *inner = coefficient(arena, left ? expr->left : expr->right, var);
    if (!inner || expr->op == INT_ADD || (expr->op == INT_SUB && left))
        return inner;
    return expr->op == INT_MUL ? int_op(arena, INT_MUL, inner, left ? expr->right : expr->left) : NULL;
}

// The variable of a gather's end, the same one for equal gathers.
static int end_of(Prefetch *prefetch, int list, const IntExpr *bytes, int64_t distance) {
    LoopKernel *kernel = prefetch->kernel;
    for (int64_t i = 0; i < prefetch->gathers.count; i++) {
        Gather *gather = &prefetch->gathers.items[i];
        if (gather->list == list && int_equal(gather->bytes, bytes)) {
            gather->distance = gather->distance > distance ? gather->distance : distance;
            return gather->end;
        }
    }
    const LoopVar var = {
        .name = "prefetch_end", .type = VALUE_TYPE_INDEX, .stem_array = list, .stem_var = -1};
    const Gather gather = {list, bytes, distance, loop_add_var(kernel, var)};
    array_push(kernel->arena, prefetch->gathers, gather);
    return gather.end;
}

// Where prefetches are appended, and what they cannot mention: what is bound in the node that comes after.
typedef struct {
    const Entries *entries;
    int64_t var_count;        // that there are yet
    const int *bound;         // by variable: 1 where it is bound there
    const bool *bound_arrays; // by array
    LoopBody *to;
    ValueList *prefetched; // in `to`: the calls, with the coordinate of the current entry
} InsertPoint;

// Part of a row, which the dense loop `row` reads or adds to.
typedef struct {
    const InsertPoint *point;
    const LoopNode *row;
    const IntExpr **values; // as those of the entries, and in the first iteration of `row`
} Part;

static bool contains(const ValueList *values, const Value *value) {
    for (int64_t i = 0; i < values->count; i++)
        if (value_equal(values->items[i], value))
            return true;
    return false;
}

// Prefetches what `row` uses of the array of `element`, for an entry further on.
static void append_prefetch(const Part *part, const Value *element) {
    const Entries *entries = part->point->entries;
    Prefetch *prefetch = entries->prefetch;
    LoopKernel *kernel = prefetch->kernel;
    Arena *arena = kernel->arena;
    const int coordinate = entries->coordinate->var, position = entries->loop->var;
    const int64_t size = (int64_t)type_info(kernel->arrays.items[element->array].type)->size;
    const int64_t bytes = part->row->upper->value * size;
    const IntExpr *at = loop_substitute(arena, element->index, entries->values, prefetch->var_count);
    const IntExpr *unit = coefficient(arena, at, part->row->var);
    const IntExpr *stride = coefficient(arena, at, coordinate);
    at = loop_substitute(arena, at, part->values, prefetch->var_count);
    if (bytes < LEAST_BYTES || bytes > MOST_BYTES || !unit || unit->op != INT_CONST || unit->value != 1 ||
        !stride || loop_depth_of(stride, prefetch->inside) || loop_depth_of(at, part->point->bound) ||
        part->point->bound_arrays[element->array])
        return;
    const Value *current[] = {value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, element->array, at),
                              value_index(arena, int_const(arena, bytes))};
    const Value *prefetched = value_list(arena, VALUE_CALL, VALUE_TYPE_NONE, "distal_prefetch", 2, current);
    if (contains(part->point->prefetched, prefetched))
        return;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(arena, *part->point->prefetched, prefetched);
    const int64_t distance = distance_of(bytes);
    const IntExpr *further = int_op(arena, INT_ADD, int_var(arena, position), int_const(arena, distance));
    const int end =
        end_of(prefetch, entries->list, int_op(arena, INT_MUL, stride, int_const(arena, size)), distance);
    const LoopArray *list = &kernel->arrays.items[entries->list];
    LoopNode *any = loop_node(arena, LOOP_IF);
    any->value = value_less(arena, int_var(arena, position), int_var(arena, end));
    const IntExpr **next = arena_array(arena, const IntExpr *, prefetch->var_count);
    next[coordinate] = loop_append_let(
        kernel, &any->body, "prefetched", coordinate,
        value_convert(arena, value_element(arena, VALUE_LOAD, (int)list->type, entries->list, further),
                      VALUE_TYPE_INDEX));
    const Value *operands[] = {value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, element->array,
                                             loop_substitute(arena, at, next, prefetch->var_count)),
                               current[1]};
    LoopNode *call = loop_node(arena, LOOP_CALL);
    call->value = value_list(arena, VALUE_CALL, VALUE_TYPE_NONE, "distal_prefetch", 2, operands);
    loop_append(arena, &any->body, call);
    loop_append(arena, part->point->to, any);
}

// The value of a variable, from here on.
static void add_value(const Entries *entries, const LoopNode *node) {
    const Prefetch *prefetch = entries->prefetch;
    if (node->kind == LOOP_LET && node->value->kind == VALUE_INDEX)
        entries->values[node->var] = loop_substitute(prefetch->kernel->arena, node->value->index,
                                                     entries->values, prefetch->var_count);
}

// With definitions of its own: of a variable that several loops bind, those in the body of one of them are
// not for the others.
static Entries scope_of(const Entries *entries) {
    Entries scope = *entries;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    const size_t size = sizeof *entries->values * (size_t)entries->prefetch->var_count;
    scope.values = arena_copy(entries->prefetch->kernel->arena, entries->values, size);
    return scope;
}

static InsertPoint insert_point_before(const Entries *entries, const LoopNode *node, LoopBody *to) {
    const LoopKernel *kernel = entries->prefetch->kernel;
    const LoopBody nodes = loop_nodes(kernel->arena, node);
    int *bound = arena_array(kernel->arena, int, kernel->vars.count);
    bool *bound_arrays = arena_array(kernel->arena, bool, kernel->arrays.count);
    for (int64_t i = 0; i < nodes.count; i++) {
        const LoopNode *inside = nodes.items[i];
        if (inside->var >= 0)
            bound[inside->var] = 1;
        if (inside->array >= 0 && loop_kind(inside->kind)->fields & BINDS_ARRAY)
            bound_arrays[inside->array] = true;
        if (inside->kind == LOOP_TEAM)
            bound_arrays[inside->own] = true;
    }
    return (InsertPoint){
        entries, kernel->vars.count, bound, bound_arrays, to, arena_array(kernel->arena, ValueList, 1)};
}

// Prefetches the rows that a dense loop of known length reads or adds to.
static void prefetch_rows(const InsertPoint *outer, const LoopNode *row) {
    const Entries entries = scope_of(outer->entries);
    InsertPoint point = *outer;
    point.entries = &entries;
    Prefetch *prefetch = entries.prefetch;
    Arena *arena = prefetch->kernel->arena;
    const LoopBody nodes = loop_nodes(arena, row);
    const IntExpr **values = arena_array(arena, const IntExpr *, prefetch->var_count);
    ValueList elements = {0};
    values[row->var] = int_const(arena, 0);
    for (int64_t i = 0; i < nodes.count; i++) {
        const LoopNode *node = nodes.items[i];
        ValueList used = loop_values(arena, node);
        add_value(&entries, node);
        if (node->kind == LOOP_ACCUMULATE && node->position)
            array_push(arena, used, // NOLINT(bugprone-sizeof-expression): the array holds pointers
                       value_element(arena, VALUE_LOAD, node->value->type, node->array, node->position));
        for (int64_t v = 0; v < used.count; v++) {
            const Value *element = used.items[v];
            const bool updated = node->kind == LOOP_ACCUMULATE && element->array == node->array;
            if (element->kind != VALUE_LOAD || !element->index ||
                (prefetch->kernel->arrays.items[element->array].written && !updated) ||
                contains(&elements, element))
                continue;
            // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
            array_push(arena, elements, element);
            append_prefetch(&(Part){&point, row, values}, element);
        }
    }
}

static bool is_known(const LoopNode *loop) {
    return loop->kind == LOOP_FOR && loop->lower->op == INT_CONST && loop->lower->value == 0 &&
           loop->upper->op == INT_CONST && loop->step == 1;
}

static bool is_over_blocks(const LoopNode *node) {
    return node->kind == LOOP_FOR && node->step != 1;
}

static const IntExpr *with_values(void *context, const IntExpr *expr) {
    const Entries *entries = context;
    return loop_substitute(entries->prefetch->kernel->arena, expr, entries->values,
                           entries->prefetch->var_count);
}

// Whether a node around rows can be around their prefetches, too: blocks, and conditions that are known
// there.
static bool is_known_before(const InsertPoint *point, const LoopNode *node) {
    Arena *arena = point->entries->prefetch->kernel->arena;
    const ValueList values = loop_values(arena, node);
    for (int64_t v = 0; v < values.count; v++)
        if (values.items[v]->array >= 0)
            return false;
    return (is_over_blocks(node) || node->kind == LOOP_IF) && loop_node_depth(arena, node, point->bound) == 0;
}

// Inside of a copy of `node` that is around prefetches: blocks have their variable there.
static InsertPoint point_within(const InsertPoint *point, const LoopNode *node, LoopBody *to) {
    Arena *arena = point->entries->prefetch->kernel->arena;
    int *bound = arena_copy(arena, point->bound, sizeof(int) * (size_t)point->var_count);
    if (is_over_blocks(node))
        bound[node->var] = 0;
    return (InsertPoint){
        point->entries, point->var_count, bound, point->bound_arrays, to, arena_array(arena, ValueList, 1)};
}

static bool uses_variable(const LoopKernel *kernel, const LoopBody *nodes, int var) {
    bool found = false;
    for (int64_t i = 0; i < nodes->count; i++)
        found = found || loop_uses_within(kernel, nodes->items[i]).vars[var];
    return found;
}

// `node`, of blocks or a condition, around prefetches: these are no part of the sums that it computes.
static LoopNode *around_prefetches(Arena *arena, const LoopNode *node, LoopBody prefetches) {
    LoopNode *copy = loop_with_body(arena, node, prefetches);
    copy->execution = (LoopExecution){0};
    return copy;
}

// Prefetches the rows that loops in a body use, before all of it.
static void prefetch_before(const InsertPoint *outer, const LoopBody *body) {
    Entries entries = scope_of(outer->entries);
    InsertPoint point = *outer;
    point.entries = &entries;
    Arena *arena = entries.prefetch->kernel->arena;
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        add_value(&entries, node);
        if (is_known(node)) {
            prefetch_rows(&point, node);
            continue;
        }
        LoopBody inside = {0};
        const LoopNode *around = loop_map_ints(arena, node, with_values, &entries);
        const bool is_known_there = is_known_before(&point, around);
        InsertPoint within = point_within(&point, node, &inside);
        if (!is_known_there && !is_over_blocks(node))
            within.prefetched = point.prefetched;
        prefetch_before(&within, &node->body);
        const bool of_blocks =
            is_over_blocks(node) && uses_variable(entries.prefetch->kernel, &inside, node->var);
        if (inside.count > 0 && is_known_there && (of_blocks || node->kind == LOOP_IF))
            loop_append(arena, point.to, around_prefetches(arena, around, inside));
        else if (!of_blocks)
            loop_append_all(arena, point.to, inside);
    }
}

// The nodes of a loop over entries, where loops over rows, and over blocks of them, prefetch. What other
// loops use of the row of an entry is prefetched before them.
static LoopBody with_prefetches(const Entries *around, const LoopBody *body) {
    const Entries entries = scope_of(around);
    Arena *arena = entries.prefetch->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const InsertPoint point = insert_point_before(&entries, node, &result);
        add_value(&entries, node);
        if (is_known(node)) {
            prefetch_rows(&point, node);
        } else if (node->kind == LOOP_IF || is_over_blocks(node)) {
            node = loop_with_body(arena, node, with_prefetches(&entries, &node->body));
        } else {
            LoopBody single = {0};
            loop_append(arena, &single, node);
            prefetch_before(&point, &single);
        }
        loop_append(arena, &result, node);
    }
    return result;
}

static LoopBody prefetch_body(Prefetch *prefetch, const LoopBody *body) {
    Arena *arena = prefetch->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *loop = body->items[i];
        LoopBody inside = prefetch_body(prefetch, &loop->body);
        for (int64_t k = 0; loop->kind == LOOP_FOR && loop->step == 1 && k < loop->body.count; k++) {
            const int list = list_of(prefetch, loop, loop->body.items[k]);
            if (list < 0)
                continue;
            const IntExpr **values = arena_array(arena, const IntExpr *, prefetch->var_count);
            inside = with_prefetches(&(Entries){prefetch, loop, loop->body.items[k], list, values}, &inside);
        }
        loop_append(arena, &result, loop_with_body(arena, loop, inside));
    }
    return result;
}

static int count_of(Prefetch *prefetch, int array) {
    const LoopLevelArray *list = &prefetch->arrays[array];
    if (prefetch->counts[array] < 0)
        prefetch->counts[array] =
            loop_add_var(prefetch->kernel,
                         (LoopVar){.name = arena_printf(prefetch->kernel->arena, "count%d", list->level + 1),
                                   .type = VALUE_TYPE_INDEX,
                                   .stem_array = list->view,
                                   .stem_var = -1});
    return prefetch->counts[array];
}

// The definition of the end of a gather.
static const LoopNode *define_end(Prefetch *prefetch, const Gather *gather) {
    Arena *arena = prefetch->kernel->arena;
    const bool wide = prefetch->kernel->arrays.items[gather->list].type == TYPE_I64;
    const Value *operands[] = {
        value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, gather->list, int_const(arena, 0)),
        value_index(arena, int_var(arena, count_of(prefetch, gather->list))),
        value_index(arena, gather->bytes), value_index(arena, int_const(arena, gather->distance))};
    return loop_let(arena, gather->end,
                    value_list(arena, VALUE_CALL, VALUE_TYPE_INDEX,
                               wide ? "distal_prefetch_end_i64" : "distal_prefetch_end_i32", 4, operands));
}

// A leaf with prefetches, whose ends are defined in `to`; NULL: in the leaf.
static const LoopNode *prefetch_leaf(Prefetch *prefetch, const LoopNode *leaf, LoopBody *to) {
    Arena *arena = prefetch->kernel->arena;
    const LoopBody nodes = loop_nodes(arena, leaf);
    prefetch->inside = arena_array(arena, int, prefetch->var_count);
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->var >= 0)
            prefetch->inside[nodes.items[i]->var] = 1;
    prefetch->gathers.count = 0;
    const LoopBody loops = prefetch_body(prefetch, &leaf->body);
    LoopBody body = {0};
    for (int64_t i = 0; i < prefetch->gathers.count; i++)
        loop_append(arena, to ? to : &body, define_end(prefetch, &prefetch->gathers.items[i]));
    loop_append_all(arena, &body, loops);
    return loop_with_body(arena, leaf, body);
}

// The ends of leaves are defined in `to`; NULL: in the leaves. The lists are the same for all ranges of rows,
// so the ends of the leaves in a ROWS are defined before it.
static LoopBody prefetch_leaves(Prefetch *prefetch, const LoopBody *body, LoopBody *to) {
    Arena *arena = prefetch->kernel->arena;
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_LEAF)
            node = prefetch_leaf(prefetch, node, to);
        else
            node = loop_with_body(
                arena, node, prefetch_leaves(prefetch, &node->body, node->kind == LOOP_ROWS ? &result : to));
        loop_append(arena, &result, node);
    }
    return result;
}

// Views bind the lengths of lists.
static void bind_counts(void *context, const LoopNode *node, LoopBody *to) {
    const Prefetch *prefetch = context;
    Arena *arena = prefetch->kernel->arena;
    LoopNode *copy = arena_copy(arena, node, sizeof *node);
    LoopField *fields = arena_array(arena, LoopField, node->field_count + node->view_array_count);
    for (int f = 0; f < node->field_count; f++)
        fields[f] = node->fields[f];
    for (int a = 0; a < node->view_array_count; a++) {
        const LoopViewArray *array = &node->view_arrays[a];
        if (prefetch->counts[array->array] >= 0)
            fields[copy->field_count++] = (LoopField){prefetch->counts[array->array], NULL, array->level};
    }
    copy->fields = fields;
    loop_append(arena, to, copy);
}

const LoopKernel *loop_pass_prefetch(const LoopKernel *before) {
    Arena *arena = before->arena;
    Prefetch prefetch = {.kernel = loop_kernel_copy(before),
                         .var_count = before->vars.count,
                         .arrays = loop_level_arrays(before),
                         .counts = arena_array(arena, int, before->arrays.count)};
    for (int64_t a = 0; a < before->arrays.count; a++)
        prefetch.counts[a] = -1;
    LoopKernel *kernel = prefetch.kernel;
    kernel->body = prefetch_leaves(&prefetch, &before->body, NULL);
    kernel->body = loop_rewrite(arena, &kernel->body, bind_counts, &prefetch);
    return kernel;
}
