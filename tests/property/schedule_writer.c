// SPDX-License-Identifier: BSD-3-Clause
#include "schedule_writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STEPS = 64, MAX_PROCESSORS = 48, NAME_LENGTH = 14 };

static bool write_command(ScheduleWriter *writer, bool may_be_refused, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool has_room(const ScheduleWriter *writer) {
    return writer->statement->command_count < DRAFT_COMMANDS && writer->loops.var_count < MAX_LOOP_VARS - 8;
}

static bool write_command(ScheduleWriter *writer, bool may_be_refused, const char *format, ...) {
    DraftCommand *command = &writer->statement->commands[writer->statement->command_count++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command->text, sizeof command->text, format, arguments);
    va_end(arguments);
    command->may_be_refused = may_be_refused;
    return true;
}

static LoopVar *var_at(ScheduleWriter *writer, int var) {
    return &writer->loops.vars[var];
}

// "{i, j}"
static const char *list(const ScheduleWriter *writer, const int *vars, int count, char *buffer, size_t size) {
    size_t length = 0;
    for (int i = 0; i < count && length < size; i++)
        length += (size_t)snprintf(buffer + length, size - length, "%s%s%s", i ? ", " : "{",
                                   writer->loops.vars[vars[i]].name, i + 1 == count ? "}" : "");
    return length < size ? buffer : NULL;
}

// Position of the loop that a tensor is communicated at in this nest, -1 outside of all.
static int transfer_position(const ScheduleWriter *writer, const LoopNest *nest, int tensor) {
    int innermost = -1;
    for (int i = 0; i < nest->count; i++)
        if (writer->loops.vars[nest->loops[i]].said & SAID_DISTRIBUTE)
            innermost = i;
    const long n = nest - writer->loops.nests;
    return writer->communicated[n] >> tensor & 1 ? loops_position(nest, writer->communicate_at[n][tensor])
                                                 : innermost;
}

// Position of the innermost loop with a transfer; `deepest` where there is none further inside.
static int deepest_transfer(const ScheduleWriter *writer, const LoopNest *nest, int deepest) {
    for (int t = 0; t < LOOPS_TENSORS; t++) {
        int position = nest->tensors >> t & 1 ? transfer_position(writer, nest, t) : -1;
        deepest = position > deepest ? position : deepest;
    }
    return deepest;
}

// How often data moves is bounded, as is the number of processors, so that a program does not take long.
static bool is_cheap(const ScheduleWriter *writer) {
    int64_t processors = 1, most_steps = 1;
    for (int v = 0; v < writer->loops.var_count; v++)
        if (writer->loops.vars[v].said & SAID_DISTRIBUTE && writer->loops.vars[v].extent > 0)
            processors *= writer->loops.vars[v].extent;
    if (processors > MAX_PROCESSORS)
        return false;
    for (int n = 0; n < writer->loops.nest_count; n++) {
        const LoopNest *nest = &writer->loops.nests[n];
        int deepest = deepest_transfer(writer, nest, -1);
        int64_t steps = 1;
        for (int i = 0; i <= deepest; i++) {
            const LoopVar *var = &writer->loops.vars[nest->loops[i]];
            if (!(var->said & SAID_DISTRIBUTE) && var->extent > 0)
                steps *= var->extent;
        }
        most_steps = steps > most_steps ? steps : most_steps;
    }
    int64_t of_machine = draft_processors(&writer->draft->machines[0], writer->draft);
    processors = processors > of_machine ? processors : of_machine;
    return most_steps * (1 + (processors - 1) / writer->draft->ranks) <= MAX_STEPS;
}

const char *writer_factor(ScheduleWriter *writer, int64_t extent, int64_t *factor) {
    static const int values[] = {1, 2, 3, 4, 5, 7, 20}, weights[] = {8, 30, 25, 12, 10, 8, 7};
    *factor = values[random_weighted(writer->random, weights, 7)];
    if (extent > 1 && random_chance(writer->random, 10))
        *factor = extent - random_below(writer->random, 2);
    if (writer->draft->size_count < DRAFT_SIZES && random_chance(writer->random, 25))
        return draft_size_text(writer->draft, draw_size(writer->random, writer->draft, 'c', *factor),
                               writer->text);
    snprintf(writer->text, sizeof writer->text, "%" PRId64, *factor);
    return writer->text;
}

bool writer_blocks(ScheduleWriter *writer, int var, bool divide, const char *text, int64_t factor,
                   int children[2]) {
    const LoopVar parent = *var_at(writer, var);
    if (!has_room(writer) || strlen(parent.name) > NAME_LENGTH - 2)
        return false;
    int64_t blocks = (parent.extent + factor - 1) / factor;
    Loops before = writer->loops;
    char outer[16], inner[16];
    snprintf(outer, sizeof outer, "%.14so", parent.name);
    snprintf(inner, sizeof inner, "%.14si", parent.name);
    children[0] = loops_add(&writer->loops, outer, divide ? factor : blocks, &parent);
    children[1] = loops_add(&writer->loops, inner, divide ? blocks : factor, &parent);
    var_at(writer, children[1])->outer = children[0];
    var_at(writer, children[1])->unit = parent.unit;
    loops_replace(&writer->loops, var, children, 2);
    if (!is_cheap(writer)) {
        writer->loops = before;
        return false;
    }
    return write_command(writer, false, "%s(%s, %s, %s, %s)", divide ? "divide" : "split", parent.name, outer,
                         inner, text);
}

bool writer_collapse(ScheduleWriter *writer, int outer, int inner) {
    const LoopVar a = *var_at(writer, outer), b = *var_at(writer, inner);
    if (!has_room(writer) || a.said || b.said)
        return false;
    for (int n = 0; n < writer->loops.nest_count; n++) {
        int at = loops_position(&writer->loops.nests[n], outer);
        int inner_at = loops_position(&writer->loops.nests[n], inner);
        if ((at < 0) != (inner_at < 0) || (at >= 0 && inner_at != at + 1))
            return false;
    }
    char name[16];
    snprintf(name, sizeof name, "f%d", writer->collapsed_count++);
    int fused = loops_add(&writer->loops, name, a.extent * b.extent, &a);
    var_at(writer, fused)->reduction = a.reduction || b.reduction;
    var_at(writer, fused)->told = a.told && b.told;
    var_at(writer, fused)->on_left = a.on_left || b.on_left;
    loops_replace(&writer->loops, outer, &fused, 1);
    loops_replace(&writer->loops, inner, NULL, 0);
    return write_command(writer, false, "%s(%s, %s, %s)",
                         random_chance(writer->random, 30) ? "fuse" : "collapse", a.name, b.name, name);
}

bool writer_reorder(ScheduleWriter *writer, const int *order, int count) {
    char text[DRAFT_TEXT - 20];
    Loops before = writer->loops;
    if (!has_room(writer) || !list(writer, order, count, text, sizeof text))
        return false;
    loops_reorder(&writer->loops, order, count);
    if (!is_cheap(writer)) {
        writer->loops = before;
        return false;
    }
    return write_command(writer, false, "reorder(%s)", text);
}

bool writer_settle(ScheduleWriter *writer) {
    int all[MAX_LOOP_VARS], order[MAX_LOOP_VARS], next = 0;
    int count = loops_all(&writer->loops, all);
    random_shuffle(writer->random, all, count);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < count; i++)
            if (((var_at(writer, all[i])->said & SAID_DISTRIBUTE) == 0) == (pass == 1))
                order[next++] = all[i];
    if (count < 2 || !writer_reorder(writer, order, count))
        return false;
    writer->loops.uncertain = false;
    return true;
}

bool writer_is_outside(const ScheduleWriter *writer, int var, int target) {
    if (!loops_is_loop(&writer->loops, var))
        return false;
    for (int n = 0; n < writer->loops.nest_count; n++) {
        int at = loops_position(&writer->loops.nests[n], target);
        int outside = loops_position(&writer->loops.nests[n], var);
        if (at >= 0 && (outside < 0 || outside >= at))
            return false;
    }
    return true;
}

bool writer_rotate(ScheduleWriter *writer, int target, const int *by, int count) {
    const LoopVar old = *var_at(writer, target);
    char text[DRAFT_TEXT - 20], name[16];
    if (!has_room(writer) || strlen(old.name) > NAME_LENGTH - 2 || !list(writer, by, count, text, 100))
        return false;
    snprintf(name, sizeof name, "%.14ss", old.name);
    int rotated = loops_add(&writer->loops, name, old.extent, &old);
    for (int i = 0; i < count; i++) {
        LoopVar *var = var_at(writer, by[i]);
        var->said |= SAID_ROTATE;
        var->on_left |= old.on_left;
        if (!var->told && !(var->said & SAID_DISTRIBUTE))
            var_at(writer, rotated)->told = false;
    }
    loops_replace(&writer->loops, target, &rotated, 1);
    return write_command(writer, false, "rotate(%s, %s, %s)", old.name, text, name);
}

bool writer_distribute(ScheduleWriter *writer, const int *targets, int count, const char *onto, int machine,
                       const int *dims) {
    char target_text[60], outer_text[60], inner_text[60];
    int outer[DRAFT_DIMS], children[2 * DRAFT_DIMS];
    if (!has_room(writer) || !list(writer, targets, count, target_text, sizeof target_text))
        return false;
    Loops before = writer->loops;
    bool was_distributed = writer->distributed;
    for (int i = 0; i < count; i++) {
        const LoopVar parent = *var_at(writer, targets[i]);
        if (strlen(parent.name) > NAME_LENGTH - 2) {
            writer->loops = before;
            return false;
        }
        char name[16];
        int64_t size = writer->draft->sizes[writer->draft->machines[machine].sizes[dims[i]]].value;
        snprintf(name, sizeof name, "%.14so", parent.name);
        outer[i] = children[i] = loops_add(&writer->loops, name, size, &parent);
        snprintf(name, sizeof name, "%.14si", parent.name);
        children[count + i] = loops_add(&writer->loops, name, (parent.extent + size - 1) / size, &parent);
        var_at(writer, children[count + i])->outer = outer[i];
        var_at(writer, children[count + i])->unit = parent.unit;
        loops_replace(&writer->loops, targets[i], (int[]){outer[i], children[count + i]}, 2);
    }
    loops_reorder(&writer->loops, children, 2 * count);
    loops_hoist(&writer->loops, children, count);
    for (int i = 0; i < count; i++)
        var_at(writer, outer[i])->said |= SAID_DISTRIBUTE;
    writer->distributed = true;
    if (!is_cheap(writer) || !list(writer, outer, count, outer_text, sizeof outer_text) ||
        !list(writer, children + count, count, inner_text, sizeof inner_text)) {
        writer->loops = before;
        writer->distributed = was_distributed;
        return false;
    }
    if (count == 1 && random_chance(writer->random, 25))
        return write_command(writer, false, "distribute(%s, %s, %s, %s)", var_at(writer, targets[0])->name,
                             var_at(writer, outer[0])->name, var_at(writer, children[1])->name, onto);
    return write_command(writer, false, "distribute(%s, %s, %s, %s)", target_text, outer_text, inner_text,
                         onto);
}

bool writer_distribute_loops(ScheduleWriter *writer, const int *vars, int count) {
    char text[100];
    Loops before = writer->loops;
    if (!has_room(writer) || !list(writer, vars, count, text, sizeof text))
        return false;
    for (int i = 0; i < count; i++)
        var_at(writer, vars[i])->said |= SAID_DISTRIBUTE;
    if (!is_cheap(writer)) {
        writer->loops = before;
        return false;
    }
    writer->distributed = true;
    if (count == 1 && random_chance(writer->random, 50))
        return write_command(writer, false, "distribute(%s)", var_at(writer, vars[0])->name);
    return write_command(writer, false, "distribute(%s)", text);
}

unsigned writer_communicable(const ScheduleWriter *writer, int var) {
    unsigned accessed = 0, communicated = 0;
    for (int n = 0; n < writer->loops.nest_count; n++) {
        if (loops_position(&writer->loops.nests[n], var) < 0)
            continue;
        accessed |= writer->loops.nests[n].tensors;
        communicated |= writer->communicated[n];
    }
    return accessed & ~communicated;
}

static void note_communication(ScheduleWriter *writer, unsigned tensors, int var) {
    for (int n = 0; n < writer->loops.nest_count; n++) {
        const LoopNest *nest = &writer->loops.nests[n];
        for (int t = 0; t < LOOPS_TENSORS && loops_position(nest, var) >= 0; t++) {
            if (!(tensors & nest->tensors & 1u << t))
                continue;
            writer->communicated[n] |= 1u << t;
            writer->communicate_at[n][t] = var;
        }
    }
}

bool writer_communicate(ScheduleWriter *writer, unsigned tensors, int var) {
    if (!has_room(writer) || var_at(writer, var)->said & (SAID_PARALLELIZE | SAID_SUBSTITUTE))
        return false;
    unsigned before[MAX_LOOP_NESTS];
    memcpy(before, writer->communicated, sizeof before);
    note_communication(writer, tensors, var);
    if (!is_cheap(writer)) {
        memcpy(writer->communicated, before, sizeof before);
        return false;
    }
    char text[100] = "";
    int count = 0;
    size_t length = 0;
    for (int t = 0; t < LOOPS_TENSORS; t++)
        if (tensors >> t & 1)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", count++ ? ", " : "",
                                       t >= WORKSPACE ? writer->workspaces[t - WORKSPACE]
                                                      : writer->draft->tensors[t].name);
    var_at(writer, var)->said |= SAID_COMMUNICATE;
    return write_command(writer, false, count > 1 ? "communicate({%s}, %s)" : "communicate(%s, %s)", text,
                         var_at(writer, var)->name);
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
        if (at >= 0 && at <= deepest_transfer(writer, nest, distributed))
            return false;
        any |= at >= 0;
    }
    return any && !(writer->loops.vars[var].said & (SAID_DISTRIBUTE | SAID_COMMUNICATE | SAID_SUBSTITUTE));
}

static int draw_leaf_loop(const ScheduleWriter *writer, unsigned unsaid) {
    int vars[MAX_LOOP_VARS], count = 0;
    for (int v = 0; v < writer->loops.var_count; v++)
        if (is_in_leaf(writer, v) && !(writer->loops.vars[v].said & unsaid))
            vars[count++] = v;
    return count ? vars[random_below(writer->random, count)] : -1;
}

bool writer_substitute(ScheduleWriter *writer) {
    static const char *const kernels[4][6] = {{0},
                                              {"loops", "dot", "axpy", "blas"},
                                              {"loops", "gemv", "ger", "blas"},
                                              {"loops", "gemm", "gemm", "blas"}};
    if (writer->loops.uncertain && !writer_settle(writer))
        return false;
    const LoopNest *nest = &writer->loops.nests[random_below(writer->random, writer->loops.nest_count)];
    int wanted = random_between(writer->random, 1, 3), vars[3];
    if (!has_room(writer) || nest->count < wanted)
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
    return list(writer, vars, wanted, text, sizeof text) &&
           write_command(writer, strcmp(kernel, "loops") != 0, "substitute(%s, %s)", text, kernel);
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
    if (writer->loops.nest_count != 1 || !has_room(writer))
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
    return list(writer, chosen, left + summed, text, sizeof text) &&
           write_command(writer, true, "substitute(%s, %s)", text,
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
    if (!loop->told || loop->reduction) {
        race = races[type->is_complex ? random_below(writer->random, 2) : random_below(writer->random, 3)];
        writer->atomic |= strcmp(race, "atomic") == 0;
    } else if (random_chance(writer->random, 40)) {
        race = races[random_below(writer->random, 4)]; // there is none to resolve
    }
    loop->said |= SAID_PARALLELIZE | SAID_THREADS;
    return write_command(writer, false, "parallelize(%s, cpu_thread%s%s)", loop->name, race ? ", " : "",
                         race ? race : "");
}

bool writer_parallelize(ScheduleWriter *writer, bool threads) {
    if (writer->loops.uncertain && !writer_settle(writer))
        return false;
    int var = draw_leaf_loop(writer, SAID_PARALLELIZE | SAID_UNROLL);
    if (var < 0 || !has_room(writer))
        return false;
    if (threads)
        return parallelize_threads(writer, var);
    LoopVar *loop = var_at(writer, var);
    // Atomic updates and vectors exclude each other, and threads work around vectors only.
    if (writer->atomic || (!loop->told && !updates_one_element(writer, var, true)))
        return false;
    for (int n = 0; n < writer->loops.nest_count; n++) {
        const LoopNest *nest = &writer->loops.nests[n];
        int at = loops_position(nest, var);
        for (int i = at + 1; at >= 0 && i < nest->count; i++)
            if (var_at(writer, nest->loops[i])->said & SAID_PARALLELIZE)
                return false;
    }
    loop->said |= SAID_PARALLELIZE;
    return write_command(writer, false, "parallelize(%s, cpu_vector)", loop->name);
}

bool writer_unroll(ScheduleWriter *writer) {
    int var = writer->loops.uncertain ? -1 : draw_leaf_loop(writer, SAID_UNROLL | SAID_PARALLELIZE);
    if (var < 0 || !has_room(writer))
        return false;
    var_at(writer, var)->said |= SAID_UNROLL;
    return write_command(writer, false, "unroll(%s, %d)", var_at(writer, var)->name,
                         random_between(writer->random, 1, 5));
}
