// SPDX-License-Identifier: BSD-3-Clause
#include "choose/natural.h"

// The mode to be divided along a dimension that an access has not: of those that no dimension divides, one
// that is summed over, else the longest.
static int spare_mode(const SearchStatement *statement, const SearchTensor *tensor, const Access *access,
                      const bool *divided, int64_t parts) {
    int best = -1;
    bool best_summed = false;
    const VarSet left = access_vars(statement->cin->assignment->lhs);
    for (int m = 0; m < access->tensor->order; m++) {
        if (divided[m] || tensor->extents[m] < parts)
            continue;
        const int var = access_mode_var(access, m);
        const bool summed = var >= 0 && !(left >> var & 1);
        if (best < 0 || summed > best_summed ||
            (summed == best_summed && tensor->extents[m] > tensor->extents[best])) {
            best = m;
            best_summed = summed;
        }
    }
    return best;
}

// A tensor that is small beside what a rank has anyway: a sixteenth of it; and half of it, where it would
// move at the entries of sparse operands, and memory need not be spared.
static bool is_small(const Search *search, const SearchStatement *statement, const SearchTensor *tensor) {
    enum { SHARE = 16, SPARSE_SHARE = 2 };
    const double share = statement->sparse && !search->spares ? SPARSE_SHARE : SHARE;
    double all = 0;
    for (int t = 0; t < search->program->tensor_count; t++)
        all += search->tensors[t].bytes;
    return tensor->input && !tensor->in_disk && tensor->bytes * share * (double)search->ranks <= all;
}

// The mode that the variable of a dimension indexes, if no dimension divides it yet; -1: none.
static int mode_along(const Candidate *candidate, const Access *access, int dim, const bool *divided) {
    for (int m = 0; dim < candidate->count && m < access->tensor->order; m++)
        if (!divided[m] && access_mode_var(access, m) == candidate->vars[dim])
            return m;
    return -1;
}

static PlaceEntry entry_of(int mode, PlaceKind otherwise) {
    return mode >= 0 ? (PlaceEntry){.kind = PLACE_PARTITION, .mode = mode} : (PlaceEntry){.kind = otherwise};
}

static Placement *new_placement(Search *search, const Machine *machine, const Access *access) {
    Placement *placement = arena_new(search->arena, Placement);
    placement->machine = machine;
    placement->memory = search->tensors[access->tensor->id].in_disk ? MEMORY_DISK : MEMORY_HOST;
    for (int m = 0; m < access->tensor->order; m++)
        placement->names[m] = arena_printf(search->arena, "x%d", m);
    return placement;
}

// On the machine of the candidate. `spare`: what becomes of a dimension that divides no mode by its variable.
static const Placement *place_along(Search *search, const SearchStatement *statement,
                                    const Candidate *candidate, const UsedAccess *used, PlaceKind spare) {
    const SearchTensor *tensor = &search->tensors[used->access->tensor->id];
    const SearchMachine *machine = &search->machines.items[candidate->machine];
    Placement *placement = new_placement(search, machine->machine, used->access);
    bool divided[MAX_ORDER] = {false};
    int modes[MAX_MACHINE_ORDER];
    for (int d = 0; d < machine->grid.order; d++) {
        modes[d] = mode_along(candidate, used->access, d, divided);
        if (modes[d] >= 0)
            divided[modes[d]] = true;
    }
    for (int d = 0; d < machine->grid.order; d++) {
        if (modes[d] < 0 && spare == PLACE_PARTITION)
            modes[d] = spare_mode(statement, tensor, used->access, divided, machine->grid.extents[d]);
        if (modes[d] >= 0)
            divided[modes[d]] = true;
        placement->entries[d] = entry_of(modes[d], spare == PLACE_PARTITION ? PLACE_FIX : spare);
    }
    return placement;
}

// On a machine with the same processors in the same order, where a dimension whose variable the access has
// not is part of the one before: so the processors that use the same part have shares of it. NULL where there
// is no such dimension.
static const Placement *place_shared(Search *search, const Candidate *candidate, const UsedAccess *used) {
    const SearchTensor *tensor = &search->tensors[used->access->tensor->id];
    int64_t sizes[MOST_DIMS];
    int modes[MOST_DIMS], count = 0;
    bool divided[MAX_ORDER] = {false}, shared = false;
    for (int d = 0; d < candidate->count; d++) {
        const int mode = mode_along(candidate, used->access, d, divided);
        if (mode < 0 && count > 0 && modes[count - 1] >= 0 &&
            sizes[count - 1] * candidate->sizes[d] <= tensor->extents[modes[count - 1]]) {
            sizes[count - 1] *= candidate->sizes[d];
            shared = true;
            continue;
        }
        if (mode >= 0)
            divided[mode] = true;
        sizes[count] = candidate->sizes[d];
        modes[count++] = mode;
    }
    if (!shared || search->kept)
        return NULL;
    const int index = search_grid(search, count, sizes); // may move the machines
    Placement *placement = new_placement(search, search->machines.items[index].machine, used->access);
    for (int d = 0; d < count; d++)
        placement->entries[d] = entry_of(modes[d], PLACE_FIX);
    return placement;
}

// The mode that a variable indexes; -1: none.
static int mode_of(const Access *access, int var) {
    int mode = access->tensor->order - 1;
    while (mode >= 0 && access_mode_var(access, mode) != var)
        mode--;
    return mode;
}

// The tensor whose entries are balanced, or a result that has its structure.
static PlaceEntry balanced_entry(const Candidate *candidate, const Access *access) {
    if (access->tensor == candidate->by->access->tensor)
        access = candidate->by->access; // of several, the one whose variables are divided
    PlaceEntry entry = {.balance = candidate->balance, .mode_count = candidate->levels};
    for (int l = 0; l < candidate->levels; l++)
        entry.modes[l] =
            candidate->levels > 1 ? access->tensor->mode_order[l] : mode_of(access, candidate->vars[0]);
    entry.mode = entry.modes[0];
    return entry;
}

// Other tensors have whole coordinates where that one has them, and blocks where entries are divided.
static const Placement *place_balanced(Search *search, const SearchStatement *statement,
                                       const Candidate *candidate, const UsedAccess *used) {
    const Access *by = candidate->by->access, *access = used->access;
    const SearchMachine *machine = &search->machines.items[candidate->machine];
    const bool none[MAX_ORDER] = {false}, entries = candidate->balance == BALANCE_STORED;
    Placement *placement = new_placement(search, machine->machine, access);
    int mode = mode_of(access, candidate->vars[0]);
    if (access->tensor == by->tensor || (entries && used->is_result && tensor_is_sparse(access->tensor))) {
        placement->entries[0] = balanced_entry(candidate, access);
        return placement;
    }
    if (mode < 0)
        mode = spare_mode(statement, &search->tensors[access->tensor->id], access, none,
                          machine->grid.extents[0]);
    else if (!entries)
        placement->entries[0] = (PlaceEntry){.balance = BALANCE_WEIGHTED,
                                             .by = by->tensor->name,
                                             .mode_count = 1,
                                             .modes[0] = mode_of(by, candidate->vars[0])};
    placement->entries[0].mode = mode;
    placement->entries[0].kind = mode >= 0 ? PLACE_PARTITION : PLACE_FIX;
    return placement;
}

// Whether the statement is computed where the tensor of an access lies: the one whose entries are balanced,
// or a sparse result.
static bool decides(const Candidate *candidate, const UsedAccess *used) {
    const Tensor *tensor = used->access->tensor;
    return tensor == candidate->by->access->tensor || (used->is_result && tensor_is_sparse(tensor));
}

bool natural_suits(const Candidate *candidate, const UsedAccess *used, const Placement *placement) {
    if (!candidate->by || !decides(candidate, used))
        return true;
    const PlaceEntry own = balanced_entry(candidate, used->access);
    const PlaceEntry *entry = placement ? &placement->entries[0] : NULL;
    return entry && placement->machine->order == 1 && entry->balance == own.balance &&
           entry->mode == own.mode && entry->mode_count == own.mode_count;
}

bool natural_is_aligned(const Candidate *candidate, const UsedAccess *used, const Placement *placement) {
    Balance wanted = BALANCE_NONE, own = BALANCE_NONE;
    bool divided = false;
    if (candidate->by && decides(candidate, used))
        wanted = candidate->balance;
    else if (candidate->by && candidate->balance == BALANCE_WEIGHTED &&
             mode_of(used->access, candidate->vars[0]) >= 0)
        wanted = BALANCE_WEIGHTED;
    for (int d = 0; placement && d < placement->machine->order; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        divided = divided || entry->kind == PLACE_PARTITION;
        if (entry->kind == PLACE_PARTITION && balance_is_by_entries(entry->balance))
            own = entry->balance;
    }
    return !divided || own == wanted;
}

static void add_new(const Placement **placements, int *count, const Placement *placement) {
    for (int i = 0; i < *count; i++)
        if (placement_equal(placements[i], placement))
            return;
    if (placement)
        placements[(*count)++] = placement;
}

const Placement *natural_whole(Search *search, const SearchStatement *statement, const Candidate *candidate,
                               const UsedAccess *used) {
    return place_along(search, statement, candidate, used, PLACE_REPLICATE);
}

int natural_placements(Search *search, const SearchStatement *statement, const Candidate *candidate,
                       const UsedAccess *used, const Placement **placements) {
    int count = 0;
    if (candidate->by) {
        add_new(placements, &count, place_balanced(search, statement, candidate, used));
        if (used != candidate->by && is_small(search, statement, &search->tensors[used->access->tensor->id]))
            add_new(placements, &count, place_along(search, statement, candidate, used, PLACE_REPLICATE));
        return count;
    }
    add_new(placements, &count, place_along(search, statement, candidate, used, PLACE_PARTITION));
    add_new(placements, &count, place_shared(search, candidate, used));
    add_new(placements, &count, place_along(search, statement, candidate, used, PLACE_FIX));
    if (is_small(search, statement, &search->tensors[used->access->tensor->id]))
        add_new(placements, &count, place_along(search, statement, candidate, used, PLACE_REPLICATE));
    return count;
}
