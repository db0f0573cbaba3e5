// SPDX-License-Identifier: BSD-3-Clause
#include "machine/divide.h"

#include "base/integer.h"

#include <string.h>

// The parts of the levels before the last run: those of the base, each in blocks of equal length.
static void find_outer(DividePlan *plan, const Boundaries *base, Arena *scratch) {
    const Division *division = &plan->found->division;
    const int run = division_last_run(division);
    int64_t length = base ? boundaries_longest(base) : plan->extents[0], count = base ? base->count : 1;
    plan->outer_modes = base ? base->division.mode_count : 1;
    const int modes = plan->outer_modes;
    const int64_t whole[] = {0, plan->extents[0]};
    const int64_t *starts = base ? base->starts : whole;
    for (int l = base ? base->division.depth : 0; l < run; l++) {
        const int64_t parts = division->levels[l].parts;
        int64_t *inner = arena_array(scratch, int64_t, count * parts + 1);
        length = ceil_div(length, parts);
        for (int64_t q = 0; q < count; q++)
            for (int64_t c = 0; c < parts; c++)
                inner[q * parts + c] = min_i64(starts[q] + c * length, starts[q + 1]);
        count *= parts;
        inner[count] = plan->extents[0];
        starts = inner;
    }
    plan->outer_count = count;
    plan->outer = arena_copy(scratch, starts, sizeof(int64_t) * (size_t)((count + 1) * modes));
}

DividePlan divide_plan(const Division *division, const Boundaries *base, const int64_t *extents,
                       int64_t tries, Arena *arena, Arena *scratch) {
    const int64_t count = division_parts(division), modes = division->mode_count;
    Boundaries *found = arena_new(arena, Boundaries);
    *found = (Boundaries){.division = *division,
                          .count = count,
                          .positions = arena_array(arena, int64_t, count + 1),
                          .starts = arena_array(arena, int64_t, (count + 1) * modes),
                          .firsts = arena_array(arena, int64_t, count * modes),
                          .lasts = arena_array(arena, int64_t, count * modes)};
    DividePlan plan = {.found = found,
                       .extents = arena_copy(scratch, extents, sizeof(int64_t) * (size_t)modes)};
    memcpy(found->extents, extents, sizeof(int64_t) * (size_t)modes);
    find_outer(&plan, base, scratch);
    plan.from = arena_array(scratch, int64_t, plan.outer_count + 1);
    plan.tries = max_i64(1, tries / plan.outer_count);
    if (division->levels[division->depth - 1].balance == BALANCE_WEIGHTED) {
        const int64_t tried = plan.outer_count * plan.tries;
        plan.least = arena_array(scratch, int64_t, plan.outer_count);
        plan.most = arena_array(scratch, int64_t, plan.outer_count);
        plan.loads = arena_array(scratch, int64_t, tried);
        plan.filled = arena_array(scratch, int64_t, tried);
        plan.ends = arena_array(scratch, int64_t, tried);
        plan.next = arena_array(scratch, int64_t, tried);
    }
    return plan;
}

// Parts of whole coordinates, each as long as a load permits, of all parts before and for several loads at a
// time: how much all of them have. Of one load also where the parts begin, unless NULL.
static void fill_parts(DividePlan *plan, const DivisionKeys *keys, int64_t tries, int64_t *positions) {
    const Division *division = &plan->found->division;
    const int64_t parts = division->levels[division->depth - 1].parts, count = plan->outer_count * tries;
    for (int64_t i = 0; i < count; i++)
        plan->filled[i] = plan->from[i / tries];
    for (int64_t c = 0; c < parts; c++) {
        for (int64_t i = 0; i < count; i++) {
            if (positions)
                positions[i * parts + c] = plan->filled[i];
            plan->ends[i] =
                plan->filled[i] + min_i64(plan->loads[i], plan->from[i / tries + 1] - plan->filled[i]);
        }
        keys->coordinates_at(keys->context, plan->ends, 0, count, 1, plan->next);
        keys->count_below(keys->context, plan->next, count, 1, plan->filled);
        for (int64_t i = 0; i < count; i++)
            if (plan->ends[i] == plan->from[i / tries + 1])
                plan->filled[i] = plan->ends[i];
    }
}

// The least load with which the parts have all of what each part before has.
static void find_loads(DividePlan *plan, const DivisionKeys *keys) {
    const Division *division = &plan->found->division;
    const int64_t parts = division->levels[division->depth - 1].parts;
    bool open = false;
    for (int64_t q = 0; q < plan->outer_count; q++) {
        plan->most[q] = plan->from[q + 1] - plan->from[q];
        plan->least[q] = ceil_div(plan->most[q], parts);
        open = open || plan->least[q] < plan->most[q];
    }
    while (open) {
        const int64_t tries = plan->tries;
        for (int64_t i = 0; i < plan->outer_count * tries; i++) {
            const int64_t q = i / tries, between = plan->most[q] - plan->least[q];
            plan->loads[i] = plan->least[q] + part_begin(between, tries + 1, i % tries + 1) - 1;
        }
        fill_parts(plan, keys, tries, NULL);
        open = false;
        for (int64_t q = 0; q < plan->outer_count; q++) {
            for (int64_t i = q * tries; i < (q + 1) * tries && plan->loads[i] < plan->most[q]; i++)
                if (plan->filled[i] == plan->from[q + 1])
                    plan->most[q] = plan->loads[i];
                else
                    plan->least[q] = plan->loads[i] + 1;
            open = open || plan->least[q] < plan->most[q];
        }
    }
    memcpy(plan->loads, plan->most, sizeof(int64_t) * (size_t)plan->outer_count);
}

static void find_positions(DividePlan *plan, const DivisionKeys *keys, int64_t *positions) {
    const Boundaries *found = plan->found;
    const Division *division = &found->division;
    const int64_t inner = found->count / plan->outer_count;
    if (division->levels[division->depth - 1].balance == BALANCE_WEIGHTED) {
        find_loads(plan, keys);
        fill_parts(plan, keys, 1, positions);
    } else {
        for (int64_t q = 0; q < plan->outer_count; q++) {
            int64_t *own = &positions[q * inner];
            division_positions(division, plan->from[q + 1] - plan->from[q], own);
            for (int64_t c = 0; c < inner; c++)
                own[c] += plan->from[q];
        }
    }
    positions[found->count] = keys->total;
}

// A part begins with its first coordinates, but for the first of several, which begins where the part before
// does, and those behind all that this has, which begin where it ends.
static void find_starts(const DividePlan *plan, const DivisionKeys *keys) {
    const Boundaries *found = plan->found;
    const int modes = found->division.mode_count, outer_modes = plan->outer_modes;
    const int64_t inner = found->count / plan->outer_count;
    int64_t *starts = (int64_t *)found->starts, *firsts = (int64_t *)found->firsts;
    keys->coordinates_at(keys->context, found->positions, 0, found->count, modes, firsts);
    keys->coordinates_at(keys->context, found->positions + 1, 1, found->count, modes,
                         (int64_t *)found->lasts);
    memcpy(starts, firsts, sizeof(int64_t) * (size_t)(found->count * modes));
    for (int64_t p = 0; p <= found->count; p++) {
        const int64_t q = p / inner, position = found->positions[p];
        const bool begins = p == q * inner;
        if (p < found->count && position == found->total) {
            memset(&firsts[p * modes], 0, sizeof(int64_t) * (size_t)modes);
            firsts[p * modes] = plan->extents[0];
        }
        if (!begins && position < plan->from[q + 1])
            continue;
        memset(&starts[p * modes], 0, sizeof(int64_t) * (size_t)modes);
        memcpy(&starts[p * modes], &plan->outer[(q + !begins) * outer_modes],
               sizeof(int64_t) * (size_t)outer_modes);
    }
}

void divide_find(DividePlan *plan, const DivisionKeys *keys) {
    Boundaries *found = plan->found;
    found->total = keys->total;
    keys->count_below(keys->context, plan->outer, plan->outer_count, plan->outer_modes, plan->from);
    plan->from[plan->outer_count] = keys->total;
    find_positions(plan, keys, (int64_t *)found->positions);
    find_starts(plan, keys);
}
