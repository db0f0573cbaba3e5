// SPDX-License-Identifier: BSD-3-Clause
// Placements whose parts are balanced by entries, at one level of the machine or at several inside of each
// other.
#include "generate.h"

#include <string.h>

enum { DEEPER_PERCENT = 90 };

static const DraftNode *access_of(const DraftStatement *statement, int tensor) {
    for (int n = 0; n < statement->node_count; n++)
        if (statement->nodes[n].kind == NODE_ACCESS && statement->nodes[n].tensor == tensor)
            return &statement->nodes[n];
    return NULL;
}

const char *draft_indices(const DraftStatement *statement, int tensor) {
    const DraftNode *node = access_of(statement, tensor);
    return statement->target == tensor ? statement->vars : node ? node->vars : NULL;
}

static bool has_other(const DraftTensor *tensor, int first, int count, int d) {
    for (int e = first; e < first + count; e++)
        if (e != d && tensor->entries[e] == tensor->entries[d])
            return true;
    return false;
}

// One dimension of each level of the machine, or of some from the first on, partitions the modes with this
// variable, in all tensors that are placed.
static void partition_deeper(Random *random, Draft *draft, char letter) {
    const DraftMachine *machine = &draft->machines[0];
    for (int l = 0, first = 0; l < machine->level_count; first += machine->level_order[l++]) {
        const int d = first + random_below(random, machine->level_order[l]);
        for (int t = 0; t < draft->tensor_count; t++) {
            DraftTensor *tensor = &draft->tensors[t];
            const char *indices = draft_indices(&draft->statements[0], t);
            const char *mode = indices ? memchr(indices, letter, (size_t)tensor->order) : NULL;
            const int before = tensor->entries[d];
            if (!tensor->placed || tensor->machine != 0 || !mode)
                continue;
            tensor->entries[d] = (int)(mode - indices);
            tensor->cycles[d] = 0;
            if (has_other(tensor, first, machine->level_order[l], d))
                tensor->entries[d] = before;
        }
    }
}

// The dimensions that partition the mode of a tensor, in order; how many there are.
static int levels_of(const DraftTensor *tensor, int order, int mode, int *dims) {
    int count = 0;
    for (int d = 0; d < order; d++)
        if (tensor->entries[d] == mode)
            dims[count++] = d;
    return count;
}

// The blocks of one mode of tensor `from` are balanced by its entries, at some of the levels that partition
// it. Those of all sparse tensors are, so that nothing of them has to move.
static void draw_balance(Random *random, Draft *draft, int from) {
    const DraftMachine *machine = &draft->machines[0];
    const DraftTensor *by = &draft->tensors[from];
    const int d = random_below(random, machine->level_order[0]), target = draft->statements[0].target;
    if (!by->placed || by->machine != 0 || by->entries[d] < 0 || from == target ||
        draft_is_padded(by, by->entries[d]))
        return;
    const int mode = by->entries[d];
    const char letter = draft_indices(&draft->statements[0], from)[mode];
    if (random_chance(random, DEEPER_PERCENT))
        partition_deeper(random, draft, letter);
    int dims[DRAFT_DIMS], own[DRAFT_DIMS];
    Balance balance[DRAFT_DIMS] = {BALANCE_NONE};
    const int count = levels_of(by, machine->order, mode, dims);
    if (count == 0) // another mode with this variable is divided now
        return;
    const int balanced = random_below(random, count); // the last level that is
    for (int l = 0; l <= balanced; l++)
        balance[l] =
            (Balance)random_between(random, l == balanced ? BALANCE_WEIGHTED : BALANCE_NONE, BALANCE_STORED);
    for (int t = 0; t < draft->tensor_count; t++) {
        DraftTensor *tensor = &draft->tensors[t];
        const char *indices = draft_indices(&draft->statements[0], t);
        if (!tensor->placed || tensor->machine != 0 || !indices || tensor->entries[dims[0]] < 0 ||
            indices[tensor->entries[dims[0]]] != letter ||
            (t != from && !draft_is_sparse(tensor) && random_chance(random, 30)))
            continue;
        bool alike = levels_of(tensor, machine->order, tensor->entries[dims[0]], own) > balanced;
        for (int l = 0; alike && l <= balanced; l++)
            alike = own[l] == dims[l];
        for (int l = 0; alike && l <= balanced; l++) {
            tensor->cycles[dims[l]] = 0;
            tensor->balance[dims[l]] = balance[l];
            tensor->by_mode[dims[l]] = mode;
        }
        tensor->is_by = alike && t != from;
        tensor->by = from;
    }
}

// Along dimensions that divide no entries, the modes that are not fused may be divided.
static void draw_others(Random *random, const Draft *draft, int modes, const int *along, const int *fused,
                        DraftTensor *tensor) {
    const DraftMachine *machine = &draft->machines[0];
    for (int l = 0, d = 0; l < machine->level_count; d += machine->level_order[l++]) {
        bool used[DRAFT_ORDER] = {false};
        for (int k = 0; k < machine->level_order[l]; k++) {
            const int mode = tensor->mode_order[random_below(random, tensor->order)];
            bool divided = k == along[l] && fused[l] >= 0;
            for (int s = 0; s < modes; s++)
                divided = divided || tensor->mode_order[s] == mode;
            if (divided || used[mode] || !random_chance(random, 70))
                continue;
            used[mode] = true;
            tensor->entries[d + k] = mode;
            tensor->balance[d + k] = BALANCE_NONE;
            tensor->cycles[d + k] = random_chance(random, 25) ? random_between(random, 1, 3) : 0;
        }
    }
}

// Levels around those that divide entries divide fused modes by coordinates, each along some dimensions.
static void draw_cells(Random *random, const Draft *draft, int modes, int around, DraftTensor *tensor) {
    const DraftMachine *machine = &draft->machines[0];
    for (int l = 0, d = 0; l < around; d += machine->level_order[l++]) {
        bool used[DRAFT_ORDER] = {false};
        for (int k = d; k < d + machine->level_order[l]; k++) {
            const int mode = tensor->mode_order[random_below(random, modes)];
            tensor->entries[k] = used[mode] || random_chance(random, 20) ? ENTRY_REPLICATE : mode;
            tensor->balance[k] = BALANCE_NONE;
            tensor->fused[k] = 0;
            tensor->cycles[k] =
                tensor->entries[k] >= 0 && random_chance(random, 30) ? random_between(random, 1, 3) : 0;
            used[mode] = true;
        }
    }
}

// Entries of one tensor are divided, along one dimension of each level or of some, and are the same along the
// others, or divided in its other modes; levels around those may divide the first mode. Other sparse operands
// are everywhere, or where they are used.
static void draw_fused(Random *random, Draft *draft, int from) {
    const DraftMachine *machine = &draft->machines[0];
    const DraftStatement *statement = &draft->statements[0];
    const DraftTensor *divided = &draft->tensors[from];
    int modes = random_between(random, 2, divided->order);
    while (draft_is_padded(divided, divided->mode_order[modes - 1]))
        modes--;
    if (modes < 2)
        return;
    int along[4], fused[4];
    Balance balance[4];
    const int around = random_chance(random, 30) ? 0 : random_below(random, machine->level_count);
    const bool cells = around > 0 && random_chance(random, 60);
    for (int l = 0; l < machine->level_count; l++) {
        along[l] = random_below(random, machine->level_order[l]);
        fused[l] = l < around                                ? random_below(random, 3) - 1
                   : l > around && random_chance(random, 50) ? -1
                                                             : modes;
        balance[l] =
            l < around ? (Balance)random_between(random, BALANCE_NONE, BALANCE_STORED) : BALANCE_STORED;
        if (l < around && cells)
            fused[l] = -1;
        if (l < around && fused[l] > 0) { // fewer modes
            fused[l] = random_between(random, 2, modes);
            balance[l] = BALANCE_STORED;
        }
        for (int outer = 0; outer < l; outer++)
            if (fused[l] >= 0 && fused[l] < fused[outer])
                fused[l] = fused[outer], balance[l] = BALANCE_STORED;
    }
    for (int t = 0; t < draft->tensor_count; t++) {
        DraftTensor *tensor = &draft->tensors[t];
        if (!draft_is_sparse(tensor) || !draft_indices(statement, t))
            continue;
        tensor->placed = t == from || random_chance(random, 60);
        tensor->machine = 0;
        memset(tensor->cycles, 0, sizeof tensor->cycles);
        for (int d = 0; d < machine->order; d++)
            tensor->entries[d] = ENTRY_REPLICATE;
        const bool like = t == statement->target && tensor->order == divided->order &&
                          !draft_is_padded(tensor, tensor->mode_order[modes - 1]);
        for (int l = 0, d = 0; l < machine->level_count && (t == from || like);
             d += machine->level_order[l++]) {
            if (fused[l] < 0)
                continue;
            tensor->entries[d + along[l]] = tensor->mode_order[0];
            tensor->balance[d + along[l]] = balance[l];
            tensor->fused[d + along[l]] = fused[l];
        }
        if (t == from && cells)
            draw_cells(random, draft, modes, around, tensor);
        if (t == from && random_chance(random, 40))
            draw_others(random, draft, modes, along, fused, tensor);
    }
}

void draw_lengths(Random *random, int order, DraftTensor *tensor) {
    enum { TENSOR_PERCENT = 25, LEVEL_PERCENT = 70, LISTED_PERCENT = 45 };
    const bool any = random_chance(random, TENSOR_PERCENT);
    memset(tensor->balance, 0, sizeof tensor->balance);
    for (int d = 0; d < order && any; d++) {
        bool inside = false, cyclic = tensor->cycles[d] > 0;
        for (int e = 0; e < d; e++) {
            inside = inside || tensor->entries[e] == tensor->entries[d];
            cyclic = cyclic || (tensor->entries[e] == tensor->entries[d] && tensor->cycles[e] > 0);
        }
        if (tensor->entries[d] < 0 || cyclic || !random_chance(random, LEVEL_PERCENT))
            continue;
        tensor->balance[d] =
            !inside && random_chance(random, LISTED_PERCENT) ? BALANCE_LISTED : BALANCE_LENGTHS;
        tensor->boundaries[d] = (uint32_t)random_next(random);
    }
}

void draw_nonzero_placements(Random *random, Draft *draft) {
    const DraftStatement *statement = &draft->statements[0];
    int sparse[DRAFT_TENSORS], count = 0;
    for (int t = 0; t < draft->tensor_count; t++)
        if (draft_is_sparse(&draft->tensors[t]) && t != statement->target && access_of(statement, t))
            sparse[count++] = t;
    if (count == 0 || draft->statement_count > 1)
        return;
    const int from = sparse[random_below(random, count)];
    for (int t = 0; t < draft->tensor_count; t++)
        memset(draft->tensors[t].balance, 0, sizeof draft->tensors[t].balance);
    if (draft->tensors[from].order > 1 && random_chance(random, 65))
        draw_fused(random, draft, from);
    else
        draw_balance(random, draft, from);
}
