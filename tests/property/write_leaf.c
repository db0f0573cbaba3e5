// SPDX-License-Identifier: BSD-3-Clause
// Commands about the loops of a leaf: calls of the BLAS, threads, vectors, unrolled loops.
#include "schedule_writer.h"

#include <stdio.h>
#include <string.h>

static LoopVar *var_at(ScheduleWriter *writer, int var) {
    return &writer->loops.vars[var];
}

// Whether the loop is executed by the leaf in every nest that has it.
static bool is_in_leaf(const ScheduleWriter *writer, int var) {
    bool any = false;
    for (int n = 0; n < writer->loops.nest_count; n++) {
        const LoopNest *nest = &writer->loops.nests[n];
        int at = loops_position(nest, var);
        int distributed = -1;
        for (int i = 0; i < nest->count; i++)
            if (writer->loops.vars[nest->loops[i]].said & SAID_DISTRIBUTE)
                distributed = i;
        if (at >= 0 && at <= writer_deepest_transfer(writer, nest, distributed))
            return false;
        any |= at >= 0;
    }
    return any && !(writer->loops.vars[var].said & (SAID_DISTRIBUTE | SAID_COMMUNICATE | SAID_SUBSTITUTE));
}

// Of those that are rotated by others in the leaf there are few, so each counts for several.
static int draw_leaf_loop(const ScheduleWriter *writer, unsigned unsaid) {
    enum { SHIFTED = 8 };
    int vars[SHIFTED * MAX_LOOP_VARS], count = 0;
    for (int v = 0; v < writer->loops.var_count; v++)
        if (is_in_leaf(writer, v) && !(writer->loops.vars[v].said & unsaid))
            for (int i = 0; i < (writer->loops.vars[v].shifts ? SHIFTED : 1); i++)
                vars[count++] = v;
    return count ? vars[random_below(writer->random, count)] : -1;
}

bool writer_substitute(ScheduleWriter *writer) {
    static const char *const kernels[4][6] = {{0},
                                              {"loops", "dot", "axpy", "blas"},
                                              {"loops", "gemv", "ger", "blas"},
                                              {"loops", "gemm", "gemm", "blas"}};
    if ((writer->loops.uncertain && !writer_settle(writer)) || writer->loops.nest_count == 0)
        return false;
    const LoopNest *nest = &writer->loops.nests[random_below(writer->random, writer->loops.nest_count)];
    int wanted = random_between(writer->random, 1, 3), vars[3];
    if (!writer_has_room(writer) || nest->count < wanted)
        return false;
    for (int i = 0; i < wanted; i++) {
        vars[i] = nest->loops[nest->count - wanted + i];
        if (!is_in_leaf(writer, vars[i]))
            return false;
    }
    // They are innermost in every nest that has some of them.
    for (int n = 0; n < writer->loops.nest_count; n++) {
        const LoopNest *other = &writer->loops.nests[n];
        bool inside = false;
        for (int i = 0; i < other->count; i++) {
            bool called = false;
            for (int k = 0; k < wanted; k++)
                called |= vars[k] == other->loops[i];
            if (inside && !called)
                return false;
            inside |= called;
        }
    }
    const char *kernel = kernels[wanted][random_below(writer->random, 4)];
    random_shuffle(writer->random, vars, wanted);
    for (int i = 0; i < wanted; i++)
        var_at(writer, vars[i])->said |= SAID_SUBSTITUTE;
    char text[80];
    return writer_list(writer, vars, wanted, text, sizeof text) &&
           writer_command(writer, strcmp(kernel, "loops") != 0, "substitute(%s, %s)", text, kernel);
}

static bool contains(const int *vars, int count, int var) {
    for (int i = 0; i < count; i++)
        if (vars[i] == var)
            return true;
    return false;
}

bool writer_call(ScheduleWriter *writer) {
    static const char *const kernels[3][2] = {{NULL, "dot"}, {"axpy", "gemv"}, {"ger", "gemm"}};
    const LoopNest nest = writer->loops.nests[0];
    int vars[MAX_LOOP_VARS], chosen[3], order[MAX_LOOP_VARS], left = 0, summed = 0, next = 0;
    if (writer->loops.nest_count != 1 || writer->statement->reducer[0] || !writer_has_room(writer))
        return false;
    memcpy(vars, nest.loops, sizeof vars);
    random_shuffle(writer->random, vars, nest.count);
    static const int left_weights[] = {15, 30, 55};
    int wanted_left = random_weighted(writer->random, left_weights, 3);
    int wanted_summed = !writer->statement->accumulate || random_chance(writer->random, 60);
    for (int i = 0; i < nest.count; i++) {
        const LoopVar *var = var_at(writer, vars[i]);
        if (var->unit < 0 || !is_in_leaf(writer, vars[i]))
            continue;
        if (var->on_left ? left < wanted_left : summed < wanted_summed) {
            chosen[left + summed] = vars[i];
            left += var->on_left;
            summed += !var->on_left;
        }
    }
    const char *kernel = kernels[left][summed];
    if (!kernel || summed < wanted_summed)
        return false;
    for (int i = 0; i < nest.count; i++)
        if (!contains(chosen, left + summed, nest.loops[i]))
            order[next++] = nest.loops[i];
    for (int i = 0; i < left + summed; i++)
        order[next++] = chosen[i];
    if (!writer_reorder(writer, order, next))
        return false;
    char text[80];
    for (int i = 0; i < left + summed; i++)
        var_at(writer, chosen[i])->said |= SAID_SUBSTITUTE;
    return writer_list(writer, chosen, left + summed, text, sizeof text) &&
           writer_command(writer, true, "substitute(%s, %s)", text,
                          random_chance(writer->random, 75) ? kernel : "blas");
}

// Whether all loops from this one inwards update one element, in every nest that has it; `innermost` asks
// that there is none inside it as well.
static bool updates_one_element(const ScheduleWriter *writer, int var, bool innermost) {
    for (int n = 0; n < writer->loops.nest_count; n++) {
        const LoopNest *nest = &writer->loops.nests[n];
        int at = loops_position(nest, var);
        for (int i = at; at >= 0 && i < nest->count; i++)
            if (writer->loops.vars[nest->loops[i]].on_left)
                return false;
        if (innermost && at >= 0 && at != nest->count - 1)
            return false;
    }
    return true;
}

// Whether iterations of the loop with all that is outside of it the same update different elements.
static bool is_told(const ScheduleWriter *writer, int var) {
    const LoopVar *loop = &writer->loops.vars[var];
    bool determined = loop->determined;
    for (int v = 0; v < writer->loops.var_count; v++)
        if (loop->shifts >> v & 1)
            determined = determined && writer_is_outside(writer, v, var);
    return determined;
}

// No threads among threads, and no vectors around them.
static bool may_have_threads(const ScheduleWriter *writer, int var) {
    for (int n = 0; n < writer->loops.nest_count; n++) {
        const LoopNest *nest = &writer->loops.nests[n];
        const int at = loops_position(nest, var);
        for (int i = 0; at >= 0 && i < nest->count; i++)
            if (writer->loops.vars[nest->loops[i]].said & (i < at ? SAID_PARALLELIZE : SAID_THREADS))
                return false;
    }
    return true;
}

static bool parallelize_threads(ScheduleWriter *writer, int var) {
    static const char *const races[] = {"reduction", "temporary", "atomic", "none"};
    LoopVar *loop = var_at(writer, var);
    const TypeInfo *type = type_info(writer->draft->tensors[writer->statement->target].type);
    const char *race = NULL;
    if (!may_have_threads(writer, var))
        return false;
    if (!is_told(writer, var) || loop->reduction) {
        race = races[type->is_complex ? random_below(writer->random, 2) : random_below(writer->random, 3)];
        writer->atomic |= strcmp(race, "atomic") == 0;
    } else if (random_chance(writer->random, 40)) {
        race = races[random_below(writer->random, 4)]; // there is none to resolve
    }
    loop->said |= SAID_PARALLELIZE | SAID_THREADS;
    return writer_command(writer, false, "parallelize(%s, cpu_thread%s%s)", loop->name, race ? ", " : "",
                          race ? race : "");
}

bool writer_is_on_gpu(const ScheduleWriter *writer) {
    bool on_gpu = false;
    for (int t = 0; t < writer->draft->tensor_count; t++) {
        const DraftTensor *tensor = &writer->draft->tensors[t];
        bool used = t == writer->statement->target;
        for (int n = 0; n < writer->statement->node_count; n++)
            used = used || (writer->statement->nodes[n].kind == NODE_ACCESS &&
                            writer->statement->nodes[n].tensor == t);
        on_gpu = on_gpu || (used && tensor->placed && tensor->in_gpu && !tensor->in_disk);
    }
    return on_gpu;
}

// Blocks, warps and threads of a GPU, in any order: those that cannot be inside of each other are refused.
static bool parallelize_gpu(ScheduleWriter *writer, int var) {
    static const char *const units[] = {"gpu_block", "gpu_thread", "gpu_block", "gpu_thread", "gpu_warp"};
    LoopVar *loop = var_at(writer, var);
    static const char *const strategies[] = {", atomic", ", reduction", ", temporary"};
    const bool races = !is_told(writer, var) || loop->reduction;
    loop->said |= SAID_PARALLELIZE | SAID_THREADS;
    const char *unit = units[random_below(writer->random, 5)];
    return writer_command(writer, true, "parallelize(%s, %s%s)", loop->name, unit,
                          races ? strategies[random_below(writer->random, 3)] : "");
}

bool writer_parallelize(ScheduleWriter *writer, bool threads) {
    if (writer->loops.uncertain && !writer_settle(writer))
        return false;
    int var = draw_leaf_loop(writer, SAID_PARALLELIZE | SAID_UNROLL);
    if (var < 0 || !writer_has_room(writer))
        return false;
    if (writer_is_on_gpu(writer))
        return parallelize_gpu(writer, var);
    if (threads)
        return parallelize_threads(writer, var);
    LoopVar *loop = var_at(writer, var);
    // Atomic updates and vectors exclude each other, and threads work around vectors only.
    if (writer->atomic || (!is_told(writer, var) && !updates_one_element(writer, var, true)))
        return false;
    for (int n = 0; n < writer->loops.nest_count; n++) {
        const LoopNest *nest = &writer->loops.nests[n];
        int at = loops_position(nest, var);
        for (int i = at + 1; at >= 0 && i < nest->count; i++)
            if (var_at(writer, nest->loops[i])->said & SAID_PARALLELIZE)
                return false;
    }
    loop->said |= SAID_PARALLELIZE;
    return writer_command(writer, false, "parallelize(%s, cpu_vector)", loop->name);
}

bool writer_unroll(ScheduleWriter *writer) {
    int var = writer->loops.uncertain ? -1 : draw_leaf_loop(writer, SAID_UNROLL | SAID_PARALLELIZE);
    if (var < 0 || !writer_has_room(writer))
        return false;
    var_at(writer, var)->said |= SAID_UNROLL;
    return writer_command(writer, false, "unroll(%s, %d)", var_at(writer, var)->name,
                          random_between(writer->random, 1, 5));
}

void writer_leaf(ScheduleWriter *writer) {
    bool product =
        writer->statement->nodes[writer->statement->root].kind == NODE_MUL && writer->loops.nest_count == 1;
    if (product && random_chance(writer->random, 50))
        writer_call(writer);
    else if (random_chance(writer->random, 20))
        writer_substitute(writer);
    for (int tries = 0; tries < 2; tries++)
        if (random_chance(writer->random, 25))
            writer_parallelize(writer, true);
    if (random_chance(writer->random, 30))
        writer_parallelize(writer, false);
    if (random_chance(writer->random, 20))
        writer_unroll(writer);
}
