// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/load_sparse.h"

#include "format/cut.h"

#include <string.h>

bool sparse_refuse(const Storage *storage, const char *why, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0}, "tensor %s cannot be stored on rank %lld: %s",
                             storage->home->tensor->name, (long long)storage->rank, why);
}

static bool put(Storage *storage, StoredTensor *tensor, Diagnostics *diagnostics) {
    return storage_put(storage, tensor) || sparse_refuse(storage, "not enough memory", diagnostics);
}

bool sparse_put_entries(Storage *storage, Entries *entries, Diagnostics *diagnostics) {
    StoredTensor tensor = storage->empty;
    if (storage->piece_count == 0)
        return put(storage, &tensor, diagnostics);
    const int64_t taken = entries_bytes(entries, entries->count);
    const char *why = stored_pack(&tensor, entries, storage->limit - taken, diagnostics->arena);
    if (!why)
        return put(storage, &tensor, diagnostics);
    stored_free(&tensor);
    return sparse_refuse(storage, why, diagnostics);
}

bool sparse_put_nothing(Storage *storage, Diagnostics *diagnostics) {
    Entries none = storage_no_entries(storage);
    return sparse_put_entries(storage, &none, diagnostics);
}

const char *no_memory_to_list(const Storage *storage, int64_t count, Arena *arena) {
    const Entries entries = storage_no_entries(storage);
    return arena_printf(
        arena, "rank %lld has not enough memory to list %lld elements of tensor %s, which takes %lld bytes",
        (long long)storage->rank, (long long)count, storage->home->tensor->name,
        (long long)entries_bytes(&entries, count));
}

static const char *list_before(const Storage *storage, const SetAside *before, Entries *entries,
                               Arena *arena) {
    *entries = storage_no_entries(storage);
    if (storage->piece_count == 0 || !before->structure)
        return NULL;
    const char *why = stored_unpack(&before->stored, entries, storage->limit, arena);
    if (!why && storage->padded) {
        const Region pieces = home_pieces(storage->home, storage->rank, arena);
        why = entries_keep_within(entries, &pieces);
    }
    return why ? no_memory_to_list(storage, entries->count, arena) : NULL;
}

const char *sparse_list(const Storage *storage, Entries *entries, Arena *arena) {
    const SetAside now = {storage->structure, storage->stored};
    return list_before(storage, &now, entries, arena);
}

bool sparse_entries_before(const Storage *storage, const SetAside *before, Entries *entries,
                           Diagnostics *diagnostics) {
    const char *why = list_before(storage, before, entries, diagnostics->arena);
    return !why || diagnostics_error(diagnostics, (Span){0}, "%s", why);
}

bool sparse_entries(const Storage *storage, Entries *entries, Diagnostics *diagnostics) {
    const SetAside now = {storage->structure, storage->stored};
    return sparse_entries_before(storage, &now, entries, diagnostics);
}

int64_t sparse_count(const Storage *storage, Arena *arena) {
    if (storage->piece_count == 0 || !storage->structure)
        return 0;
    if (!storage->padded)
        return stored_count(&storage->stored);
    Arena *scratch = arena_create_within(arena);
    const Region pieces = home_pieces(storage->home, storage->rank, scratch);
    const Rect **rects = arena_array(scratch, const Rect *, pieces.rects.count);
    for (int64_t i = 0; i < pieces.rects.count; i++)
        rects[i] = &pieces.rects.items[i];
    SliceArray slices = {0};
    const int64_t count =
        cutter_cut(&(Cutter){.tensor = &storage->stored}, pieces.rects.count, rects, scratch, &slices);
    arena_free(scratch);
    return count;
}

bool sparse_scatter(const Storage *storage, void *whole, Diagnostics *diagnostics) {
    Entries entries;
    const bool ok = sparse_entries(storage, &entries, diagnostics);
    const size_t size = type_info(entries.type)->size;
    for (int64_t e = 0; ok && e < entries.count; e++) {
        int64_t position = 0;
        for (int d = 0; d < entries.order; d++)
            position = position * entries.extents[d] + entries.coordinates[d][e];
        memcpy((char *)whole + (size_t)position * size, (const char *)entries.values + (size_t)e * size,
               size);
    }
    entries_free(&entries);
    return ok;
}
