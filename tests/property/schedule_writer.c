// SPDX-License-Identifier: BSD-3-Clause
#include "schedule_writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STEPS = 64, MAX_PROCESSORS = 48, NAME_LENGTH = 14 };

bool writer_has_room(const ScheduleWriter *writer) {
    return writer->statement->command_count < DRAFT_COMMANDS && writer->loops.var_count < MAX_LOOP_VARS - 8;
}

bool writer_command(ScheduleWriter *writer, bool may_be_refused, const char *format, ...) {
    DraftCommand *command = &writer->statement->commands[writer->statement->command_count++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command->text, sizeof command->text, format, arguments);
    va_end(arguments);
    command->may_be_refused = may_be_refused || writer->rows || writer->sums_itself;
    return true;
}

static LoopVar *var_at(ScheduleWriter *writer, int var) {
    return &writer->loops.vars[var];
}

const char *writer_list(const ScheduleWriter *writer, const int *vars, int count, char *buffer, size_t size) {
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

int writer_deepest_transfer(const ScheduleWriter *writer, const LoopNest *nest, int deepest) {
    for (int t = 0; t < LOOPS_TENSORS; t++) {
        int position = nest->tensors >> t & 1 ? transfer_position(writer, nest, t) : -1;
        deepest = position > deepest ? position : deepest;
    }
    return deepest;
}

// Those of the machine that all distributed loops go along, or of a grid that they form of their own.
static int64_t count_processors(const ScheduleWriter *writer) {
    int64_t product = 1;
    int distributed = 0;
    for (int v = 0; v < writer->loops.var_count; v++)
        if (writer->loops.vars[v].said & SAID_DISTRIBUTE) {
            product *= writer->loops.vars[v].extent > 0 ? writer->loops.vars[v].extent : 1;
            distributed++;
        }
    const int64_t of_machine = draft_processors(&writer->draft->machines[0], writer->draft);
    for (int b = 0; b < writer->bound_count; b++)
        distributed -= writer->bound[b].var >= 0 && writer->bound[b].machine == writer->bound[0].machine;
    return distributed == 0 || product < of_machine ? of_machine : product;
}

// How often data moves is bounded, as is the number of processors, so that a program does not take long.
static bool is_cheap(const ScheduleWriter *writer) {
    int64_t processors = count_processors(writer), most_steps = 1;
    if (processors > MAX_PROCESSORS)
        return false;
    for (int n = 0; n < writer->loops.nest_count; n++) {
        const LoopNest *nest = &writer->loops.nests[n];
        int deepest = writer_deepest_transfer(writer, nest, -1);
        int64_t steps = 1;
        for (int i = 0; i <= deepest; i++) {
            const LoopVar *var = &writer->loops.vars[nest->loops[i]];
            if (!(var->said & SAID_DISTRIBUTE) && var->extent > 0)
                steps *= var->extent;
        }
        most_steps = steps > most_steps ? steps : most_steps;
    }
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
    if (!writer_has_room(writer) || strlen(parent.name) > NAME_LENGTH - 2)
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
    return writer_command(writer, false, "%s(%s, %s, %s, %s)", divide ? "divide" : "split", parent.name,
                          outer, inner, text);
}

bool writer_collapse(ScheduleWriter *writer, int outer, int inner) {
    const LoopVar a = *var_at(writer, outer), b = *var_at(writer, inner);
    const bool distributed = a.said == SAID_DISTRIBUTE && b.said == SAID_DISTRIBUTE;
    if (!writer_has_room(writer) || (!distributed && (a.said || b.said)))
        return false;
    for (int n = 0; n < writer->loops.nest_count; n++) {
        int at = loops_position(&writer->loops.nests[n], outer);
        int inner_at = loops_position(&writer->loops.nests[n], inner);
        if ((at < 0) != (inner_at < 0) || (at >= 0 && inner_at != at + 1))
            return false;
    }
    Loops before = writer->loops;
    char name[16];
    snprintf(name, sizeof name, "f%d", writer->collapsed_count++);
    int fused = loops_add(&writer->loops, name, a.extent * b.extent, &a);
    var_at(writer, fused)->reduction = a.reduction || b.reduction;
    var_at(writer, fused)->determined = a.determined && b.determined;
    var_at(writer, fused)->shifts = a.shifts | b.shifts;
    var_at(writer, fused)->on_left = a.on_left || b.on_left;
    var_at(writer, fused)->around = a.around || b.around;
    loops_replace(&writer->loops, outer, &fused, 1);
    loops_replace(&writer->loops, inner, NULL, 0);
    var_at(writer, fused)->said = a.said;
    if (!is_cheap(writer)) {
        writer->loops = before;
        return false;
    }
    return writer_command(writer, false, "%s(%s, %s, %s)",
                          random_chance(writer->random, 30) ? "fuse" : "collapse", a.name, b.name, name);
}

bool writer_reorder(ScheduleWriter *writer, const int *order, int count) {
    char text[DRAFT_TEXT - 20];
    Loops before = writer->loops;
    if (!writer_has_room(writer) || !writer_list(writer, order, count, text, sizeof text))
        return false;
    loops_reorder(&writer->loops, order, count);
    if (!is_cheap(writer)) {
        writer->loops = before;
        return false;
    }
    return writer_command(writer, false, "reorder(%s)", text);
}

bool writer_settle(ScheduleWriter *writer) {
    int all[MAX_LOOP_VARS], order[MAX_LOOP_VARS], next = 0;
    int count = loops_all(&writer->loops, all);
    random_shuffle(writer->random, all, count);
    // Distributed loops, those around workspaces, and the others.
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < count; i++) {
            const LoopVar *var = var_at(writer, all[i]);
            if ((var->said & SAID_DISTRIBUTE ? 0 : var->around ? 1 : 2) == pass)
                order[next++] = all[i];
        }
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
    if (!writer_has_room(writer) || strlen(old.name) > NAME_LENGTH - 2 ||
        !writer_list(writer, by, count, text, 100))
        return false;
    snprintf(name, sizeof name, "%.14ss", old.name);
    int rotated = loops_add(&writer->loops, name, old.extent, &old);
    for (int i = 0; i < count; i++) {
        LoopVar *var = var_at(writer, by[i]);
        var->said |= SAID_ROTATE;
        var->on_left |= old.on_left;
        if ((!var->determined || var->shifts) && !(var->said & SAID_DISTRIBUTE))
            var_at(writer, rotated)->shifts |= (uint64_t)1 << by[i];
    }
    loops_replace(&writer->loops, target, &rotated, 1);
    return writer_command(writer, false, "rotate(%s, %s, %s)", old.name, text, name);
}

bool writer_is_free(const ScheduleWriter *writer, int var, int machine, int first, int order) {
    for (int b = 0; b < writer->bound_count; b++) {
        const Bound *bound = &writer->bound[b];
        if (bound->machine == machine && bound->dim >= first && bound->dim < first + order &&
            (bound->var < 0 || loops_share_nest(&writer->loops, bound->var, var)))
            return false;
    }
    return true;
}

static bool dims_are_free(const ScheduleWriter *writer, const int *targets, int count, int machine,
                          const int *dims) {
    for (int i = 0; i < count; i++)
        if (!writer_is_free(writer, targets[i], machine, dims[i], 1))
            return false;
    return true;
}

bool writer_distribute(ScheduleWriter *writer, const int *targets, int count, const char *onto, int machine,
                       const int *dims, const int *cycles) {
    char target_text[60], outer_text[60], inner_text[60];
    int outer[DRAFT_DIMS], children[2 * DRAFT_DIMS] = {0};
    if (!writer_has_room(writer) || !writer_list(writer, targets, count, target_text, sizeof target_text) ||
        !dims_are_free(writer, targets, count, machine, dims))
        return false;
    Loops before = writer->loops;
    bool was_distributed = writer->distributed;
    const int was_bound = writer->bound_count;
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
        const int64_t cycle = cycles ? cycles[dims[i]] : 0, block = cycle > 0 ? cycle : 1;
        const int64_t blocks = (parent.extent + block - 1) / block;
        children[count + i] = loops_add(&writer->loops, name, (blocks + size - 1) / size * block, &parent);
        var_at(writer, children[count + i])->outer = outer[i];
        var_at(writer, children[count + i])->unit = cycle > 0 ? -1 : parent.unit;
        loops_replace(&writer->loops, targets[i], (int[]){outer[i], children[count + i]}, 2);
    }
    loops_reorder(&writer->loops, children, 2 * count);
    loops_hoist(&writer->loops, children, count);
    for (int i = 0; i < count; i++) {
        var_at(writer, outer[i])->said |= SAID_DISTRIBUTE;
        writer->bound[writer->bound_count++] = (Bound){machine, dims[i], outer[i]};
    }
    writer->distributed = true;
    if (!is_cheap(writer) || !writer_list(writer, outer, count, outer_text, sizeof outer_text) ||
        !writer_list(writer, children + count, count, inner_text, sizeof inner_text)) {
        writer->loops = before;
        writer->distributed = was_distributed;
        writer->bound_count = was_bound;
        return false;
    }
    if (count == 1 && random_chance(writer->random, 25))
        return writer_command(writer, false, "distribute(%s, %s, %s, %s)", var_at(writer, targets[0])->name,
                              var_at(writer, outer[0])->name, var_at(writer, children[1])->name, onto);
    return writer_command(writer, false, "distribute(%s, %s, %s, %s)", target_text, outer_text, inner_text,
                          onto);
}

bool writer_distribute_loops(ScheduleWriter *writer, const int *vars, int count) {
    char text[100];
    Loops before = writer->loops;
    if (!writer_has_room(writer) || !writer_list(writer, vars, count, text, sizeof text))
        return false;
    for (int i = 0; i < count; i++)
        var_at(writer, vars[i])->said |= SAID_DISTRIBUTE;
    if (!is_cheap(writer)) {
        writer->loops = before;
        return false;
    }
    writer->distributed = true;
    // Loops over parts of different lengths are refused.
    if (count == 1 && random_chance(writer->random, 50))
        return writer_command(writer, true, "distribute(%s)", var_at(writer, vars[0])->name);
    return writer_command(writer, true, "distribute(%s)", text);
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
    if (!writer_has_room(writer) || var_at(writer, var)->said & (SAID_PARALLELIZE | SAID_SUBSTITUTE))
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
    return writer_command(writer, false, count > 1 ? "communicate({%s}, %s)" : "communicate(%s, %s)", text,
                          var_at(writer, var)->name);
}
