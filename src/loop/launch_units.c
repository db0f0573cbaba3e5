// SPDX-License-Identifier: BSD-3-Clause
// Launches whose loops have the units that commands give them.
#include "loop/launches.h"

bool launch_has_units(const LoopBody *nodes) {
    for (int64_t i = 0; i < nodes->count; i++)
        if (nodes->items[i]->execution.unit != GPU_NONE)
            return true;
    return false;
}

LoopBody launch_by_one_thread(const Launches *launches, const LoopBody *body) {
    LoopBody result = {0}, alone = {0};
    for (int64_t i = 0; i < body->count; i++) {
        const LoopNode *node = body->items[i];
        const LoopBody nodes = loop_nodes(launches->arena, node);
        if (node->execution.unit == GPU_THREAD || node->kind == LOOP_LET)
            loop_append(launches->arena, alone.count ? &alone : &result, node);
        else if (launch_has_units(&nodes))
            loop_append(launches->arena, &result,
                        loop_with_body(launches->arena, node, launch_by_one_thread(launches, &node->body)));
        else
            loop_append(launches->arena, &alone, node);
    }
    if (alone.count == 0)
        return result;
    LoopNode *thread = launch_loop(launches, "thread", launch_number(launches, 0), launch_number(launches, 1),
                                   GPU_THREAD, 0);
    thread->body = alone;
    loop_append(launches->arena, &result, thread);
    return result;
}

Units launch_units_inside(Units around, const LoopNode *node) {
    around.blocks += node->execution.unit == GPU_BLOCK;
    around.threads += node->execution.unit == GPU_THREAD;
    around.warps = around.warps || node->execution.unit == GPU_WARP;
    return around;
}

static void count_units(const LoopBody *body, Units *units, Units around) {
    for (int64_t i = 0; i < body->count; i++) {
        const Units inside = launch_units_inside(around, body->items[i]);
        units->blocks = inside.blocks > units->blocks ? inside.blocks : units->blocks;
        units->threads = inside.threads > units->threads ? inside.threads : units->threads;
        units->warps = units->warps || inside.warps;
        count_units(&body->items[i]->body, units, inside);
    }
}

Units launch_units_of(const LoopBody *body) {
    Units units = {0};
    count_units(body, &units, units);
    return units;
}

int launch_dim(const Units *units, Units around, const LoopNode *node) {
    switch (node->execution.unit) {
    case GPU_BLOCK:
        return units->blocks - 1 - around.blocks;
    case GPU_WARP:
        return 1;
    default:
        return units->warps ? 0 : units->threads - 1 - around.threads;
    }
}

int launch_thread_dims(const Units *units) {
    return units->warps ? 2 : units->threads;
}

int launch_threads(const Units *units, int dim) {
    return loop_gpu_threads(launch_thread_dims(units), dim);
}

void launch_set_threads(const Launches *launches, const Units *units, LoopNode *launch) {
    for (int d = 0; d < launch_thread_dims(units); d++)
        launch->threads[d] = launch_number(launches, launch_threads(units, d));
}

// What is known before the launch of an extent, at most; NULL: nothing.
static const IntExpr *known_most(const Launches *launches, const IntExpr *extent, const bool *inside) {
    if (!launch_depends(extent, inside))
        return extent;
    if (extent->op != INT_MIN)
        return NULL;
    const IntExpr *left = known_most(launches, extent->left, inside),
                  *right = known_most(launches, extent->right, inside);
    return left && right ? launch_op(launches, INT_MIN, left, right) : left ? left : right;
}

const IntExpr *launch_most_iterations(const Launches *launches, const LoopNode *loop, const bool *inside) {
    const IntExpr *extent = launch_op(launches, INT_SUB, loop->upper, loop->lower);
    return known_most(launches, launch_depends(extent, inside) ? launch_expanded(launches, extent) : extent,
                      inside);
}

const IntExpr *launch_count_units(const Launches *launches, int var, const IntExpr *most,
                                  const IntExpr **left, LoopBody *to) {
    const IntExpr *count = *left ? launch_op(launches, INT_MIN, most, *left) : most;
    count = launch_op(launches, INT_MAX, launch_number(launches, 1), count);
    loop_append(launches->arena, to, loop_let(launches->arena, var, value_index(launches->arena, count)));
    count = int_var(launches->arena, var);
    if (*left)
        *left = launch_op(launches, INT_FLOOR_DIV, *left, count);
    return count;
}

LoopNode *launch_over_units(const Launches *launches, LoopNode *loop, const IntExpr *count,
                            const IntExpr **number) {
    static const char *const names[] = {[GPU_BLOCK] = "block", [GPU_WARP] = "warp", [GPU_THREAD] = "thread"};
    LoopNode *units = launch_loop(launches, names[loop->execution.unit], launch_number(launches, 0), count,
                                  loop->execution.unit, 0);
    const IntExpr *unit = launch_var(launches, units);
    *number = launch_op(launches, INT_ADD, launch_op(launches, INT_MUL, *number, count), unit);
    loop->lower = launch_op(launches, INT_ADD, loop->lower, unit);
    loop->stride = count;
    loop->execution.unit = GPU_NONE;
    loop_append(launches->arena, &units->body, loop);
    return units;
}

// Definitions, conditions and loops inside of each other, and what is inside of all of them.
typedef struct {
    Array(const LoopNode *) layers;
    LoopBody innermost;
} LoopNest;

static LoopNest nest_of(const Launches *launches, const LoopBody *body) {
    LoopNest nest = {0};
    for (int64_t i = 0; i < body->count;) {
        const LoopNode *node = body->items[i];
        const bool opens = (node->kind == LOOP_FOR || node->kind == LOOP_IF) && i + 1 == body->count;
        if (node->kind != LOOP_LET && !opens) {
            for (; i < body->count; i++)
                loop_append(launches->arena, &nest.innermost, body->items[i]);
            break;
        }
        // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
        array_push(launches->arena, nest.layers, node);
        i = opens ? 0 : i + 1;
        body = opens ? &node->body : body;
    }
    return nest;
}

static bool is_below(const LoopNest *nest, int64_t first, const LoopNode *loop) {
    for (int64_t i = first; i < nest->layers.count; i++) {
        const int var = nest->layers.items[i]->var;
        if (var >= 0 && (loop_mentions(loop->lower, var) || loop_mentions(loop->upper, var)))
            return true;
    }
    return false;
}

// Loops over blocks and threads outside of all others, where their bounds do not depend on these: then each
// thread executes the others by itself, and nothing has to wait in between. As all of them commute, that is
// the same.
static LoopBody units_first(const Launches *launches, const LoopBody *body) {
    const LoopNest from = nest_of(launches, body);
    LoopNest to = {0};
    int64_t units = 0; // layers up to the last loop with a unit
    for (int64_t i = 0; i < from.layers.count; i++) {
        const LoopNode *node = from.layers.items[i];
        const bool moves = node->execution.unit != GPU_NONE && !is_below(&to, units, node);
        // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
        array_push(launches->arena, to.layers, node);
        for (int64_t at = to.layers.count - 1; moves && at > units; at--) {
            to.layers.items[at] = to.layers.items[at - 1];
            to.layers.items[at - 1] = node;
        }
        if (node->execution.unit != GPU_NONE)
            units = moves ? units + 1 : to.layers.count;
    }
    LoopBody result = from.innermost;
    for (int64_t i = to.layers.count - 1; i >= 0; i--) {
        LoopBody outer = {0};
        const LoopNode *node = to.layers.items[i];
        const bool opens = node->kind != LOOP_LET;
        loop_append(launches->arena, &outer, opens ? loop_with_body(launches->arena, node, result) : node);
        if (!opens)
            loop_append_all(launches->arena, &outer, result);
        result = outer;
    }
    return result;
}

// Without the units of loops inside of one that follows its iterations, but for threads of a block, which
// wait after each iteration: other blocks, warps and threads cannot. Nothing waits in loops that are
// unordered.
static LoopBody without_races(const Launches *launches, const LoopBody *body, bool repeated,
                              bool in_threads) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        LoopNode *node = arena_copy(launches->arena, body->items[i], sizeof *node);
        const GpuUnit unit = node->execution.unit;
        if (repeated && unit != GPU_NONE && (unit == GPU_BLOCK || in_threads))
            node->execution.unit = GPU_NONE;
        const bool threads = node->execution.unit == GPU_THREAD || node->execution.unit == GPU_WARP;
        node->execution.barrier = repeated && threads;
        node->body = without_races(launches, &node->body,
                                   repeated || (node->kind == LOOP_FOR && node->execution.unit == GPU_NONE &&
                                                !node->execution.unordered),
                                   in_threads || threads);
        loop_append(launches->arena, &result, node);
    }
    return result;
}

LoopBody launch_units_first(const Launches *launches, const LoopBody *body) {
    const LoopBody ordered = units_first(launches, body);
    return without_races(launches, &ordered, false, false);
}

// Loops over units that have partial results have as many iterations as there are units.
static LoopBody with_dims(const Launches *launches, const LoopBody *body, const Units *units, Units around,
                          LoopNode *launch, const bool *inside) {
    LoopBody result = {0};
    for (int64_t i = 0; i < body->count; i++) {
        LoopNode *node = arena_copy(launches->arena, body->items[i], sizeof *node);
        const GpuUnit unit = node->execution.unit;
        if (unit != GPU_NONE)
            node->execution.dim = launch_dim(units, around, node);
        if (unit == GPU_BLOCK) {
            const IntExpr *count = launch_op(launches, INT_SUB, node->upper, node->lower);
            launch->blocks[node->execution.dim] =
                launch_depends(count, inside) ? launch_number(launches, GPU_BLOCKS) : count;
        } else if (node->execution.partials) {
            launch->threads[node->execution.dim] = node->upper;
        }
        node->body =
            with_dims(launches, &node->body, units, launch_units_inside(around, node), launch, inside);
        loop_append(launches->arena, &result, node);
    }
    return result;
}

// As commands say.
void launch_units(const Launches *launches, const LoopBody *body, LoopBody *to) {
    LoopNode *launch = launch_create(launches, launch_number(launches, 1), 1);
    const LoopBody given = launches->team ? launch_with_partials(launches, body, to) : *body;
    const LoopBody safe = launch_units_first(launches, &given);
    launch->body = launch_by_one_thread(launches, &safe);
    const bool *inside = launch_defined(launches, &launch->body);
    const Units units = launch_units_of(&launch->body);
    launch_set_threads(launches, &units, launch);
    launch->body = with_dims(launches, &launch->body, &units, (Units){0}, launch, inside);
    loop_append(launches->arena, to, launch);
}
