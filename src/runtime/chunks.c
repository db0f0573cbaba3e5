// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/chunks.h"

#include "base/integer.h"

#include <inttypes.h>

static bool visit_copies(const Storage *storage, const PiecePart *part, ChunkUse use, ChunkVisit visit,
                         void *context, Diagnostics *diagnostics) {
    const Tensor *tensor = storage->home->tensor;
    const int64_t most = CHUNK_BYTES / (int64_t)type_info(storage->type)->size;
    const RectChunks chunks = rect_chunks(&part->part, tensor->mode_order, most);
    void *memory = memory_allocate(MEMORY_HOST, min_i64(most, rect_volume(&part->part)), storage->type);
    if (!memory)
        return diagnostics_error(diagnostics, (Span){0},
                                 "rank %" PRId64 " has not enough memory for a part of tensor %s, %d bytes",
                                 storage->rank, tensor->name, CHUNK_BYTES);
    bool ok = true;
    for (int64_t c = 0; ok && c < chunks.count; c++) {
        const Rect rect = rect_chunk(&chunks, c);
        const PiecePart chunk = {piece_packed(&rect, tensor_levels(tensor), storage->type, memory), rect};
        if (use == CHUNKS_READ)
            piece_copy(&chunk.piece, &part->piece, &rect);
        ok = storage_check(storage, diagnostics) && visit(context, &chunk, diagnostics);
        if (ok && use == CHUNKS_WRITE)
            piece_copy(&part->piece, &chunk.piece, &rect);
    }
    memory_release(MEMORY_HOST, memory);
    return ok && storage_check(storage, diagnostics);
}

bool chunks_visit(const Storage *storage, const PiecePartArray *parts, ChunkUse use, ChunkVisit visit,
                  void *context, Diagnostics *diagnostics) {
    bool ok = true;
    for (int64_t i = 0; ok && i < parts->count; i++)
        ok = !piece_is_on_host(&parts->items[i].piece)
                 ? visit_copies(storage, &parts->items[i], use, visit, context, diagnostics)
                 : visit(context, &parts->items[i], diagnostics);
    return ok;
}

bool chunks_visit_pieces(const Storage *storage, ChunkUse use, ChunkVisit visit, void *context,
                         Diagnostics *diagnostics) {
    bool ok = true;
    for (int64_t i = 0; ok && i < storage->piece_count; i++) {
        PiecePart whole = {storage->pieces[i], storage->pieces[i].rect};
        const PiecePartArray one = {&whole, 1, 1};
        ok = chunks_visit(storage, &one, use, visit, context, diagnostics);
    }
    return ok;
}
