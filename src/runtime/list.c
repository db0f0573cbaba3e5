// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/list.h"

#include "base/integer.h"
#include "runtime/load_sparse.h"

#include <string.h>

Region storage_parts(const Storage *storage, Arena *arena) {
    const Region pieces = home_pieces(storage->home, storage->rank, arena);
    HoldingArray owners = {0};
    Region parts = {0};
    for (int64_t i = 0; i < pieces.rects.count; i++)
        home_owners(storage->home, &pieces.rects.items[i], arena, &owners);
    for (int64_t k = 0; k < owners.count; k++)
        if (owners.items[k].rank == storage->rank)
            array_push(arena, parts.rects, owners.items[k].rect);
    return parts;
}

PiecePartArray storage_piece_parts(const Storage *storage, Arena *arena) {
    PiecePartArray parts = {0};
    HoldingArray owners = {0};
    for (int64_t i = 0; i < storage->piece_count; i++) {
        const Piece *piece = &storage->pieces[i];
        owners.count = 0;
        home_owners(storage->home, &piece->rect, arena, &owners);
        for (int64_t k = 0; k < owners.count; k++)
            if (owners.items[k].rank == storage->rank)
                array_push(arena, parts, (PiecePart){*piece, owners.items[k].rect});
    }
    return parts;
}

int64_t list_part(const PiecePart *part, Entries *entries, int64_t first) {
    const Rect *rect = &part->part;
    const Frame frame = piece_frame(&part->piece);
    const int order = entries->order, last = order - 1;
    const size_t size = type_info(entries->type)->size;
    const int64_t count = rect_volume(rect), row = order > 0 ? rect_count(rect, last) : 1;
    int64_t x[MAX_ORDER];
    const Piece values =
        piece_packed(rect, (LevelList){0}, entries->type, (char *)entries->values + (size_t)first * size);
    const bool copied = !piece_is_on_host(&part->piece);
    if (copied)
        piece_copy(&values, &part->piece, rect);
    for (int64_t e = 0; e < count; e += row) {
        int64_t rest = e / row, offset = 0;
        for (int d = last - 1; d >= 0; d--) {
            const int64_t coordinates = rect_count(rect, d);
            x[d] = positions_at(rect_mode(rect, d), rest % coordinates);
            rest /= coordinates;
            offset += positions_index(rect_mode(frame.rect, d), x[d]) * frame.stride[d];
        }
        for (int64_t i = 0; i < row; i++) {
            int64_t at = offset;
            for (int d = 0; d < last; d++)
                entries->coordinates[d][first + e + i] = x[d];
            if (order > 0) {
                const int64_t y = positions_at(rect_mode(rect, last), i);
                entries->coordinates[last][first + e + i] = y;
                at += positions_index(rect_mode(frame.rect, last), y) * frame.stride[last];
            }
            if (!copied)
                memcpy((char *)entries->values + (size_t)(first + e + i) * size,
                       (const char *)part->piece.data + (size_t)at * size, size);
        }
    }
    return count;
}

static const char *list_sparse(const Storage *storage, Entries *entries, Arena *arena) {
    const char *why = sparse_list(storage, entries, arena);
    if (why || !storage->home->replicated)
        return why;
    const Region parts = storage_parts(storage, arena);
    return entries_keep_within(entries, &parts) ? no_memory_to_list(storage, entries->count, arena) : NULL;
}

const char *storage_list(const Storage *storage, Entries *entries, Arena *arena) {
    if (tensor_is_sparse(storage->home->tensor))
        return list_sparse(storage, entries, arena);
    *entries = storage_no_entries(storage);
    const PiecePartArray parts = storage_piece_parts(storage, arena);
    for (int64_t i = 0; i < parts.count; i++)
        entries->count = saturated_add(entries->count, rect_volume(&parts.items[i].part));
    if (entries_allocate(entries))
        return no_memory_to_list(storage, entries->count, arena);
    int64_t first = 0;
    for (int64_t i = 0; i < parts.count; i++)
        first += list_part(&parts.items[i], entries, first);
    return NULL;
}
