// SPDX-License-Identifier: BSD-3-Clause
#include "machine/machine.h"

#include "base/integer.h"

#include <string.h>

Machine *machine_copy(Arena *arena, const Machine *machine) {
    Machine *copy = arena_copy(arena, machine, sizeof *machine);
    copy->name = arena_string(arena, machine->name, strlen(machine->name));
    copy->span = (Span){0};
    for (int l = 0; l < machine->level_count; l++)
        copy->levels[l].name = arena_string(arena, machine->levels[l].name, strlen(machine->levels[l].name));
    for (int d = 0; d < machine->order; d++) {
        copy->extents[d] = int_copy(arena, machine->extents[d]);
        copy->extent_spans[d] = (Span){0};
    }
    return copy;
}

const MachineLevel *machine_level(const Machine *machine, const char *name) {
    for (int i = 0; i < machine->level_count; i++)
        if (strcmp(machine->levels[i].name, name) == 0)
            return &machine->levels[i];
    return NULL;
}

const MachineLevel *machine_level_of(const Machine *machine, int dim) {
    const MachineLevel *level = machine->levels;
    while (dim >= level->first + level->order)
        level++;
    return level;
}

bool machine_grid(const Machine *machine, const int64_t *params, Grid *grid) {
    grid->order = machine->order;
    for (int d = 0; d < machine->order; d++)
        if (!int_eval(machine->extents[d], params, NULL, &grid->extents[d]) || grid->extents[d] < 1)
            return false;
    return true;
}

int64_t grid_size(const Grid *grid) {
    int64_t size = 1;
    for (int d = 0; d < grid->order; d++)
        size *= grid->extents[d];
    return size;
}

void grid_coordinates(const Grid *grid, int64_t index, int64_t *coordinates) {
    for (int d = grid->order - 1; d >= 0; d--) {
        coordinates[d] = index % grid->extents[d];
        index /= grid->extents[d];
    }
}

int64_t grid_index(const Grid *grid, const int64_t *coordinates) {
    int64_t index = 0;
    for (int d = 0; d < grid->order; d++)
        index = index * grid->extents[d] + coordinates[d];
    return index;
}

int64_t processors_per_rank(int64_t processors, int64_t ranks) {
    return ceil_div(processors, ranks);
}
