// SPDX-License-Identifier: BSD-3-Clause
#include "lower/assembly_append.h"

#include "distal_kernel.h"

static int add_array(const LeafBuilder *leaf, const char *what, int level, LoopArray array) {
    LoopKernel *kernel = leaf->builder->kernel;
    const char *tensor = leaf->leaf->assign->lhs->tensor->name;
    array.name = level < 0 ? arena_printf(kernel->arena, "%s_%s", tensor, what)
                           : arena_printf(kernel->arena, "%s_%s%d", tensor, what, level + 1);
    array.written = true;
    return loop_add_array(kernel, array);
}

void assembly_begin(LeafBuilder *leaf) {
    Assembly *assembly = arena_new(leaf->builder->arena, Assembly);
    *assembly = assembly_of(leaf->builder->spmd, leaf->leaf);
    leaf->assembly = assembly;
    if (assembly->kind == ASSEMBLY_ANY || !leaf->builder->structure)
        return;
    static const char *const names[] = {
        [APPEND_PARENTS] = "parents", [APPEND_BEGINS] = "begins", [APPEND_COORDINATES] = "crd"};
    for (int i = 0; i < assembly->lists.count; i++) {
        const AppendList *list = &assembly->lists.lists[i];
        assembly->arrays[i] =
            add_array(leaf, names[list->kind], list->level,
                      (LoopArray){.type = list->wide ? TYPE_I64 : TYPE_I32, .growth = LOOP_LIST});
    }
    assembly->all = add_array(leaf, "lists", -1, (LoopArray){.type = TYPE_I64});
    for (int l = 0; l < leaf->leaf->assign->lhs->tensor->order; l++)
        assembly->last[l] = assembly->parents[l] = -1;
    if (assembly->kind == ASSEMBLY_ROWS)
        assembly->set = add_array(leaf, "row", -1, (LoopArray){.type = TYPE_I64, .growth = LOOP_SET});
}

static void append(const LeafBuilder *leaf, LoopBody *to, const LoopNode *node) {
    loop_append(leaf->builder->arena, to, node);
}

// The new element has the type of the list.
static void push(const LeafBuilder *leaf, int list, const Value *value, LoopBody *to) {
    Arena *arena = leaf->builder->arena;
    const bool wide = leaf->assembly->lists.lists[list].wide;
    append(leaf, to,
           loop_update(arena, LOOP_PUSH, leaf->assembly->arrays[list], NULL,
                       value_convert(arena, value, wide ? TYPE_I64 : TYPE_I32)));
}

static const Value *count_of(const LeafBuilder *leaf, int array) {
    return value_element(leaf->builder->arena, VALUE_COUNT, VALUE_TYPE_INDEX, array, NULL);
}

static int transfer_of(const LeafBuilder *leaf) {
    return (int)(build_view(leaf->builder, leaf->leaf->assign->lhs, TRANSFER_REDUCE) - leaf->builder->views);
}

// Scalars are made when they are first needed, and set before the outermost loop.
static int scalar_of(const LeafBuilder *leaf, int *scalars, const char *what, int level) {
    if (scalars[level] < 0)
        scalars[level] = add_array(leaf, what, level, (LoopArray){.type = TYPE_I64, .scalar = true});
    return scalars[level];
}

static void set_scalar(const LeafBuilder *leaf, int scalar, const IntExpr *value, LoopBody *to) {
    Arena *arena = leaf->builder->arena;
    append(leaf, to, loop_update(arena, LOOP_STORE, scalar, NULL, value_index(arena, value)));
}

static const Value *is_greater(const LeafBuilder *leaf, const IntExpr *value, int scalar) {
    Arena *arena = leaf->builder->arena;
    const Value *last = value_element(arena, VALUE_LOAD, TYPE_I64, scalar, NULL);
    return value_op(arena, VALUE_LESS, VALUE_TYPE_CONDITION, value_convert(arena, last, VALUE_TYPE_INDEX),
                    value_index(arena, value));
}

static const IntExpr *let(const LeafBuilder *leaf, const char *name, const Value *value, LoopBody *to) {
    LoopKernel *kernel = leaf->builder->kernel;
    const char *tensor = leaf->leaf->assign->lhs->tensor->name;
    return loop_append_let(kernel, to, arena_printf(kernel->arena, "%s_%s", tensor, name), -1, value);
}

// Levels that share their positions: those from `head` on, the first with coordinates of its own after dense
// levels from `first` on.
typedef struct {
    int first, head, end; // to before `end`
    bool last;            // no level after it has coordinates
} Group;

static bool next_group(const LeafBuilder *leaf, Group *group) {
    const Tensor *tensor = leaf->leaf->assign->lhs->tensor;
    const AppendLists *lists = &leaf->assembly->lists;
    const int last = append_last_level(lists);
    group->first = group->head = group->end;
    if (group->first > last)
        return false;
    while (append_list(lists, group->head, APPEND_COORDINATES) < 0)
        group->head++;
    group->end = group->head + 1;
    while (tensor->levels[group->end - 1].nonunique)
        group->end++;
    group->last = group->end > last;
    return true;
}

static const IntExpr *coordinate_of(const LeafBuilder *leaf, int level) {
    const Access *result = leaf->leaf->assign->lhs;
    return int_var(leaf->builder->arena, result->vars[result->tensor->mode_order[level]]);
}

// The position above a group with dense levels, where the last coordinate pushed in level `above` is that of
// the entry; -1: none.
static const IntExpr *locate_parent(const LeafBuilder *leaf, const Group *group, int above, LoopBody *to) {
    Arena *arena = leaf->builder->arena;
    const Tensor *tensor = leaf->leaf->assign->lhs->tensor;
    const Assembly *assembly = leaf->assembly;
    const IntExpr *position = NULL;
    if (above >= 0) {
        const int list = append_list(&assembly->lists, above, APPEND_COORDINATES);
        position = int_op(arena, INT_SUB, let(leaf, "count", count_of(leaf, assembly->arrays[list]), to),
                          int_const(arena, 1));
    }
    for (int l = group->first; l < group->head; l++) {
        const Level level = {.type = tensor->levels[l],
                             .number = l,
                             .mode = tensor->mode_order[l],
                             .extent = tensor->extents[tensor->mode_order[l]]};
        position = level.type.format->locate(arena, &level, position, coordinate_of(leaf, l));
    }
    // cppcheck-suppress returnDanglingLifetime // the position is in the arena
    return position;
}

static bool is_row(const LeafBuilder *leaf, const Group *group) {
    return group->last && leaf->assembly->kind == ASSEMBLY_ROWS;
}

// Whether an entry may have the same coordinates in the group as the one before it.
static bool is_compared(const LeafBuilder *leaf, const Group *group) {
    return !is_row(leaf, group) && (!group->last || leaf->assembly->repeats);
}

// Entries below another position than those before.
static void push_begin(LeafBuilder *leaf, const Group *group, LoopBody *to) {
    const AppendLists *lists = &leaf->assembly->lists;
    const int coordinates = append_list(lists, group->head, APPEND_COORDINATES);
    push(leaf, append_list(lists, group->head, APPEND_BEGINS),
         count_of(leaf, leaf->assembly->arrays[coordinates]), to);
    for (int l = group->head; l < group->end && is_compared(leaf, group); l++)
        set_scalar(leaf, scalar_of(leaf, leaf->assembly->last, "last", l),
                   int_const(leaf->builder->arena, -1), to);
}

static void begin_group(LeafBuilder *leaf, const Group *group, int above, LoopBody *inside, LoopBody *to) {
    if (group->head == 0)
        return;
    if (group->head == group->first) {
        push_begin(leaf, group, inside);
        return;
    }
    const IntExpr *parent = locate_parent(leaf, group, above, to);
    if (parent->left)
        parent = let(leaf, "above", value_index(leaf->builder->arena, parent), to);
    if (!is_row(leaf, group)) {
        const int scalar = scalar_of(leaf, leaf->assembly->parents, "parent", group->head);
        const Value *condition = is_greater(leaf, parent, scalar);
        to = build_if(leaf, &condition, 1, to);
        set_scalar(leaf, scalar, parent, to);
    }
    push(leaf, append_list(&leaf->assembly->lists, group->head, APPEND_PARENTS),
         value_index(leaf->builder->arena, parent), to);
    push_begin(leaf, group, to);
}

// The coordinates of a group, where they are new; what is inside of that.
static LoopBody *push_coordinates(LeafBuilder *leaf, const Group *group, LoopBody *to) {
    Arena *arena = leaf->builder->arena;
    const bool compared = is_compared(leaf, group);
    const Value *conditions[MAX_ORDER] = {NULL};
    for (int l = group->head; l < group->end && compared; l++)
        conditions[l - group->head] =
            is_greater(leaf, coordinate_of(leaf, l), scalar_of(leaf, leaf->assembly->last, "last", l));
    if (compared) {
        const int count = group->end - group->head;
        const Value *any = count == 1
                               ? conditions[0]
                               : value_list(arena, VALUE_OR, VALUE_TYPE_CONDITION, NULL, count, conditions);
        to = build_if(leaf, &any, 1, to);
    }
    for (int l = group->head; l < group->end; l++) {
        if (compared)
            set_scalar(leaf, leaf->assembly->last[l], coordinate_of(leaf, l), to);
        push(leaf, append_list(&leaf->assembly->lists, l, APPEND_COORDINATES),
             value_index(arena, coordinate_of(leaf, l)), to);
    }
    return to;
}

// The coordinates of the set; levels that share their positions get theirs as often.
static void push_row(LeafBuilder *leaf, const Group *group, LoopBody *to) {
    LoopKernel *kernel = leaf->builder->kernel;
    const Assembly *assembly = leaf->assembly;
    const int last = assembly->arrays[append_list(&assembly->lists, group->end - 1, APPEND_COORDINATES)];
    const bool shared = group->end - group->head > 1;
    const IntExpr *before = shared ? let(leaf, "before", count_of(leaf, last), to) : NULL;
    append(leaf, to,
           loop_update(kernel->arena, LOOP_PUSH, last, NULL,
                       value_element(kernel->arena, VALUE_SET, VALUE_TYPE_NONE, assembly->set, NULL)));
    if (!shared)
        return;
    LoopNode *loop = loop_node(kernel->arena, LOOP_FOR);
    loop->var = loop_add_index(kernel, "entry", -1);
    loop->lower = before;
    loop->upper = let(leaf, "after", count_of(leaf, last), to);
    for (int l = group->head; l < group->end - 1; l++)
        push(leaf, append_list(&assembly->lists, l, APPEND_COORDINATES),
             value_index(kernel->arena, coordinate_of(leaf, l)), &loop->body);
    append(leaf, to, loop);
}

static void push_groups(LeafBuilder *leaf, LoopBody *to) {
    LoopBody *inside = to;
    int above = -1;
    for (Group group = {0}; next_group(leaf, &group); above = group.end - 1) {
        begin_group(leaf, &group, above, inside, to);
        if (is_row(leaf, &group))
            push_row(leaf, &group, to);
        else
            inside = push_coordinates(leaf, &group, to);
    }
}

static void append_any(const LeafBuilder *leaf, LoopBody *to) {
    Arena *arena = leaf->builder->arena;
    const Access *access = leaf->leaf->assign->lhs;
    const Value *coordinates[MAX_ORDER];
    for (int m = 0; m < access->tensor->order; m++)
        coordinates[m] = value_index(arena, int_var(arena, access->vars[m]));
    LoopNode *node = loop_node(arena, LOOP_APPEND);
    node->transfer = transfer_of(leaf);
    node->value =
        value_list(arena, VALUE_COORDINATES, VALUE_TYPE_NONE, NULL, access->tensor->order, coordinates);
    append(leaf, to, node);
}

void assembly_entry(LeafBuilder *leaf, LoopBody *to) {
    const Assembly *assembly = leaf->assembly;
    if (assembly->kind == ASSEMBLY_ANY)
        append_any(leaf, to);
    else if (assembly->kind == ASSEMBLY_ORDERED)
        push_groups(leaf, to);
    else
        append(leaf, to,
               loop_update(leaf->builder->arena, LOOP_INSERT, assembly->set, NULL,
                           value_index(leaf->builder->arena,
                                       coordinate_of(leaf, append_last_level(&assembly->lists)))));
}

void assembly_end_row(LeafBuilder *leaf, LoopBody *to) {
    const Value *any = value_less(leaf->builder->arena, int_const(leaf->builder->arena, 0),
                                  let(leaf, "words", count_of(leaf, leaf->assembly->set), to));
    push_groups(leaf, build_if(leaf, &any, 1, to));
}

bool assembly_adds_to_row(const LeafBuilder *leaf, const Operand *operand) {
    return operand->written && build_stage(leaf->builder)->values_row >= 0 &&
           operand->level == operand->access->tensor->order - 1;
}

void assembly_begin_values(LeafBuilder *leaf, LoopBody *to) {
    const Spmd *spmd = leaf->builder->spmd;
    const Tensor *result = leaf->leaf->assign->lhs->tensor;
    const int number = build_stage(leaf->builder)->values_row;
    const RowWorkspace *row = &spmd->rows[number];
    LoopNode *node = loop_node(leaf->builder->arena, LOOP_WORKSPACE);
    node->stored = true;
    node->array = leaf->written =
        add_array(leaf, "row", -1,
                  (LoopArray){.type = result->type,
                              .extent = row->extents[result->mode_order[result->order - 1]],
                              .number = number});
    append(leaf, to, node);
}

// Lists and scalars of a portion, then what is in it.
static void append_portion(const LeafBuilder *leaf, const IntExpr *portion, LoopBody inside, LoopBody *to) {
    Arena *arena = leaf->builder->arena;
    const Assembly *assembly = leaf->assembly;
    LoopNode *node = loop_node(arena, LOOP_PORTION);
    node->transfer = transfer_of(leaf);
    node->array = assembly->all;
    node->value = value_index(arena, portion);
    LoopViewArray *arrays = arena_array(arena, LoopViewArray, assembly->lists.count);
    for (int i = 0; i < assembly->lists.count; i++)
        arrays[i] = (LoopViewArray){assembly->arrays[i], assembly->lists.lists[i].level, i, LEVEL_ARRAY_NONE};
    node->view_arrays = arrays;
    node->view_array_count = assembly->lists.count;
    if (assembly->kind == ASSEMBLY_ROWS) {
        LoopNode *set = loop_node(arena, LOOP_ROW_SET);
        set->transfer = node->transfer;
        set->array = assembly->set;
        append(leaf, &node->body, set);
    }
    for (int l = 0; l < leaf->leaf->assign->lhs->tensor->order; l++) {
        const int scalars[] = {assembly->parents[l], assembly->last[l]};
        for (int s = 0; s < 2; s++) {
            if (scalars[s] < 0)
                continue;
            LoopNode *workspace = loop_node(arena, LOOP_WORKSPACE);
            workspace->array = scalars[s];
            append(leaf, &node->body, workspace);
            set_scalar(leaf, scalars[s], int_const(arena, -1), &node->body);
        }
    }
    loop_append_all(arena, &node->body, inside);
    append(leaf, to, node);
}

// The first position from `position` on that has another coordinate than the one before it.
static const Value *run_start(Arena *arena, const Level *level, const IntExpr *position, const IntExpr *end) {
    return level->type.format->run_end(arena, level, int_op(arena, INT_SUB, position, int_const(arena, 1)),
                                       end);
}

void assembly_portions(LeafBuilder *leaf, const LoopBody *loops, bool splits, const Level *level,
                       LoopBody *to) {
    LoopKernel *kernel = leaf->builder->kernel;
    Arena *arena = kernel->arena;
    if (!splits) {
        append_portion(leaf, int_const(arena, 0), *loops, to);
        return;
    }
    for (int64_t i = 0; i + 1 < loops->count; i++)
        append(leaf, to, loops->items[i]);
    LoopNode *loop = arena_copy(arena, loops->items[loops->count - 1], sizeof *loop);
    const IntExpr *count = int_op(arena, INT_SUB, loop->upper, loop->lower);
    const IntExpr *size =
        let(leaf, "size",
            value_index(arena, int_at_least_one(arena, int_op(arena, INT_CEIL_DIV, count,
                                                              int_const(arena, DISTAL_MAX_PORTIONS)))),
            to);
    LoopNode *portions = loop_node(arena, LOOP_FOR);
    portions->var = loop_add_index(kernel, "portion", -1);
    portions->lower = int_const(arena, 0);
    portions->upper = int_op(arena, INT_CEIL_DIV, count, size);
    enum { ENTRIES = 16 }; // assumed for each iteration
    portions->execution = (LoopExecution){.distinct = true,
                                          .thread = true,
                                          .portions = true,
                                          .work = int_op(arena, INT_MUL, int_const(arena, ENTRIES), count)};
    const IntExpr *portion = int_var(arena, portions->var);
    const IntExpr *from = int_op(arena, INT_ADD, loop->lower, int_op(arena, INT_MUL, portion, size));
    const IntExpr *end = int_op(arena, INT_MIN, int_op(arena, INT_ADD, from, size), loop->upper);
    const Value *lower = value_index(arena, from), *upper = value_index(arena, end);
    if (level) {
        // All positions with equal coordinates are in the portion of the first of them.
        lower = value_select(arena, value_less(arena, int_const(arena, 0), portion),
                             run_start(arena, level, from, loop->upper), lower);
        upper = run_start(arena, level, end, loop->upper);
    }
    loop->lower = let(leaf, "from", lower, &portions->body);
    loop->upper = let(leaf, "to", upper, &portions->body);
    LoopBody inside = {0};
    append(leaf, &inside, loop);
    append_portion(leaf, portion, inside, &portions->body);
    append(leaf, to, portions);
}
