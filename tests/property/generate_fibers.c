// SPDX-License-Identifier: BSD-3-Clause
// Sparse tensors whose last levels are dense below stored coordinates, of which ranks have parts.
#include "generate.h"

#include <string.h>

bool draft_is_padded(const DraftTensor *tensor, int mode) {
    bool above = false, below = true;
    int l = 0;
    for (; tensor->mode_order[l] != mode; l++)
        above = above || tensor->levels[l];
    for (; l < tensor->order; l++)
        below = below && !tensor->levels[l];
    return above && below;
}

static void make_fibers(Random *random, DraftTensor *tensor) {
    const int above = random_between(random, 1, tensor->order - 1);
    tensor->formats = true;
    for (int l = 0; l < tensor->order; l++)
        tensor->levels[l] = l < above ? "compressed" : NULL;
    if (above > 1 && random_chance(random, 30))
        tensor->levels[0] = NULL;
}

void draw_fibers(Random *random, const Draft *draft, DraftTensor *tensor) {
    enum { FIBERS_PERCENT = 20 };
    const DraftMachine *machine = &draft->machines[tensor->machine];
    if (!draft_is_sparse(tensor) || !tensor->placed || tensor->order < 2 ||
        !random_chance(random, FIBERS_PERCENT))
        return;
    make_fibers(random, tensor);
    memset(tensor->balance, 0, sizeof tensor->balance);
    // One mode at most along the dimensions of a level of the machine.
    const int mode = tensor->mode_order[tensor->order - 1];
    for (int l = 0, d = 0; l < machine->level_count; d += machine->level_order[l++]) {
        const int at = d + random_below(random, machine->level_order[l]);
        for (int e = d; e < d + machine->level_order[l]; e++)
            if (tensor->entries[e] == mode)
                tensor->entries[e] = ENTRY_REPLICATE;
        if (l == 0 || random_chance(random, 50))
            tensor->entries[at] = mode;
    }
}
