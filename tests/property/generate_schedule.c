// SPDX-License-Identifier: BSD-3-Clause
// Schedules: first what is distributed and how loops are taken apart, then where tensors are communicated,
// then how the leaf is executed.
#include "generate.h"
#include "schedule_writer.h"

#include <stdio.h>
#include <string.h>

// Any loop that may be replaced by other variables, `summed`: that does not index the result; -1 where there
// is none.
static int draw_loop(ScheduleWriter *writer, bool summed) {
    const DraftStatement *statement = writer->statement;
    const size_t order = (size_t)writer->draft->tensors[statement->target].order;
    int vars[MAX_LOOP_VARS], kept = 0, count = loops_all(&writer->loops, vars);
    for (int i = 0; i < count; i++)
        if (writer->loops.vars[vars[i]].said == 0 &&
            !(summed && memchr(statement->vars, writer->loops.vars[vars[i]].name[0], order)))
            vars[kept++] = vars[i];
    return kept ? vars[random_below(writer->random, kept)] : -1;
}

static int draw_derivable(ScheduleWriter *writer) {
    return draw_loop(writer, false);
}

static bool draw_blocks(ScheduleWriter *writer) {
    int var = draw_derivable(writer), children[2];
    if (var < 0)
        return false;
    int64_t factor;
    const char *text = writer_factor(writer, writer->loops.vars[var].extent, &factor);
    return writer_blocks(writer, var, random_chance(writer->random, 50), text, factor, children);
}

// An outer loop that is executed one after the other, around what comes later.
static void draw_outer_split(ScheduleWriter *writer) {
    int var = draw_derivable(writer), children[2];
    if (var < 0)
        return;
    int64_t factor = random_between(writer->random, 1, 4);
    char text[16];
    snprintf(text, sizeof text, "%d", (int)factor);
    if (!writer_blocks(writer, var, true, text, factor, children))
        return;
    int all[MAX_LOOP_VARS], count = loops_all(&writer->loops, all), order[MAX_LOOP_VARS], next = 0;
    order[next++] = children[0];
    for (int i = 0; i < count; i++)
        if (all[i] != children[0])
            order[next++] = all[i];
    writer_reorder(writer, order, count);
}

static void draw_reorder(ScheduleWriter *writer) {
    const Loops *loops = &writer->loops;
    int all[MAX_LOOP_VARS], vars[MAX_LOOP_VARS], count = 0;
    if (loops->uncertain || (loops->nest_count > 1 && random_chance(writer->random, 50))) {
        writer_settle(writer);
        return;
    }
    const int all_count = loops_all(loops, all);
    for (int i = 0; i < all_count; i++)
        if (random_chance(writer->random, 70))
            vars[count++] = all[i];
    if (count < 2)
        return;
    random_shuffle(writer->random, vars, count);
    writer_reorder(writer, vars, count);
}

static void draw_collapse(ScheduleWriter *writer) {
    if (writer->loops.uncertain && !writer_settle(writer))
        return;
    const LoopNest *nest = &writer->loops.nests[random_below(writer->random, writer->loops.nest_count)];
    if (nest->count < 2)
        return;
    int at = random_below(writer->random, nest->count - 1);
    writer_collapse(writer, nest->loops[at], nest->loops[at + 1]);
}

static void draw_rotate(ScheduleWriter *writer) {
    if (writer->loops.uncertain && !writer_settle(writer))
        return;
    int target = draw_derivable(writer), by[MAX_LOOP_VARS], count = 0;
    if (target < 0)
        return;
    for (int v = 0; v < writer->loops.var_count; v++) {
        bool distributed = writer->loops.vars[v].said & SAID_DISTRIBUTE;
        if (writer_is_outside(writer, v, target) && random_chance(writer->random, distributed ? 75 : 30))
            by[count++] = v;
    }
    random_shuffle(writer->random, by, count);
    if (count > 0)
        writer_rotate(writer, target, by, count);
}

static bool draw_onto_dims(ScheduleWriter *writer, int machine, const char *onto, int first, int order) {
    int vars[MAX_LOOP_VARS], count = loops_all(&writer->loops, vars), targets[DRAFT_DIMS], kept = 0;
    for (int i = 0; i < count; i++)
        if (writer->loops.vars[vars[i]].said == 0 && writer_is_free(writer, vars[i], machine, first, order))
            vars[kept++] = vars[i];
    if (kept < order)
        return false;
    // Mostly the first loops, which are those of the left side.
    if (random_chance(writer->random, 55))
        random_shuffle(writer->random, vars, kept);
    int dims[DRAFT_DIMS];
    for (int d = 0; d < order; d++) {
        targets[d] = vars[d];
        dims[d] = first + d;
    }
    return writer_distribute(writer, targets, order, onto, machine, dims, NULL);
}

// Distributed loops outside, then those of steps, the new one last, then the others.
static bool order_steps(ScheduleWriter *writer, int step) {
    const Loops *loops = &writer->loops;
    int all[MAX_LOOP_VARS], order[MAX_LOOP_VARS], next = 0, count = loops_all(loops, all);
    if (loops->nest_count == 1)
        memcpy(all, loops->nests[0].loops, sizeof all);
    for (int pass = 0; pass < 4; pass++)
        for (int i = 0; i < count; i++) {
            const LoopVar *var = &loops->vars[all[i]];
            const bool distributed = var->said & SAID_DISTRIBUTE;
            if (pass == (distributed ? 0 : var->steps ? 1 : all[i] == step ? 2 : 3))
                order[next++] = all[i];
        }
    return writer_reorder(writer, order, next);
}

// The manner of Cannon's algorithm and its relatives: a local loop in steps, inside of those that there are
// already, each processor beginning with another one, and what is needed in a step brought there.
static void draw_steps(ScheduleWriter *writer, bool communicate) {
    int target = draw_derivable(writer), children[2], by[MAX_LOOP_VARS], by_count = 0;
    if (target < 0 || (writer->loops.uncertain && !writer_settle(writer)))
        return;
    const DraftMachine *machine = &writer->draft->machines[0];
    int64_t steps = random_between(writer->random, 1, 4);
    char text[32];
    snprintf(text, sizeof text, "%d", (int)steps);
    if (machine->order > 0 && random_chance(writer->random, 75)) {
        int size = machine->sizes[random_below(writer->random, machine->order)];
        steps = writer->draft->sizes[size].value;
        draft_size_text(writer->draft, size, text);
    }
    if (!writer_blocks(writer, target, random_chance(writer->random, 80), text, steps, children) ||
        !order_steps(writer, children[0]))
        return;
    for (int v = 0; v < writer->loops.var_count; v++)
        if (writer->loops.vars[v].said & SAID_DISTRIBUTE && writer_is_outside(writer, v, children[0]) &&
            random_chance(writer->random, 75))
            by[by_count++] = v;
    int at = children[0];
    if (by_count > 0 && writer_rotate(writer, children[0], by, by_count))
        at = writer->loops.var_count - 1;
    writer->loops.vars[at].steps = true;
    unsigned read = writer_communicable(writer, at) & ~(1u << writer->statement->target);
    if (read && communicate)
        writer_communicate(writer, read, at);
}

static void draw_onto_machine(ScheduleWriter *writer) {
    const int index = writer->draft->machines[1].order > 0 && random_chance(writer->random, 25);
    const DraftMachine *machine = &writer->draft->machines[index];
    if (machine->level_count == 1 || random_chance(writer->random, 25)) {
        draw_onto_dims(writer, index, draft_machine_names[index], 0, machine->order);
        return;
    }
    for (int l = 0, d = 0; l < machine->level_count; l++) {
        char onto[16];
        snprintf(onto, sizeof onto, "%s.%s", draft_machine_names[index], machine->levels[l]);
        if (!draw_onto_dims(writer, index, onto, d, machine->level_order[l]) ||
            random_chance(writer->random, 15))
            return;
        // An algorithm for each level.
        if (random_chance(writer->random, 35))
            draw_steps(writer, random_chance(writer->random, 25));
        else if (random_chance(writer->random, 20))
            draw_blocks(writer);
        d += machine->level_order[l];
    }
}

static bool is_first_with_its_letter(const char *letters, int mode) {
    for (int m = 0; m < mode; m++)
        if (letters[m] == letters[mode])
            return false;
    return true;
}

// Those levels of the tensor's placement, from *level on, that one command distributes: up to one that cuts a
// mode once more. `local`: by mode, the loop that is left of it.
static bool draw_onto_levels(ScheduleWriter *writer, const DraftTensor *tensor, const char *letters,
                             int *local, int *level) {
    const DraftMachine *machine = &writer->draft->machines[tensor->machine];
    int targets[DRAFT_DIMS], dims[DRAFT_DIMS], modes[DRAFT_DIMS], count = 0, d = 0;
    for (int l = 0; l < *level; l++)
        d += machine->level_order[l];
    for (bool again = false; *level < machine->level_count; ++*level) {
        const int end = d + machine->level_order[*level];
        for (int k = d; k < end; k++)
            for (int i = 0; i < count; i++)
                again |= modes[i] == tensor->entries[k];
        if (again)
            break;
        for (; d < end; d++) {
            const int mode = tensor->entries[d];
            if (mode < 0 || !is_first_with_its_letter(letters, mode))
                continue;
            if (!loops_is_loop(&writer->loops, local[mode]) || writer->loops.vars[local[mode]].said)
                return false;
            modes[count] = mode;
            targets[count] = local[mode];
            dims[count++] = d;
        }
    }
    const int made = writer->loops.var_count;
    if (count == 0 ||
        !writer_distribute(writer, targets, count, tensor->name, tensor->machine, dims, tensor->cycles))
        return false;
    for (int i = 0; i < count; i++)
        local[modes[i]] = made + 2 * i + 1;
    for (int k = 0; k < machine->order; k++)
        if (tensor->entries[k] <= ENTRY_FIX)
            writer->bound[writer->bound_count++] = (Bound){tensor->machine, k, -1};
    return true;
}

// Owner computes, for a tensor whose placement says it all.
static void draw_onto_tensor(ScheduleWriter *writer) {
    const Draft *draft = writer->draft;
    const DraftStatement *statement = writer->statement;
    int tensor = statement->target;
    const char *letters = statement->vars;
    if (random_chance(writer->random, 50)) {
        int node = random_below(writer->random, statement->node_count);
        if (statement->nodes[node].kind != NODE_ACCESS)
            return;
        tensor = statement->nodes[node].tensor;
        letters = statement->nodes[node].vars;
        if (statement->has_indices)
            return;
        for (int n = 0; n < statement->node_count; n++)
            for (int m = 0; m < draft->tensors[tensor].order; m++)
                if (statement->nodes[n].kind == NODE_ACCESS && statement->nodes[n].tensor == tensor &&
                    statement->nodes[n].vars[m] != letters[m])
                    return;
    }
    if (!draft->tensors[tensor].placed)
        return;
    for (int d = 0; d < DRAFT_DIMS; d++)
        writer->has_lengths = writer->has_lengths || draft->tensors[tensor].balance[d] != BALANCE_NONE;
    int local[DRAFT_ORDER];
    for (int m = 0; m < draft->tensors[tensor].order; m++) {
        local[m] = 0;
        while (writer->loops.vars[local[m]].name[0] != letters[m] || !writer->loops.vars[local[m]].source)
            local[m]++;
    }
    for (int level = 0; draw_onto_levels(writer, &draft->tensors[tensor], letters, local, &level);)
        if (random_chance(writer->random, 15))
            return;
        else if (random_chance(writer->random, 15))
            draw_steps(writer, random_chance(writer->random, 25));
}

static void draw_by_hand(ScheduleWriter *writer) {
    const DraftMachine *machine = &writer->draft->machines[0];
    int outer[DRAFT_DIMS], count = 0, wanted = random_between(writer->random, 1, 2);
    if (random_chance(writer->random, 25))
        draw_collapse(writer);
    for (int d = 0; d < wanted; d++) {
        int var = draw_derivable(writer), children[2];
        if (var < 0)
            break;
        int64_t factor = random_between(writer->random, 1, 4);
        char text[32];
        snprintf(text, sizeof text, "%d", (int)factor);
        if (d < machine->order && random_chance(writer->random, 75)) {
            draft_size_text(writer->draft, machine->sizes[d], text);
            factor = writer->draft->sizes[machine->sizes[d]].value;
        }
        if (!writer_blocks(writer, var, false, text, factor, children))
            break;
        writer->loops.vars[children[0]].said = SAID_DISTRIBUTE; // so that it is not divided again
        outer[count++] = children[0];
    }
    for (int i = 0; i < count; i++)
        writer->loops.vars[outer[i]].said = 0;
    if (count == 0)
        return;
    int all[MAX_LOOP_VARS], all_count = loops_all(&writer->loops, all), order[MAX_LOOP_VARS], next = 0;
    for (int i = 0; i < count; i++)
        order[next++] = outer[i];
    for (int i = 0; i < all_count; i++) {
        bool is_outer = false;
        for (int k = 0; k < count; k++)
            is_outer |= outer[k] == all[i];
        if (!is_outer)
            order[next++] = all[i];
    }
    if (random_chance(writer->random, 85) && writer_reorder(writer, order, next) && count == 2 &&
        random_chance(writer->random, 35) && writer_collapse(writer, outer[0], outer[1])) {
        outer[0] = writer->loops.var_count - 1;
        count = 1;
    }
    writer_distribute_loops(writer, outer, count);
}

static void draw_plain(ScheduleWriter *writer) {
    int vars[DRAFT_DIMS], count = 0, wanted = random_between(writer->random, 1, 2);
    for (int i = 0; i < wanted; i++) {
        int var = draw_loop(writer, i == 0 && random_chance(writer->random, 50));
        if (var >= 0 && (count == 0 || vars[0] != var))
            vars[count++] = var;
    }
    if (count > 0)
        writer_distribute_loops(writer, vars, count);
}

// Two loops over processors become one.
static void draw_collapse_of_distributed(ScheduleWriter *writer) {
    if (writer->loops.uncertain && !writer_settle(writer))
        return;
    const LoopNest nest = writer->loops.nests[random_below(writer->random, writer->loops.nest_count)];
    for (int i = 0; i + 1 < nest.count; i++)
        if (writer->loops.vars[nest.loops[i]].said == SAID_DISTRIBUTE &&
            writer->loops.vars[nest.loops[i + 1]].said == SAID_DISTRIBUTE &&
            writer_collapse(writer, nest.loops[i], nest.loops[i + 1]))
            return;
}

static void draw_distribution(ScheduleWriter *writer) {
    static const int weights[] = {16, 40, 14, 18, 12};
    int kind = random_weighted(writer->random, weights, 5);
    if (kind == 1 && writer->draft->machines[0].level_count > 0)
        draw_onto_machine(writer);
    else if (kind == 2)
        draw_onto_tensor(writer);
    else if (kind == 3)
        draw_by_hand(writer);
    else if (kind == 4)
        draw_plain(writer);
    if (random_chance(writer->random, 15) && !writer->has_lengths)
        draw_collapse_of_distributed(writer);
}

static void draw_transformations(ScheduleWriter *writer) {
    static const int weights[] = {42, 24, 12, 22};
    int count = random_below(writer->random, 5);
    for (int i = 0; i < count; i++) {
        switch (random_weighted(writer->random, weights, 4)) {
        case 0:
            draw_blocks(writer);
            break;
        case 1:
            draw_reorder(writer);
            break;
        case 2:
            draw_collapse(writer);
            break;
        default:
            draw_rotate(writer);
        }
    }
}

static void draw_communication(ScheduleWriter *writer) {
    for (int tries = 0; tries < 6; tries++) {
        int vars[MAX_LOOP_VARS], count = loops_all(&writer->loops, vars);
        if (count == 0 || !random_chance(writer->random, 55))
            continue;
        const int var = vars[random_below(writer->random, count)];
        const unsigned possible = writer_communicable(writer, var);
        unsigned chosen = 0;
        for (int t = 0; t < LOOPS_TENSORS; t++)
            if (possible & 1u << t && random_chance(writer->random, 60))
                chosen |= 1u << t;
        if (chosen)
            writer_communicate(writer, chosen, var);
    }
}

// False where the statement is not one for schedules.
static bool begin_schedule(ScheduleWriter *writer, Random *random, Draft *draft, int at) {
    *writer = (ScheduleWriter){.random = random, .draft = draft, .statement = &draft->statements[at]};
    for (int n = 0; n < writer->statement->node_count; n++)
        if (writer->statement->nodes[n].kind == NODE_REDUCE)
            return false; // the nests of its reductions are not followed
    if (writer->statement->reducer[0] && !writer->statement->accumulate && writer->statement->has_indices)
        return false; // nor those of a reduction that the statement does not make itself, as elements may be
                      // left
    writer->statement->has_schedule = true;
    const bool combines = writer->statement->reducer[0] && writer->statement->accumulate &&
                          draft_is_sparse(&draft->tensors[writer->statement->target]);
    writer->sums_itself = (combines || draft_reads_target(writer->statement, writer->statement->root)) &&
                          draft_sums(draft, writer->statement);
    loops_create(draft, writer->statement, NULL, 0, &writer->loops);
    for (int p = 0; p < MAX_PARTS; p++)
        snprintf(writer->workspaces[p], sizeof writer->workspaces[p], "%c%d", "WV"[p], at);
    return writer->loops.nest_count > 0;
}

void draw_workspaces(Random *random, Draft *draft, int at) {
    enum { TRIES = 12 };
    ScheduleWriter writer;
    bool more = begin_schedule(&writer, random, draft, at);
    if (!more)
        return;
    for (int tries = 0; tries < TRIES && more; tries++)
        if (writer_precompute(&writer))
            more = writer.part_count < MAX_PARTS && random_chance(random, 50);
    if (random_chance(random, 30))
        writer_leaf(&writer);
}

static bool begin_workspaces_on_gpu(ScheduleWriter *writer, Random *random, Draft *draft, int at) {
    enum { TRIES = 12 };
    draft->statements[at].command_count = 0;
    if (!begin_schedule(writer, random, draft, at) || !writer_is_on_gpu(writer))
        return false;
    for (int tries = 0; tries < TRIES && writer->part_count < MAX_PARTS; tries++)
        if (!writer->part_count || random_chance(random, 15))
            writer_precompute(writer);
    return writer->part_count > 0;
}

void draw_workspaces_on_gpu(Random *random, Draft *draft, int at) {
    enum { DRAWS = 10, MOST_UNITS = 4 };
    ScheduleWriter writer;
    DraftStatement *statement = &draft->statements[at];
    const DraftStatement before = *statement;
    bool begun = false;
    for (int draws = 0; draws < DRAWS && !(begun && writer.long_rows); draws++)
        begun = begin_workspaces_on_gpu(&writer, random, draft, at);
    if (!begun) {
        *statement = before;
        return;
    }
    if (random_chance(random, 30))
        draw_blocks(&writer);
    if (random_chance(random, 20))
        draw_reorder(&writer);
    const int units = random_chance(random, 50) ? random_between(random, 1, MOST_UNITS) : 0;
    for (int u = 0; u < units; u++)
        writer_parallelize(&writer, true);
}

void draw_rotations(Random *random, Draft *draft, int at) {
    ScheduleWriter writer;
    if (!begin_schedule(&writer, random, draft, at))
        return;
    for (int rotations = random_between(random, 1, 2); rotations > 0; rotations--) {
        if (random_chance(random, 40))
            draw_blocks(&writer);
        draw_rotate(&writer);
        draw_reorder(&writer);
    }
    writer_leaf(&writer);
}

void draw_schedule(Random *random, Draft *draft, int at) {
    ScheduleWriter writer;
    if (!begin_schedule(&writer, random, draft, at))
        return;
    while (writer.part_count < MAX_PARTS && random_chance(random, writer.part_count ? 60 : 28) &&
           writer_precompute(&writer))
        continue;
    if (random_chance(random, 15))
        draw_outer_split(&writer);
    if (random_chance(random, 12))
        draw_blocks(&writer);
    if (random_chance(random, 10))
        draw_transformations(&writer);
    draw_distribution(&writer);
    // Another nest along the same machine.
    if (writer.loops.nest_count > 1 && writer.bound_count > 0 && random_chance(random, 50))
        draw_onto_machine(&writer);
    if (random_chance(random, 8))
        draw_plain(&writer);
    if (random_chance(random, 12))
        draw_communication(&writer);
    if (writer.distributed && random_chance(random, 30))
        draw_steps(&writer, true);
    else
        draw_transformations(&writer);
    draw_communication(&writer);
    if (random_chance(random, 10))
        draw_reorder(&writer);
    writer_leaf(&writer);
}
