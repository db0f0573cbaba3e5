// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/storage.h"

#include <inttypes.h>
#include <stdlib.h>

static bool allocate_pieces(Storage *storage, const RectArray *rects) {
    const Home *home = storage->home;
    storage->pieces = calloc((size_t)rects->count + 1, sizeof(Piece));
    if (!storage->pieces)
        return false;
    for (; storage->piece_count < rects->count; storage->piece_count++) {
        Piece *piece = &storage->pieces[storage->piece_count];
        const Rect *rect = &rects->items[storage->piece_count];
        *piece = piece_packed(rect, tensor_levels(home->tensor), storage->type, NULL);
        piece->memory = home->memory;
        piece->data = memory_allocate(piece->memory, rect_volume(&piece->rect), piece->type);
        if (!piece->data)
            return false;
    }
    return true;
}

Storage *storage_create(const Home *home, int64_t rank, bool zero, Diagnostics *diagnostics) {
    // First what jumps where memory runs out (base/arena.h), so that nothing is lost then.
    const Region own = home_pieces(home, rank, home->arena);
    Storage *storage = calloc(1, sizeof(Storage));
    if (storage) {
        *storage = (Storage){.home = home, .type = home->tensor->type, .rank = rank, .owned = true};
        if (allocate_pieces(storage, &own.rects)) {
            if (zero)
                storage_zero(storage);
            return storage;
        }
        storage_free(storage);
    }
    diagnostics_error(diagnostics, (Span){0},
                      "rank %" PRId64 " has not enough memory for its part of tensor %s, %" PRId64 " bytes",
                      rank, home->tensor->name, home_bytes(home, rank));
    return NULL;
}

Storage *storage_wrap(const Home *home, int64_t rank, const Piece *pieces) {
    const int64_t count = home_pieces(home, rank, home->arena).rects.count;
    Storage *storage = calloc(1, sizeof(Storage));
    Piece *own = calloc((size_t)count + 1, sizeof(Piece));
    if (!storage || !own) {
        free(storage);
        free(own);
        return NULL;
    }
    for (int64_t i = 0; i < count; i++)
        own[i] = pieces[i];
    *storage = (Storage){home, home->tensor->type, rank, count, own, false};
    return storage;
}

void storage_free(Storage *storage) {
    if (!storage)
        return;
    for (int64_t i = 0; i < storage->piece_count && storage->owned; i++)
        memory_release(storage->pieces[i].memory, storage->pieces[i].data);
    free(storage->pieces);
    free(storage);
}

void storage_zero(Storage *storage) {
    for (int64_t i = 0; i < storage->piece_count; i++)
        piece_zero(&storage->pieces[i]);
}
