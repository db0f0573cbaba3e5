// SPDX-License-Identifier: BSD-3-Clause
#include "hashes.h"

#include "runtime/chunks.h"

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

static bool hash_chunk(void *context, const PiecePart *part, Diagnostics *diagnostics) {
    (void)diagnostics;
    uint64_t *hash = context;
    const size_t size = type_info(part->piece.type)->size;
    *hash = hash_bytes_of(*hash, part->piece.data, (size_t)rect_volume(&part->part) * size);
    return true;
}

uint64_t hash_storage(const Storage *storage, Diagnostics *diagnostics) {
    uint64_t hash = 14695981039346656037u;
    if (tensor_is_sparse(storage->home->tensor)) {
        Entries entries;
        hash = sparse_entries(storage, &entries, diagnostics) ? hash_entries(&entries) : 0;
        entries_free(&entries);
        return hash;
    }
    chunks_visit_pieces(storage, CHUNKS_READ, hash_chunk, &hash, diagnostics);
    return hash;
}
