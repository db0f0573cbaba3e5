// SPDX-License-Identifier: BSD-3-Clause
#include "lang/check_balance.h"

#include "base/integer.h"
#include "format/level_list.h"

typedef struct {
    Diagnostics *diagnostics;
    const Tensor *tensor;
    const Placement *placement;
} Check;

static const char *mode_name(const Check *check, int mode) {
    return check->placement->names[mode];
}

static bool divides(const PlaceEntry *entry, int mode) {
    if (entry->kind != PLACE_PARTITION || entry->by || !balance_is_by_entries(entry->balance))
        return entry->kind == PLACE_PARTITION && entry->mode == mode;
    for (int m = 0; m < entry->mode_count; m++)
        if (entry->modes[m] == mode)
            return true;
    return false;
}

// "~fuse(x, y)" of the first `count` modes in the order of storage; "~x" of one.
static const char *stored_first(const Check *check, int count) {
    const int *modes = check->tensor->mode_order;
    Text text = text_create(check->diagnostics->arena);
    if (count == 1) {
        text_printf(&text, "~%s", mode_name(check, modes[0]));
        return text_string(&text);
    }
    text_append(&text, "~fuse(");
    for (int l = 0; l < count; l++)
        text_printf(&text, "%s%s", l ? ", " : "", mode_name(check, modes[l]));
    text_append(&text, ")");
    return text_string(&text);
}

// "~x", "weighted(x)", "weighted(x, B)" or "~fuse(x, y)", as it was written.
static const char *written(const Check *check, const PlaceEntry *entry) {
    const char *name = mode_name(check, entry->mode);
    if (entry->by)
        return arena_printf(check->diagnostics->arena, "weighted(%s, %s)", name, entry->by);
    if (entry->mode_count > 1)
        return stored_first(check, entry->mode_count);
    if (!balance_is_by_entries(entry->balance))
        return arena_printf(check->diagnostics->arena,
                            entry->balance == BALANCE_LENGTHS ? "balanced(%s)" : "blocks(%s, ...)", name);
    return arena_printf(check->diagnostics->arena, entry->balance == BALANCE_STORED ? "~%s" : "weighted(%s)",
                        name);
}

// Modes that entries can balance: the first ones in the order of storage.
static int balanced_modes(const Tensor *tensor) {
    int count = tensor->order;
    while (count > 1 && level_is_padded(tensor->order, tensor->levels, count - 1))
        count--;
    return count;
}

// Entries say nothing of a mode of which every coordinate is stored below each position.
static bool check_stored_mode(const Check *check, const PlaceEntry *entry) {
    const Tensor *tensor = check->tensor;
    for (int l = 0; l < tensor->order && !entry->by; l++) {
        const char *mode = mode_name(check, tensor->mode_order[l]);
        if (!divides(entry, tensor->mode_order[l]) || !level_is_padded(tensor->order, tensor->levels, l))
            continue;
        return diagnostics_error(
            check->diagnostics, entry->span,
            entry->mode_count > 1
                ? "every coordinate of mode '%s' of '%s' is stored below each entry of the "
                  "modes before it, so it has no entries to balance: write '%s'"
                : "every coordinate of mode '%s' of '%s' is stored, so blocks of equal length "
                  "have equally many elements: write '%s'",
            mode, tensor->name, entry->mode_count > 1 ? stored_first(check, l) : mode);
    }
    return true;
}

// Of a sparse tensor; fused modes are those that are stored first.
static bool check_entry(const Check *check, const PlaceEntry *entry) {
    const Tensor *tensor = check->tensor;
    const char *name = mode_name(check, entry->mode);
    if (!entry->by && !tensor_is_sparse(tensor))
        return diagnostics_error(check->diagnostics, entry->span,
                                 "'%s' is dense, so that blocks of equal length are balanced: write '%s'; "
                                 "'weighted(%s, B)' gives it the blocks of a sparse tensor B",
                                 tensor->name, name, name);
    for (int m = 0; entry->mode_count > 1 && m < entry->mode_count; m++)
        if (entry->modes[m] != tensor->mode_order[m])
            return diagnostics_error(
                check->diagnostics, entry->span,
                "'%s' is divided by its entries in the order in which they are stored: write '%s'",
                tensor->name, stored_first(check, (int)min_i64(entry->mode_count, balanced_modes(tensor))));
    return check_stored_mode(check, entry);
}

// A level that entries balance divides contiguous parts of the levels around it, by entries of the same
// tensor.
static bool check_around(const Check *check, const PlaceEntry *entry, const PlaceEntry *around) {
    const char *name = mode_name(check, entry->mode);
    if (entry->balance == BALANCE_LISTED)
        return diagnostics_error(check->diagnostics, entry->span,
                                 "boundaries are those of the whole mode '%s', which a level around this one "
                                 "partitions already: write 'balanced(%s)' or '%s' here",
                                 name, name, name);
    if (around->cycle && !balance_is_by_entries(entry->balance))
        return diagnostics_error(check->diagnostics, entry->span,
                                 "a level around this one partitions mode '%s' block-cyclically, and '%s' "
                                 "divides contiguous parts: write 'cyclic' inside of '%s', or '%s' here",
                                 name, written(check, entry), written(check, entry), name);
    if (around->cycle)
        return diagnostics_error(check->diagnostics, entry->span,
                                 "a level around this one partitions mode '%s' block-cyclically, and entries "
                                 "balance contiguous parts: write 'cyclic' inside of '%s', or '%s' here",
                                 name, written(check, entry), name);
    const bool by_entries = balance_is_by_entries(entry->balance);
    if (around->balance != BALANCE_NONE && by_entries != balance_is_by_entries(around->balance))
        return diagnostics_error(check->diagnostics, entry->span,
                                 "'%s' is not supported inside of '%s' yet: entries balance mode '%s' at "
                                 "both levels or at none",
                                 written(check, entry), written(check, around), name);
    if (around->balance == BALANCE_NONE || !by_entries ||
        (balanced_by_same(entry, around) && entry->modes[0] == around->modes[0]))
        return true;
    return diagnostics_error(
        check->diagnostics, entry->span,
        "the entries of '%s' balance mode '%s' at a level around this one, so that those of "
        "'%s' cannot: write '%s' or '%s' here",
        around->by ? around->by : check->tensor->name, name, entry->by ? entry->by : check->tensor->name,
        written(check, around), name);
}

static bool divides_any(const PlaceEntry *other, const PlaceEntry *entry) {
    for (int m = 0; m < entry->mode_count; m++)
        if (divides(other, entry->modes[m]))
            return true;
    return false;
}

// Whether entries of fused modes are divided cell by cell (machine/division.h): a level around divides
// another one of these modes than the first, or any of them block-cyclically. *levels: how many there are
// around.
static bool has_cells(const Check *check, int d, int *levels) {
    const PlaceEntry *entry = &check->placement->entries[d];
    bool cells = false;
    *levels = 0;
    for (int e = 0; e < d; e++) {
        const PlaceEntry *around = &check->placement->entries[e];
        if (around->kind != PLACE_PARTITION || !divides_any(around, entry))
            continue;
        ++*levels;
        cells = cells || (around->mode_count <= 1 && (around->mode != entry->mode || around->cycle));
    }
    return cells;
}

// Fused modes are divided inside of levels that divide the first of them, or any of them by coordinates, and
// by levels that fuse as many or more inside of them.
static bool check_beside(const Check *check, const PlaceEntry *entry, const PlaceEntry *other, bool inside,
                         bool cells) {
    const bool fused = other->mode_count > 1;
    if (!divides_any(other, entry) ||
        (inside  ? other->balance == BALANCE_STORED && other->mode_count >= entry->mode_count
         : fused ? other->mode == entry->mode && other->mode_count <= entry->mode_count
                 : other->balance == BALANCE_NONE || (!cells && other->mode == entry->mode)))
        return true;
    if (!inside && !fused)
        return diagnostics_error(check->diagnostics, entry->span,
                                 "'%s' around entries of fused modes is not supported yet%s: write '%s' "
                                 "there, or '%s' at both levels",
                                 written(check, other),
                                 other->mode == entry->mode ? " beside other modes or 'cyclic'" : "",
                                 mode_name(check, other->mode), stored_first(check, entry->mode_count));
    int m = 0;
    while (!divides(other, entry->modes[m]))
        m++;
    return diagnostics_error(
        check->diagnostics, entry->span,
        "mode '%s' is partitioned by another level as well, beside entries of fused modes: write '%s' at "
        "both, which divides entries level by level",
        mode_name(check, entry->modes[m]),
        stored_first(check, (int)max_i64(entry->mode_count, other->mode_count)));
}

// What makes cells does so for all levels that fuse modes.
static bool check_cells(const Check *check, int d, int levels) {
    const PlaceEntry *entries = check->placement->entries, *entry = &entries[d];
    if (levels >= MAX_DEPTH || check->tensor->order == MAX_ORDER)
        return diagnostics_error(check->diagnostics, entry->span,
                                 "entries are divided inside of at most %d other levels, of a tensor of at "
                                 "most %d modes",
                                 MAX_DEPTH - 1, MAX_ORDER - 1);
    // A level that fuses fewer modes, around this one.
    for (int f = 0; f < d; f++)
        for (int e = 0; e < d && entries[f].mode_count > 1; e++)
            if (entries[e].kind == PLACE_PARTITION && entries[e].mode_count <= 1 &&
                divides_any(&entries[e], entry) && (e > f || !divides_any(&entries[e], &entries[f])))
                return diagnostics_error(check->diagnostics, entries[f].span,
                                         "mode '%s', which another level partitions, is fused with others "
                                         "inside of this one only: write '%s' here, too",
                                         mode_name(check, entries[e].mode),
                                         stored_first(check, entry->mode_count));
    return true;
}

static bool check_levels(const Check *check, int d) {
    const PlaceEntry *entry = &check->placement->entries[d];
    int levels;
    const bool fused = entry->mode_count > 1, cells = fused && has_cells(check, d, &levels);
    bool ok = true;
    for (int e = 0; ok && e < check->placement->machine->order; e++) {
        const PlaceEntry *other = &check->placement->entries[e];
        if (e == d || other->kind != PLACE_PARTITION)
            continue;
        if (fused)
            ok = check_beside(check, entry, other, e > d, cells);
        if (ok && e < d && other->mode == entry->mode && !cells)
            ok = check_around(check, entry, other);
    }
    return ok && (!cells || check_cells(check, d, levels));
}

bool check_balance(Diagnostics *diagnostics, const Tensor *tensor, const Placement *placement) {
    const Check check = {diagnostics, tensor, placement};
    bool ok = true;
    for (int d = 0; d < placement->machine->order && ok; d++) {
        const PlaceEntry *entry = &placement->entries[d];
        if (entry->kind == PLACE_PARTITION && entry->balance != BALANCE_NONE)
            ok = (!balance_is_by_entries(entry->balance) || check_entry(&check, entry)) &&
                 check_levels(&check, d);
    }
    return ok;
}
