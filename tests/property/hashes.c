// SPDX-License-Identifier: BSD-3-Clause
#include "hashes.h"

#include "runtime/load_sparse.h"

#include <string.h>

static uint64_t hash_bytes_of(uint64_t hash, const void *data, size_t count) {
    const unsigned char *bytes = data;
    for (size_t k = 0; k < count; k++)
        hash = (hash ^ bytes[k]) * 1099511628211u;
    return hash;
}

uint64_t hash_entries(Entries *entries) {
    uint64_t hash = 14695981039346656037u;
    const size_t count = (size_t)entries->count;
    if (entries_sort(entries, NULL))
        return 0;
    for (int d = 0; d < entries->order; d++)
        hash = hash_bytes_of(hash, entries->coordinates[d], count * sizeof(int64_t));
    return hash_bytes_of(hash, entries->values, count * type_info(entries->type)->size);
}

uint64_t hash_storage(const Storage *storage, Diagnostics *diagnostics) {
    uint64_t hash = 14695981039346656037u;
    if (tensor_is_sparse(storage->home->tensor)) {
        Entries entries;
        hash = sparse_entries(storage, &entries, diagnostics) ? hash_entries(&entries) : 0;
        entries_free(&entries);
        return hash;
    }
    for (int64_t i = 0; i < storage->piece_count; i++)
        hash = hash_bytes_of(hash, storage->pieces[i].data,
                             (size_t)rect_volume(&storage->pieces[i].rect) * type_info(storage->type)->size);
    return hash;
}
