// SPDX-License-Identifier: BSD-3-Clause
#include "loop/loop.h"

static const LoopKindInfo kinds[LOOP_KIND_COUNT] = {
    [LOOP_PROCESSORS] = {"processors", "for each processor (%d), %v:",
                         HAS_BODY | BINDS_VAR | BINDS_INSIDE | COMMUNICATES, VALUE_TYPE_NONE},
    [LOOP_FOR] = {"for", "for %v in %l .. %u:%x", HAS_BOUNDS | HAS_BODY | BINDS_VAR | BINDS_INSIDE,
                  VALUE_TYPE_NONE},
    [LOOP_WHILE] = {"while", "while %e:", HAS_VALUE | HAS_BODY, VALUE_TYPE_CONDITION},
    [LOOP_IF] = {"if", "if %e:", HAS_VALUE | HAS_BODY, VALUE_TYPE_CONDITION},
    [LOOP_LEAF] = {"leaf", "leaf where %e:  # %c", HAS_VALUE | HAS_BODY | HAS_TEXT, VALUE_TYPE_CONDITION},
    [LOOP_LAUNCH] = {"launch", "launch %g:", HAS_BODY, VALUE_TYPE_NONE},
    [LOOP_TEAM] = {"team", "team, each thread with %o for %a:", HAS_TRANSFER | HAS_BODY | USES_ARRAY,
                   VALUE_TYPE_NONE},
    [LOOP_LET] = {"let", "let %v = %e", HAS_VALUE | BINDS_VAR, VALUE_TYPE_NONE},
    [LOOP_WORKSPACE] = {"workspace", "workspace %a%z", BINDS_ARRAY, VALUE_TYPE_NONE},
    [LOOP_STORE] = {"store", "%a%p = %e", HAS_VALUE | USES_ARRAY, VALUE_TYPE_NONE},
    [LOOP_ACCUMULATE] = {"accumulate", "%a%p %r %e%x", HAS_VALUE | USES_ARRAY, VALUE_TYPE_NONE},
    [LOOP_CALL] = {"call", "%e", HAS_VALUE, VALUE_TYPE_NONE},
    [LOOP_APPEND] = {"append", "append %e to %t", HAS_TRANSFER | HAS_VALUE, VALUE_TYPE_NONE},
    [LOOP_PORTION] = {"portion", "portion %e of %t, %s:", HAS_TRANSFER | HAS_VALUE | HAS_BODY | BINDS_ARRAY,
                      VALUE_TYPE_INDEX},
    [LOOP_ROW_SET] = {"set", "set %a", HAS_TRANSFER | BINDS_ARRAY, VALUE_TYPE_NONE},
    [LOOP_PUSH] = {"push", "push %e to %a", HAS_VALUE | USES_ARRAY, VALUE_TYPE_NONE},
    [LOOP_INSERT] = {"insert", "insert %e into %a", HAS_VALUE | USES_ARRAY, VALUE_TYPE_INDEX},
    [LOOP_START] = {"start", "start %t", HAS_TRANSFER | COMMUNICATES, VALUE_TYPE_NONE},
    [LOOP_WAIT] = {"wait", "%a = wait %t%f", HAS_TRANSFER | BINDS_ARRAY | COMMUNICATES, VALUE_TYPE_NONE},
    [LOOP_VIEW] = {"view", "%a = view %t%f", HAS_TRANSFER | BINDS_ARRAY | COMMUNICATES, VALUE_TYPE_NONE},
    [LOOP_ROWS] = {"rows", "for rows as %t arrives%f:", HAS_TRANSFER | HAS_BODY | COMMUNICATES,
                   VALUE_TYPE_NONE},
    [LOOP_FETCH] = {"fetch", "%a = fetch %t%f", HAS_TRANSFER | BINDS_ARRAY | COMMUNICATES, VALUE_TYPE_NONE},
    [LOOP_AHEAD] = {"ahead", "start next %t", HAS_TRANSFER | COMMUNICATES, VALUE_TYPE_NONE},
    [LOOP_OPEN] = {"open", "%a = open %t%f", HAS_TRANSFER | BINDS_ARRAY | COMMUNICATES, VALUE_TYPE_NONE},
    [LOOP_REDUCE] = {"reduce", "reduce %t", HAS_TRANSFER | COMMUNICATES, VALUE_TYPE_NONE},
    [LOOP_RELEASE] = {"release", "release %t", HAS_TRANSFER | COMMUNICATES, VALUE_TYPE_NONE},
    [LOOP_COMMENT] = {"comment", "# %c", HAS_TEXT, VALUE_TYPE_NONE},
};

const LoopKindInfo *loop_kind(LoopKind kind) {
    return &kinds[kind];
}

int loop_add_var(LoopKernel *kernel, LoopVar var) {
    array_push(kernel->arena, kernel->vars, var);
    return (int)kernel->vars.count - 1;
}

int loop_add_index(LoopKernel *kernel, const char *name, int stem_var) {
    return loop_add_var(
        kernel, (LoopVar){.name = name, .type = VALUE_TYPE_INDEX, .stem_array = -1, .stem_var = stem_var});
}

int loop_add_array(LoopKernel *kernel, LoopArray array) {
    array_push(kernel->arena, kernel->arrays, array);
    return (int)kernel->arrays.count - 1;
}

int loop_gpu_threads(int dims, int dim) {
    static const int threads[GPU_DIMS][GPU_DIMS] = {
        {GPU_THREADS}, {GPU_LANES, GPU_THREADS / GPU_LANES}, {GPU_LANES, 4, 2}};
    return threads[dims - 1][dim];
}

LoopNode *loop_node(Arena *arena, LoopKind kind) {
    LoopNode *node = arena_new(arena, LoopNode);
    *node =
        (LoopNode){.kind = kind, .var = -1, .array = -1, .transfer = -1, .step = 1, .own = -1, .stage = -1};
    return node;
}

const LoopNode *loop_let(Arena *arena, int var, const Value *value) {
    LoopNode *node = loop_node(arena, LOOP_LET);
    node->var = var;
    node->value = value;
    return node;
}

const LoopNode *loop_update(Arena *arena, LoopKind kind, int array, const IntExpr *position,
                            const Value *value) {
    LoopNode *node = loop_node(arena, kind);
    node->array = array;
    node->position = position;
    node->value = value;
    return node;
}

static Value *new_value(Arena *arena, ValueKind kind, int type) {
    Value *value = arena_new(arena, Value);
    *value = (Value){.kind = kind, .type = type, .var = -1, .array = -1};
    return value;
}

const Value *value_index(Arena *arena, const IntExpr *index) {
    Value *value = new_value(arena, VALUE_INDEX, VALUE_TYPE_INDEX);
    value->index = index;
    return value;
}

const Value *value_var(Arena *arena, int type, int var) {
    Value *value = new_value(arena, VALUE_VAR, type);
    value->var = var;
    return value;
}

const Value *value_element(Arena *arena, ValueKind kind, int type, int array, const IntExpr *position) {
    Value *value = new_value(arena, kind, type);
    value->array = array;
    value->index = position;
    return value;
}

const Value *value_number(Arena *arena, int type, double number, int64_t integer, bool is_integer) {
    Value *value = new_value(arena, VALUE_NUMBER, type);
    value->number = number;
    value->integer = integer;
    value->is_integer = is_integer;
    return value;
}

const Value *value_zero(Arena *arena, int type) {
    return value_convert(arena, value_number(arena, (int)type_component((ElementType)type), 0, 0, true),
                         type);
}

const Value *value_select(Arena *arena, const Value *condition, const Value *value, const Value *otherwise) {
    const Value *operands[] = {condition, value, otherwise};
    return value_list(arena, VALUE_SELECT, value->type, NULL, 3, operands);
}

const Value *value_op(Arena *arena, ValueKind kind, int type, const Value *left, const Value *right) {
    const Value *operands[] = {left, right};
    return value_list(arena, kind, type, NULL, right ? 2 : 1, operands);
}

const Value *value_less(Arena *arena, const IntExpr *left, const IntExpr *right) {
    return value_op(arena, VALUE_LESS, VALUE_TYPE_CONDITION, value_index(arena, left),
                    value_index(arena, right));
}

const Value *value_list(Arena *arena, ValueKind kind, int type, const char *name, int count,
                        const Value *const *operands) {
    Value *value = new_value(arena, kind, type);
    value->name = name;
    value->operand_count = count;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    value->operands = arena_copy(arena, operands, sizeof *operands * (size_t)count);
    return value;
}

const Value *value_convert(Arena *arena, const Value *value, int type) {
    return value->type == type ? value : value_op(arena, VALUE_CONVERT, type, value, NULL);
}

void loop_add_sum(Arena *arena, LoopNode *loop, int array) {
    const int count = loop->execution.sum_count;
    int *sums = arena_array(arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        if (loop->execution.sums[i] == array)
            return;
        sums[i] = loop->execution.sums[i];
    }
    sums[count] = array;
    loop->execution.sums = sums;
    loop->execution.sum_count = count + 1;
}

bool value_is_complex(const Value *value) {
    return value->type < TYPE_COUNT && type_info((ElementType)value->type)->is_complex;
}

bool value_equal(const Value *a, const Value *b) {
    if (a->kind != b->kind || a->type != b->type || a->var != b->var || a->array != b->array ||
        a->name != b->name || a->number != b->number || a->integer != b->integer ||
        a->operand_count != b->operand_count || !a->index != !b->index ||
        (a->index && !int_equal(a->index, b->index)))
        return false;
    for (int i = 0; i < a->operand_count; i++)
        if (!value_equal(a->operands[i], b->operands[i]))
            return false;
    return true;
}

typedef struct {
    Arena *arena;
    IntRewrite rewrite;
    void *context;
} IntMap;

static const Value *map_value(Arena *arena, const Value *value, ValueRewrite rewrite, void *context) {
    Value *copy = arena_copy(arena, value, sizeof *value);
    const Value **operands = arena_array(arena, const Value *, value->operand_count);
    for (int i = 0; i < value->operand_count; i++)
        operands[i] = map_value(arena, value->operands[i], rewrite, context);
    copy->operands = operands;
    return rewrite(context, copy);
}

const LoopNode *loop_map_values(Arena *arena, const LoopNode *node, ValueRewrite rewrite, void *context) {
    if (!node->value)
        return node;
    LoopNode *copy = arena_copy(arena, node, sizeof *node);
    copy->value = map_value(arena, node->value, rewrite, context);
    return copy;
}

static const Value *map_index(void *context, const Value *value) {
    const IntMap *map = context;
    if (!value->index)
        return value;
    Value *copy = arena_copy(map->arena, value, sizeof *value);
    copy->index = map->rewrite(map->context, value->index);
    return copy;
}

const LoopNode *loop_map_ints(Arena *arena, const LoopNode *node, IntRewrite rewrite, void *context) {
    IntMap map = {arena, rewrite, context};
    LoopNode *copy = arena_copy(arena, loop_map_values(arena, node, map_index, &map), sizeof *node);
    const IntExpr **const exprs[] = {&copy->lower,          &copy->upper,         &copy->stride,
                                     &copy->position,       &copy->count,         &copy->execution.work,
                                     &copy->execution.each, &copy->execution.call};
    for (size_t i = 0; i < sizeof exprs / sizeof *exprs; i++)
        if (*exprs[i])
            *exprs[i] = rewrite(context, *exprs[i]);
    for (int d = 0; d < GPU_DIMS; d++) {
        copy->blocks[d] = node->blocks[d] ? rewrite(context, node->blocks[d]) : NULL;
        copy->threads[d] = node->threads[d] ? rewrite(context, node->threads[d]) : NULL;
    }
    if (node->kind == LOOP_PROCESSORS) {
        const IntExpr **fixed = arena_array(arena, const IntExpr *, node->dim_count);
        for (int d = 0; d < node->dim_count; d++)
            fixed[d] = node->fixed[d] ? rewrite(context, node->fixed[d]) : NULL;
        copy->fixed = fixed;
    }
    return copy;
}

static void add_nodes(Arena *arena, const LoopNode *node, LoopBody *to) {
    loop_append(arena, to, node);
    for (int64_t i = 0; i < node->body.count; i++)
        add_nodes(arena, node->body.items[i], to);
}

LoopBody loop_nodes(Arena *arena, const LoopNode *node) {
    LoopBody nodes = {0};
    add_nodes(arena, node, &nodes);
    return nodes;
}

static void add_values(Arena *arena, const Value *value, ValueList *to) {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(arena, *to, value);
    for (int i = 0; i < value->operand_count; i++)
        add_values(arena, value->operands[i], to);
}

ValueList loop_values(Arena *arena, const LoopNode *node) {
    ValueList values = {0};
    if (node->value)
        add_values(arena, node->value, &values);
    return values;
}

void loop_append(Arena *arena, LoopBody *body, const LoopNode *node) {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    array_push(arena, *body, node);
}

void loop_append_all(Arena *arena, LoopBody *body, LoopBody nodes) {
    for (int64_t i = 0; i < nodes.count; i++)
        loop_append(arena, body, nodes.items[i]);
}

const IntExpr *loop_append_let(LoopKernel *kernel, LoopBody *body, const char *name, int stem_var,
                               const Value *value) {
    const int var = loop_add_index(kernel, name, stem_var);
    loop_append(kernel->arena, body, loop_let(kernel->arena, var, value));
    return int_var(kernel->arena, var);
}

LoopNode *loop_with_body(Arena *arena, const LoopNode *node, LoopBody body) {
    LoopNode *copy = arena_copy(arena, node, sizeof *node);
    copy->body = body;
    return copy;
}

LoopBody loop_rewrite(Arena *arena, const LoopBody *body, LoopRewrite rewrite, void *context) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->body.count > 0)
            node = loop_with_body(arena, node, loop_rewrite(arena, &node->body, rewrite, context));
        rewrite(context, node, &result);
    }
    return result;
}

const IntExpr *loop_substitute(Arena *arena, const IntExpr *expr, const IntExpr *const *values,
                               int64_t count) {
    if (expr->op == INT_VAR)
        return expr->value < count && values[expr->value] ? values[expr->value] : expr;
    if (!expr->left)
        return expr;
    return int_with_operands(arena, expr, loop_substitute(arena, expr->left, values, count),
                             loop_substitute(arena, expr->right, values, count));
}

bool loop_mentions(const IntExpr *expr, int var) {
    return (expr->op == INT_VAR && expr->value == var) || (expr->left && loop_mentions(expr->left, var)) ||
           (expr->right && loop_mentions(expr->right, var));
}

static int deeper(int depth, int other) {
    return depth > other ? depth : other;
}

int loop_depth_of(const IntExpr *expr, const int *depths) {
    if (expr->op == INT_VAR)
        return depths[expr->value];
    return deeper(expr->left ? loop_depth_of(expr->left, depths) : 0,
                  expr->right ? loop_depth_of(expr->right, depths) : 0);
}

int loop_node_depth(Arena *arena, const LoopNode *node, const int *depths) {
    const IntExpr *const exprs[] = {node->lower, node->upper, node->position};
    const ValueList values = loop_values(arena, node);
    int depth = 0;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    for (size_t i = 0; i < sizeof exprs / sizeof *exprs; i++)
        depth = deeper(depth, exprs[i] ? loop_depth_of(exprs[i], depths) : 0);
    for (int64_t i = 0; i < values.count; i++) {
        const Value *value = values.items[i];
        depth = deeper(depth, value->var >= 0 ? depths[value->var] : 0);
        depth = deeper(depth, value->index ? loop_depth_of(value->index, depths) : 0);
    }
    return depth;
}

static const IntExpr *use(void *context, const IntExpr *expr) {
    LoopUses *uses = context;
    if (expr->op == INT_VAR)
        uses->vars[expr->value] = true;
    if (expr->op == INT_PARAM)
        uses->params[expr->value] = true;
    if (expr->left)
        use(uses, expr->left);
    if (expr->right)
        use(uses, expr->right);
    return expr;
}

static const Value *use_value(void *context, const Value *value) {
    LoopUses *uses = context;
    if (value->var >= 0)
        uses->vars[value->var] = true;
    if (value->array >= 0)
        uses->arrays[value->array] = true;
    return value;
}

void loop_add_uses(Arena *arena, LoopUses *uses, const LoopNode *node) {
    if (loop_kind(node->kind)->fields & USES_ARRAY)
        uses->arrays[node->array] = true;
    loop_map_ints(arena, node, use, uses);
    loop_map_values(arena, node, use_value, uses);
}

LoopUses loop_uses_none(const LoopKernel *kernel) {
    return (LoopUses){arena_array(kernel->arena, bool, kernel->vars.count + 1),
                      arena_array(kernel->arena, bool, kernel->param_count + 1),
                      arena_array(kernel->arena, bool, kernel->arrays.count + 1)};
}

static void add_uses_within(const LoopKernel *kernel, const LoopNode *node, LoopUses *uses) {
    const LoopBody nodes = loop_nodes(kernel->arena, node);
    for (int64_t n = 0; n < nodes.count; n++) {
        const LoopNode *inner = nodes.items[n];
        loop_add_uses(kernel->arena, uses, inner);
        // As many elements as that are set to zero.
        if (inner->kind == LOOP_WORKSPACE && !inner->stored && kernel->arrays.items[inner->array].extent)
            use(uses, kernel->arrays.items[inner->array].extent);
    }
}

LoopUses loop_uses(const LoopKernel *kernel) {
    LoopUses uses = loop_uses_none(kernel);
    for (int64_t i = 0; i < kernel->body.count; i++)
        add_uses_within(kernel, kernel->body.items[i], &uses);
    return uses;
}

LoopUses loop_uses_within(const LoopKernel *kernel, const LoopNode *node) {
    LoopUses uses = loop_uses_none(kernel);
    add_uses_within(kernel, node, &uses);
    return uses;
}
