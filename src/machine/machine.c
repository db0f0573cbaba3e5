// SPDX-License-Identifier: BSD-3-Clause
#include "machine/machine.h"

#include "base/integer.h"

#include <string.h>

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
