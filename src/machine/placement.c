// SPDX-License-Identifier: BSD-3-Clause
#include "machine/placement.h"

#include <string.h>

bool balanced_by_same(const PlaceEntry *a, const PlaceEntry *b) {
    return !a->by == !b->by && (!a->by || strcmp(a->by, b->by) == 0);
}

// Whether the same boundaries are listed, or none.
static bool listed_alike(const PlaceEntry *a, const PlaceEntry *b) {
    bool alike = a->start_count == b->start_count;
    for (int64_t i = 0; alike && i < a->start_count; i++)
        alike = int_equal(a->starts[i], b->starts[i]);
    return alike;
}

bool balanced_alike(const PlaceEntry *a, const PlaceEntry *b) {
    return listed_alike(a, b) && a->balance == b->balance && a->mode_count == b->mode_count &&
           balanced_by_same(a, b) && memcmp(a->modes, b->modes, sizeof(int) * (size_t)a->mode_count) == 0;
}

bool placement_equal(const Placement *a, const Placement *b) {
    if (!a || !b)
        return a == b;
    bool equal = a->machine == b->machine && a->memory == b->memory;
    for (int d = 0; equal && d < a->machine->order; d++) {
        const PlaceEntry *x = &a->entries[d], *y = &b->entries[d];
        equal = x->kind == y->kind && (x->kind != PLACE_PARTITION || x->mode == y->mode) &&
                (x->kind != PLACE_FIX || x->coordinate == y->coordinate) && int_equal(x->cycle, y->cycle) &&
                balanced_alike(x, y);
    }
    return equal;
}

static bool fuses(const PlaceEntry *entry, int mode) {
    for (int m = 0; entry->balance != BALANCE_NONE && m < entry->mode_count; m++)
        if (entry->modes[m] == mode)
            return entry->mode_count > 1;
    return false;
}

int placement_levels(const Placement *placement, int dim, int *dims) {
    const PlaceEntry *entry = &placement->entries[dim];
    int count = 0;
    for (int d = 0; d <= dim; d++)
        if (placement->entries[d].kind == PLACE_PARTITION &&
            (placement->entries[d].mode == entry->mode || fuses(entry, placement->entries[d].mode)))
            dims[count++] = d;
    return count;
}

// How many of the levels `dims`, the last of which is `last`, make cells: those before entries of fused modes
// are divided, unless all of them divide the first of these modes in contiguous parts.
static int cell_levels(const Placement *placement, const PlaceEntry *last, int count, const int *dims) {
    bool cells = false;
    int l = 0;
    for (; l < count && placement->entries[dims[l]].mode_count <= 1; l++)
        cells = cells || placement->entries[dims[l]].mode != last->mode || placement->entries[dims[l]].cycle;
    return last->mode_count > 1 && cells ? l : 0;
}

Division placement_division_form(const Placement *placement, const char *tensor, int dim) {
    const PlaceEntry *entry = &placement->entries[dim];
    const bool by_entries = balance_is_by_entries(entry->balance);
    Division division = {.tensor = !by_entries ? "" : entry->by ? entry->by : tensor};
    int dims[MAX_MACHINE_ORDER];
    const int count = placement_levels(placement, dim, dims);
    const int cells = cell_levels(placement, entry, count, dims);
    const int before = cells > 0;
    division.cell_levels = cells;
    division.modes[0] = CELL_MODE;
    memcpy(division.modes + before, entry->modes, sizeof *entry->modes * (size_t)(MAX_ORDER - before));
    for (int l = 0; l < count; l++) {
        const PlaceEntry *level = &placement->entries[dims[l]];
        for (int m = 1; l < cells && m <= entry->mode_count; m++)
            if (division.modes[m] == level->mode)
                division.cells[l].mode = m;
        division_add(&division, level->balance,
                     level->balance == BALANCE_NONE ? 1 : level->mode_count + before, 0);
    }
    return division;
}

Division placement_division(const Placement *placement, const char *tensor, const Grid *grid,
                            const int64_t *params, int dim) {
    Division division = placement_division_form(placement, tensor, dim);
    int dims[MAX_MACHINE_ORDER];
    const int count = placement_levels(placement, dim, dims);
    for (int l = 0; l < count; l++) {
        const IntExpr *cycle = placement->entries[dims[l]].cycle;
        division.levels[l].parts = grid->extents[dims[l]];
        if (l < division.cell_levels && cycle && !int_eval(cycle, params, NULL, &division.cells[l].block))
            division.cells[l].block = 1; // layout_create refuses it
    }
    return division;
}

const int64_t *placement_starts(int64_t count, const IntExpr *const *starts, const int64_t *params,
                                Arena *arena) {
    int64_t *values = arena_array(arena, int64_t, count);
    for (int64_t i = 0; i < count; i++)
        if (!int_eval(starts[i], params, NULL, &values[i]) || values[i] < (i ? values[i - 1] : 0))
            return NULL;
    return values;
}
