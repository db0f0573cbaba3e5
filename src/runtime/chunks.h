// SPDX-License-Identifier: BSD-3-Clause
// Elements of home pieces in memory, whatever memory the pieces are in: those in disk come in chunks.
#ifndef DISTAL_RUNTIME_CHUNKS_H
#define DISTAL_RUNTIME_CHUNKS_H

#include "runtime/list.h"

typedef enum { CHUNKS_READ, CHUNKS_WRITE } ChunkUse;

enum { CHUNK_BYTES = 1 << 22 }; // of memory, where a piece is in disk

// A part of a piece in memory: of a home piece that is there itself. False ends the visit.
typedef bool (*ChunkVisit)(void *context, const PiecePart *part, Diagnostics *diagnostics);

// Calls `visit` for each of the parts, or for chunks of it, which have been read or will be written. False
// where a visit says so, or with a diagnostic where there is no memory for a chunk, or it cannot be read or
// written.
bool chunks_visit(const Storage *storage, const PiecePartArray *parts, ChunkUse use, ChunkVisit visit,
                  void *context, Diagnostics *diagnostics);
// The same for all home pieces.
bool chunks_visit_pieces(const Storage *storage, ChunkUse use, ChunkVisit visit, void *context,
                         Diagnostics *diagnostics);

#endif
