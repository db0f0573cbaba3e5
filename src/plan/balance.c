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
    for (int s = statement_count - 1; s >= 0 && tensor; s--) {
        for (int g = spmds[s]->stage_count - 1; g >= 0 && tensor; g--) {
            const Stage *stage = &spmds[s]->stages[g];
            if (stage->target == tensor)
                tensor = stage->result == RESULT_SHARED ? stage->shared->tensor : NULL;
        }
        if (tensor && tensor == assignment_old(spmds[s]->cin->assignment))
            tensor = tensor->old_of;
    }
    return tensor;
}

// Those around it first.
static void add_task(const Division *division, const Tensor *divided, int statement_count,
                     const Spmd *const *spmds, Arena *arena, BalanceTaskArray *tasks) {
    const Tensor *tensor = divided ? entries_of(divided, statement_count, spmds) : NULL;
    Division base;
    for (int64_t i = 0; i < tasks->count; i++)
        if (division_equal(&tasks->items[i].division, division))
            return;
    if (tensor && division_base(division, &base))
        add_task(&base, divided, statement_count, spmds, arena, tasks);
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
            if (!balance_is_by_entries(placement->entries[d].balance))
                continue;
            const Division division = placement_division(placement, tensors[t]->name, &grid, params, d);
            add_task(&division, find_tensor(tensor_count, tensors, division.tensor), statement_count, spmds,
                     arena, tasks);
        }
    }
    for (int s = 0; s < statement_count; s++) {
        const Cin *cin = spmds[s]->cin;
        for (int64_t r = 0; r < cin->relations.count; r++) {
            Division division;
            if (cin->relations.items[r]->kind->stored &&
                provenance_division(cin, cin->relations.items[r], params, arena, &division))
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
            if (balance_is_by_entries(entry->balance) && !entry->by &&
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

// Their modes; CELL_MODE is that behind those of the tensor.
static int find_keys(const Division *division, int order, int *modes) {
    int count = division->mode_count;
    for (int m = 0; m < count; m++)
        modes[m] = division->modes[m] == CELL_MODE ? order : division->modes[m];
    for (int m = 0; division->levels[division->depth - 1].balance == BALANCE_WEIGHTED && m < order; m++) {
        bool is_key = false;
        for (int k = 0; k < division->mode_count; k++)
            is_key = is_key || division->modes[k] == m;
        if (!is_key)
            modes[count++] = m;
    }
    return count;
}

int balance_key_count(const Division *division, int order) {
    int modes[MAX_ORDER + 1];
    return find_keys(division, order, modes);
}

// The cell of each entry.
static void find_cells(const Division *division, const Entries *entries, int64_t *cells) {
    int64_t extents[MAX_ORDER];
    division_extents(division, entries->extents, extents);
#pragma omp parallel for
    for (int64_t e = 0; e < entries->count; e++) {
        int64_t coordinates[MAX_ORDER] = {0};
        for (int m = 1; m < division->mode_count; m++)
            coordinates[m] = entries->coordinates[division->modes[m]][e];
        cells[e] = division_cell(division, extents, coordinates);
    }
}

const char *balance_points(const Division *division, const Entries *entries, Entries *points) {
    int modes[MAX_ORDER + 1];
    const int count = find_keys(division, entries->order, modes);
    if (division->cell_levels == 0)
        return entries_distinct(entries, count, modes, points);
    *points = (Entries){.type = TYPE_I32};
    int64_t *cells = memory_host.allocate(saturated_mul(entries->count, sizeof *cells));
    if (!cells)
        return "not enough memory";
    Entries with_cells = *entries;
    find_cells(division, entries, cells);
    with_cells.extents[entries->order] = division_cell_count(division);
    with_cells.coordinates[entries->order] = cells;
    const char *why = entries_distinct(&with_cells, count, modes, points);
    memory_host.release(cells);
    return why;
}

static void add_up(const BalanceKeys *keys, int64_t *numbers, int64_t count) {
    if (keys->add)
        keys->add(keys->context, numbers, count);
}

// Zeros where a position is none.
static void coordinates_at(void *context, const int64_t *positions, int64_t back, int64_t count, int modes,
                           int64_t *coordinates) {
    const BalanceKeys *keys = context;
    memset(coordinates, 0, sizeof(int64_t) * (size_t)(count * modes));
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = positions[i] - back - keys->before;
        for (int m = 0; m < modes && at >= 0 && at < keys->count; m++)
            coordinates[i * modes + m] = keys->coordinates[m][at];
    }
    add_up(keys, coordinates, count * modes);
}

static bool is_below(const BalanceKeys *keys, int64_t key, const int64_t *coordinates, int modes) {
    for (int m = 0; m < modes; m++)
        if (keys->coordinates[m][key] != coordinates[m])
            return keys->coordinates[m][key] < coordinates[m];
    return false;
}

static void count_below(void *context, const int64_t *coordinates, int64_t count, int modes,
                        int64_t *positions) {
    const BalanceKeys *keys = context;
    for (int64_t i = 0; i < count; i++) {
        int64_t first = 0, last = keys->count;
        while (first < last) {
            const int64_t middle = first + (last - first) / 2;
            if (is_below(keys, middle, &coordinates[i * modes], modes))
                first = middle + 1;
            else
                last = middle;
        }
        positions[i] = first;
    }
    add_up(keys, positions, count);
}

void balance_find(DividePlan *plan, const BalanceKeys *keys) {
    divide_find(plan, &(DivisionKeys){keys->total, coordinates_at, count_below, (void *)keys});
}

const Boundaries *balance_base(const Division *division, const BoundariesArray *known) {
    Division base;
    return division_base(division, &base) ? boundaries_find(known, &base) : NULL;
}

const char *balance_whole(const Division *division, const BoundariesArray *known, const Entries *entries,
                          Arena *arena, const Boundaries **boundaries) {
    int64_t extents[MAX_ORDER];
    Entries points;
    const char *why = balance_points(division, entries, &points);
    BalanceKeys keys = {.count = points.count, .total = points.count};
    division_extents(division, entries->extents, extents);
    for (int m = 0; m < division->mode_count; m++)
        keys.coordinates[m] = points.coordinates[m];
    DividePlan plan = divide_plan(division, balance_base(division, known), extents, 1, arena, arena);
    if (!why)
        balance_find(&plan, &keys);
    *boundaries = plan.found;
    entries_free(&points);
    return why;
}
