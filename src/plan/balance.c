// SPDX-License-Identifier: BSD-3-Clause
#include "plan/balance.h"

#include "base/integer.h"

#include <string.h>

static const Tensor *find_tensor(int count, const Tensor *const *tensors, const char *name) {
    for (int t = 0; t < count; t++)
        if (strcmp(tensors[t]->name, name) == 0)
            return tensors[t];
    return NULL;
}

// The tensor whose entries those of `tensor` follow from; NULL: they are computed.
static const Tensor *entries_of(const Tensor *tensor, int statement_count, const Spmd *const *spmds) {
    for (int s = statement_count - 1; s >= 0 && tensor; s--)
        for (int g = spmds[s]->stage_count - 1; g >= 0 && tensor; g--) {
            const Stage *stage = &spmds[s]->stages[g];
            if (stage->target == tensor)
                tensor = stage->result == RESULT_SHARED ? stage->shared->tensor : NULL;
        }
    return tensor;
}

static void add_task(const Division *division, const Tensor *divided, int statement_count,
                     const Spmd *const *spmds, Arena *arena, BalanceTaskArray *tasks) {
    const Tensor *tensor = divided ? entries_of(divided, statement_count, spmds) : NULL;
    for (int64_t i = 0; i < tasks->count; i++)
        if (division_equal(&tasks->items[i].division, division))
            return;
    if (tensor)
        array_push(arena, *tasks, (BalanceTask){*division, tensor, divided});
}

void balance_tasks(int tensor_count, const Tensor *const *tensors, int statement_count,
                   const Spmd *const *spmds, const int64_t *params, Arena *arena, BalanceTaskArray *tasks) {
    for (int t = 0; t < tensor_count; t++) {
        const Placement *placement = tensors[t]->placement;
        Grid grid;
        if (!placement || !machine_grid(placement->machine, params, &grid))
            continue;
        for (int d = 0; d < placement->machine->order; d++) {
            if (placement->entries[d].balance == BALANCE_NONE)
                continue;
            const Division division = placement_division(placement, tensors[t]->name, &grid, d);
            add_task(&division, find_tensor(tensor_count, tensors, division.tensor), statement_count, spmds,
                     arena, tasks);
        }
    }
    for (int s = 0; s < statement_count; s++) {
        const Cin *cin = spmds[s]->cin;
        for (int64_t r = 0; r < cin->relations.count; r++) {
            Division division;
            if (cin->relations.items[r]->kind->stored &&
                provenance_division(cin, cin->relations.items[r], params, &division))
                add_task(&division, find_tensor(tensor_count, tensors, division.tensor), statement_count,
                         spmds, arena, tasks);
        }
    }
}

bool balance_check(int tensor_count, const Tensor *const *tensors, int statement_count,
                   const Spmd *const *spmds, Diagnostics *diagnostics) {
    for (int t = 0; t < tensor_count; t++) {
        const Placement *placement = tensors[t]->placement;
        for (int d = 0; placement && d < placement->machine->order; d++) {
            const PlaceEntry *entry = &placement->entries[d];
            if (entry->balance != BALANCE_NONE && !entry->by &&
                !entries_of(tensors[t], statement_count, spmds))
                return diagnostics_error(
                    diagnostics, entry->span,
                    "which entries '%s' has is known only when it has been computed; partition it by "
                    "coordinates, or by the entries of an operand B: 'weighted(%s, B)'",
                    tensors[t]->name, placement->names[entry->mode]);
        }
    }
    return true;
}

int balance_keys(const Division *division, int order, int *modes) {
    int count = division->mode_count;
    memcpy(modes, division->modes, sizeof(int) * (size_t)count);
    for (int m = 0; division->balance == BALANCE_WEIGHTED && m < order; m++) {
        bool is_key = false;
        for (int k = 0; k < division->mode_count; k++)
            is_key = is_key || division->modes[k] == m;
        if (!is_key)
            modes[count++] = m;
    }
    return count;
}

static void add_up(const BalanceKeys *keys, int64_t *numbers, int64_t count) {
    if (keys->add)
        keys->add(keys->context, numbers, count);
}

// The coordinates at these positions, or `back` before them; zeros where a position is none.
static void coordinates_at(const BalanceKeys *keys, int modes, const int64_t *positions, int64_t back,
                           int64_t count, int64_t *coordinates) {
    memset(coordinates, 0, sizeof(int64_t) * (size_t)(count * modes));
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = positions[i] - back - keys->before;
        for (int m = 0; m < modes && at >= 0 && at < keys->count; m++)
            coordinates[i * modes + m] = keys->coordinates[m][at];
    }
    add_up(keys, coordinates, count * modes);
}

// How many have a coordinate less than each of these in the first mode.
static void count_below(const BalanceKeys *keys, const int64_t *coordinates, int64_t count,
                        int64_t *positions) {
    for (int64_t i = 0; i < count; i++) {
        int64_t first = 0, last = keys->count;
        while (first < last) {
            const int64_t middle = first + (last - first) / 2;
            if (keys->coordinates[0][middle] < coordinates[i])
                first = middle + 1;
            else
                last = middle;
        }
        positions[i] = first;
    }
    add_up(keys, positions, count);
}

enum { TRIED_AT_ONCE = 256 };

// Parts of whole coordinates, each as long as a load permits: how many entries all of them have, for several
// loads at a time, as each step is a reduction over all ranks. Of one load also where the parts begin, unless
// NULL.
static void fill_parts(const BalanceKeys *keys, int64_t parts, const int64_t *loads, int64_t count,
                       int64_t *filled, int64_t *positions, int64_t *starts) {
    int64_t ends[TRIED_AT_ONCE], next[TRIED_AT_ONCE] = {0};
    memset(filled, 0, sizeof(int64_t) * (size_t)count);
    for (int64_t q = 0; q < parts; q++) {
        if (positions) {
            positions[q] = filled[0];
            starts[q] = next[0];
        }
        for (int64_t i = 0; i < count; i++)
            ends[i] = filled[i] + min_i64(loads[i], keys->total - filled[i]);
        coordinates_at(keys, 1, ends, 0, count, next);
        count_below(keys, next, count, filled);
        for (int64_t i = 0; i < count; i++)
            if (ends[i] == keys->total)
                filled[i] = keys->total;
    }
}

// The least load with which the parts have all entries.
static int64_t least_load(const BalanceKeys *keys, int64_t parts) {
    const int count = keys->add ? TRIED_AT_ONCE : 1;
    int64_t loads[TRIED_AT_ONCE], filled[TRIED_AT_ONCE];
    int64_t least = ceil_div(keys->total, parts), most = keys->total;
    while (least < most) {
        for (int i = 0; i < count; i++)
            loads[i] = least + part_begin(most - least, count + 1, i + 1) - 1;
        fill_parts(keys, parts, loads, count, filled, NULL, NULL);
        for (int i = 0; i < count && loads[i] < most; i++)
            if (filled[i] == keys->total)
                most = loads[i];
            else
                least = loads[i] + 1;
    }
    return most;
}

// Between coordinates, so that the most that a part has is as little as possible.
static void weighted_positions(const Division *division, const BalanceKeys *keys, int64_t *positions,
                               int64_t *starts) {
    const int64_t parts = division_parts(division), load = least_load(keys, parts);
    int64_t filled;
    fill_parts(keys, parts, &load, 1, &filled, positions, starts);
    positions[parts] = keys->total;
}

Boundaries *balance_allocate(const Division *division, Arena *arena) {
    const int64_t count = division_parts(division), modes = division->mode_count;
    Boundaries *boundaries = arena_new(arena, Boundaries);
    *boundaries = (Boundaries){.division = *division,
                               .count = count,
                               .positions = arena_array(arena, int64_t, count + 1),
                               .starts = arena_array(arena, int64_t, (count + 1) * modes),
                               .lasts = arena_array(arena, int64_t, (count + 1) * modes),
                               .first = arena_array(arena, int64_t, modes)};
    return boundaries;
}

void balance_find(Boundaries *boundaries, const int64_t *extents, const BalanceKeys *keys) {
    const Division *division = &boundaries->division;
    const int modes = division->mode_count;
    const int64_t count = boundaries->count;
    int64_t *positions = (int64_t *)boundaries->positions, *starts = (int64_t *)boundaries->starts;
    boundaries->total = keys->total;
    if (division->balance == BALANCE_WEIGHTED) {
        weighted_positions(division, keys, positions, starts);
    } else {
        division_positions(division, keys->total, positions);
        coordinates_at(keys, modes, positions, 0, count, starts);
    }
    coordinates_at(keys, modes, positions + 1, 1, count, (int64_t *)boundaries->lasts);
    coordinates_at(keys, modes, &(int64_t){0}, 0, 1, (int64_t *)boundaries->first);
    for (int64_t q = 0; q <= count; q++)
        if (q == 0 || positions[q] == keys->total) {
            memset(&starts[q * modes], 0, sizeof(int64_t) * (size_t)modes);
            starts[q * modes] = q == 0 ? 0 : extents[0];
        }
}

const char *balance_whole(const Division *division, const Entries *entries, Arena *arena,
                          const Boundaries **boundaries) {
    int modes[MAX_ORDER];
    int64_t extents[MAX_ORDER];
    Entries points;
    const char *why =
        entries_distinct(entries, balance_keys(division, entries->order, modes), modes, &points);
    BalanceKeys keys = {.count = points.count, .total = points.count};
    for (int m = 0; m < division->mode_count; m++) {
        keys.coordinates[m] = points.coordinates[m];
        extents[m] = entries->extents[division->modes[m]];
    }
    Boundaries *found = balance_allocate(division, arena);
    if (!why)
        balance_find(found, extents, &keys);
    *boundaries = found;
    entries_free(&points);
    return why;
}
