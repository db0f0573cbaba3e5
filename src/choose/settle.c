// SPDX-License-Identifier: BSD-3-Clause
#include "choose/settle.h"

#include "base/integer.h"
#include "choose/sequence.h"

#include <string.h>

static bool is_taken(const Search *search, const bool *used, int64_t own, const char *name) {
    const Program *program = search->program;
    for (int p = 0; p < program->param_count; p++)
        if (strcmp(program->param_names[p], name) == 0)
            return true;
    for (int t = 0; t < program->tensor_count; t++)
        if (strcmp(program->tensors[t]->name, name) == 0)
            return true;
    for (int64_t m = 0; m < search->machines.count; m++)
        if (m != own && used[m] && strcmp(search->machines.items[m].machine->name, name) == 0)
            return true;
    return false;
}

static void mark_placements(const Search *search, const unsigned char *places, bool *used) {
    for (int t = 0; t < search->program->tensor_count; t++) {
        const SearchTensor *tensor = &search->tensors[t];
        const Placement *placement = tensor->tensor->placement;
        if (tensor->free && places[t] != NO_PLACE)
            placement = tensor->places[places[t]]->placement;
        for (int64_t m = 0; placement && m < search->machines.count; m++)
            used[m] = used[m] || search->machines.items[m].machine == placement->machine;
    }
}

static void name_machines(Search *search, const bool *used) {
    for (int64_t m = 0; m < search->machines.count; m++)
        if (search->machines.items[m].own)
            search->machines.items[m].own->name = "";
    for (int64_t m = 0, number = 1; m < search->machines.count; m++) {
        Machine *own = search->machines.items[m].own;
        while (own && used[m] && (own->name[0] == '\0' || is_taken(search, used, m, own->name))) {
            own->name = number == 1 ? "M" : arena_printf(search->arena, "M%d", (int)number);
            number++;
        }
    }
}

const bool *settle_machines(Search *search, const unsigned char *places, const Candidate *const *candidates) {
    const int64_t before = search->machines.count;
    bool *used = arena_array(search->arena, bool, before + 1);
    bool any_kept = false;
    mark_placements(search, places, used);
    for (int s = 0; s < search->program->statement_count; s++) {
        any_kept = any_kept || search->statements[s].kept;
        if (candidates[s])
            used[candidates[s]->machine] = true;
    }
    int64_t largest = 0;
    for (int64_t m = 0; m < before; m++) {
        used[m] = used[m] || (any_kept && !search->machines.items[m].own);
        if (used[m])
            largest = max_i64(largest, grid_size(&search->machines.items[m].grid));
    }
    if (largest > 0 && largest < search->ranks)
        used[search_grid(search, 1, &search->ranks)] = true;
    name_machines(search, used);
    return used;
}
