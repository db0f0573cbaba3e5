// SPDX-License-Identifier: BSD-3-Clause
// Merge-path load balancing of loops whose iterations have different numbers of entries below them, which a
// list of positions says, such as those over the rows of a sparse matrix: threads share iterations plus
// entries (Merrill, Garland 2016), in portions of whole iterations. Of portions with equal numbers of rows,
// one could have most of all entries. Threads share the entries of rows that have a good part of all.
#include "loop/hoist.h"
#include "loop/long_rows.h"
#include "loop/passes.h"
#include "loop/ranges.h"

typedef struct {
    LoopKernel *kernel;
    const LoopLevelArray *arrays;
    int *owns; // by variable of a loop in a team: the array of each thread; -1 for others
} Portions;

// Where an array of positions is read at one iteration: element `at` of `array`. There it has the bounds of
// the fiber of the iteration.
typedef struct {
    int array;
    const IntExpr *at; // NULL: nothing is found
    int begin, end;    // variables that are defined by it
} FiberBounds;

// Whether `at` is the variable of the loop plus what does not change in it.
static bool is_offset_of(const IntExpr *at, int var, const int *inside) {
    if (at->op == INT_VAR && at->value == var)
        return true;
    if (at->op != INT_ADD && at->op != INT_SUB)
        return false;
    const bool left = loop_depth_of(at->left, inside) > 0, right = loop_depth_of(at->right, inside) > 0;
    return left != right && (left || at->op == INT_ADD) &&
           is_offset_of(left ? at->left : at->right, var, inside);
}

// Whether a definition looks up a bit of a level.
static bool is_bit(const Portions *portions, const LoopNode *let) {
    const ValueList values = loop_values(portions->kernel->arena, let);
    for (int64_t v = 0; v < values.count; v++)
        if (values.items[v]->array >= 0 && portions->arrays[values.items[v]->array].kind == LEVEL_ARRAY_BITS)
            return true;
    return false;
}

// The definitions in a body, and in those of its IFs that test a bit of a level: the level has a position for
// each iteration, so lists below it can be read where the bit is not set as well. Other conditions may be
// that there are such positions.
static void add_definitions(const Portions *portions, const LoopBody *body, bool *bits, LoopBody *to) {
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_LET) {
            loop_append(portions->kernel->arena, to, node);
            bits[node->var] = is_bit(portions, node);
        } else if (node->kind == LOOP_IF && node->value->kind == VALUE_VAR && bits[node->value->var]) {
            add_definitions(portions, &node->body, bits, to);
        }
    }
}

// The first list of positions of which a loop reads the element of its iteration and the one after it.
static FiberBounds fiber_bounds(const Portions *portions, const LoopNode *loop) {
    Arena *arena = portions->kernel->arena;
    const int64_t var_count = portions->kernel->vars.count;
    const IntExpr **values = arena_array(arena, const IntExpr *, var_count);
    int *inside = arena_array(arena, int, var_count);
    Array(FiberBounds) read = {0};
    const LoopBody nodes = loop_nodes(arena, loop);
    for (int64_t i = 0; i < nodes.count; i++)
        if (nodes.items[i]->var >= 0)
            inside[nodes.items[i]->var] = 1;
    LoopBody definitions = {0};
    add_definitions(portions, &loop->body, arena_array(arena, bool, var_count), &definitions);
    for (int64_t i = 0; i < definitions.count; i++) {
        const LoopNode *node = definitions.items[i];
        if (node->value->kind == VALUE_INDEX)
            values[node->var] = loop_substitute(arena, node->value->index, values, var_count);
        const Value *value = node->value->kind == VALUE_CONVERT ? node->value->operands[0] : node->value;
        if (value->kind != VALUE_LOAD || portions->arrays[value->array].kind != LEVEL_ARRAY_POSITIONS)
            continue;
        const IntExpr *at = loop_substitute(arena, value->index, values, var_count);
        for (int64_t r = 0; r < read.count; r++)
            if (read.items[r].array == value->array &&
                int_equal(at, int_op(arena, INT_ADD, read.items[r].at, int_const(arena, 1)))) {
                read.items[r].end = node->var;
                return read.items[r];
            }
        if (is_offset_of(at, loop->var, inside))
            array_push(arena, read, ((FiberBounds){value->array, at, node->var, -1}));
    }
    return (FiberBounds){0};
}

// A loop whose iterations the runtime divides, and how many: operands of its calls.
typedef struct {
    const Portions *portions;
    const LoopNode *node;
    const Value *pos, *count, *work, *portion_count, *shared_count;
    const LoopRanges *ranges; // NULL: whole rows are visited
} Division;

static const IntExpr *append_call(const Division *division, const char *var, const char *call,
                                  int operand_count, const Value *const *operands, LoopBody *to) {
    LoopKernel *kernel = division->portions->kernel;
    return loop_append_let(
        kernel, to, var, division->node->var,
        value_list(kernel->arena, VALUE_CALL, VALUE_TYPE_INDEX, call, operand_count, operands));
}

// A loop over portions, with `body` for each iteration of a portion.
static LoopNode *portions_of(const Division *division, const IntExpr *first, const IntExpr *last,
                             LoopBody body) {
    LoopKernel *kernel = division->portions->kernel;
    Arena *arena = kernel->arena;
    const LoopNode *node = division->node;
    LoopNode *loop = loop_with_body(arena, node, body), *portions = loop_node(arena, LOOP_FOR);
    portions->var = loop_add_index(kernel, "portion", node->var);
    portions->lower = first;
    portions->upper = last;
    const Value *const operands[] = {division->pos, division->count, division->portion_count,
                                     division->shared_count,
                                     value_index(arena, int_var(arena, portions->var))};
    loop->lower =
        int_op(arena, INT_ADD, node->lower,
               append_call(division, "begin", "distal_portion_begin", 5, operands, &portions->body));
    loop->upper = int_op(arena, INT_ADD, node->lower,
                         append_call(division, "end", "distal_portion_end", 5, operands, &portions->body));
    loop->execution =
        (LoopExecution){.distinct = node->execution.distinct, .permutable = node->execution.permutable};
    if (division->ranges)
        loop_append_ranges(division->ranges, loop, &portions->body);
    else
        loop_append(arena, &portions->body, loop);
    return portions;
}

// Appends a loop over the same iterations, portion after portion, and before it one over long rows, of which
// threads share the entries.
static void append_divided(Division *division, FiberBounds bounds, LoopBody *to) {
    LoopKernel *kernel = division->portions->kernel;
    Arena *arena = kernel->arena;
    const LoopNode *node = division->node;
    const LoopRows rows = {
        kernel, node, bounds.begin, bounds.end, node->execution.each, division->portions->owns[node->var]};
    const IntExpr *zero = int_const(arena, 0);
    const Value *operands[] = {division->pos, division->count, division->work, division->work};
    division->portion_count = operands[2] =
        value_index(arena, append_call(division, "portions", "distal_portions", 3, operands, to));
    division->shared_count = value_index(arena, zero);
    LoopBody body = {0};
    if (loop_share_rows(&rows, &body)) {
        const IntExpr *shared = append_call(division, "shared", "distal_shared_portions", 4, operands, to);
        division->shared_count = value_index(arena, shared);
        loop_append(arena, to, portions_of(division, int_op(arena, INT_SUB, zero, shared), zero, body));
    }
    LoopRanges ranges = {.rows = &rows,
                         .array = bounds.array,
                         .at = bounds.at,
                         .positions = division->pos,
                         .count = division->count};
    if (loop_find_ranges(&ranges, to)) {
        division->ranges = &ranges;
        const Value *const of[] = {division->portion_count, value_index(arena, ranges.ranges)};
        division->portion_count =
            value_index(arena, append_call(division, "portions", "distal_ranged_portions", 2, of, to));
    }
    LoopNode *loop = portions_of(division, zero, division->portion_count->index, node->body);
    division->ranges = NULL;
    loop->execution = node->execution;
    loop->execution.work = division->work->index;
    loop->execution.each = NULL;
    loop->execution.uneven = false;
    loop->execution.portions = true;
    loop_append(arena, to, loop);
}

// A team whose threads share nothing but one loop has the work of this loop.
static void append_team(Arena *arena, const LoopNode *team, LoopBody *to) {
    LoopNode *rest = arena_copy(arena, loop_hoist_definitions(arena, team, to), sizeof *rest);
    const LoopNode *loop = NULL;
    for (int64_t i = 0; i < rest->body.count; i++)
        loop = rest->body.items[i]->kind == LOOP_FOR && (!loop || !loop->execution.thread)
                   ? rest->body.items[i]
                   : NULL;
    if (loop && loop->execution.thread && loop->execution.work)
        rest->execution.work = loop->execution.work;
    loop_append(arena, to, rest);
}

static void divide(void *context, const LoopNode *node, LoopBody *to) {
    const Portions *portions = context;
    LoopKernel *kernel = portions->kernel;
    Arena *arena = kernel->arena;
    const LoopExecution *execution = &node->execution;
    FiberBounds bounds = {0};
    if (node->kind == LOOP_FOR && execution->thread && execution->uneven && node->step == 1)
        bounds = fiber_bounds(portions, node);
    if (node->kind == LOOP_TEAM)
        append_team(arena, node, to);
    else if (!bounds.at)
        loop_append(arena, to, node);
    if (!bounds.at)
        return;
    const IntExpr **first = arena_array(arena, const IntExpr *, kernel->vars.count);
    first[node->var] = node->lower;
    const Value *operands[] = {value_element(arena, VALUE_ADDRESS, VALUE_TYPE_ADDRESS, bounds.array,
                                             loop_substitute(arena, bounds.at, first, kernel->vars.count)),
                               value_index(arena, int_op(arena, INT_SUB, node->upper, node->lower)),
                               value_index(arena, execution->each)};
    const IntExpr *work =
        loop_append_let(kernel, to, "work", node->var,
                        value_list(arena, VALUE_CALL, VALUE_TYPE_INDEX, "distal_work", 3, operands));
    if (!execution->vector && !execution->unroll && execution->sum_count == 0) {
        Division division = {.portions = portions,
                             .node = node,
                             .pos = operands[0],
                             .count = operands[1],
                             .work = value_index(arena, work)};
        append_divided(&division, bounds, to);
    } else {
        LoopNode *copy = loop_with_body(arena, node, node->body);
        copy->execution.work = work;
        copy->execution.each = NULL;
        loop_append(arena, to, copy);
    }
}

// Marks the loops in teams by the arrays of the threads.
static void find_teams(const Portions *portions, const LoopBody *body, int own) {
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        if (node->kind == LOOP_FOR)
            portions->owns[node->var] = own;
        find_teams(portions, &node->body, node->kind == LOOP_TEAM ? node->own : own);
    }
}

const LoopKernel *loop_pass_portions(const LoopKernel *before) {
    // What does not depend on the row is defined before there are two loops over rows.
    LoopKernel *kernel = loop_kernel_copy(loop_hoist(before, NULL));
    Portions portions = {kernel, loop_level_arrays(kernel),
                         arena_array(before->arena, int, kernel->vars.count)};
    find_teams(&portions, &kernel->body, -1);
    kernel->body = loop_rewrite(before->arena, &kernel->body, divide, &portions);
    return kernel;
}
