// SPDX-License-Identifier: BSD-3-Clause
// What a rank has at home of a tensor and no rank before it has: over all ranks every element once, as parts
// or as entries. Local.
#ifndef DISTAL_RUNTIME_LIST_H
#define DISTAL_RUNTIME_LIST_H

#include "runtime/storage.h"

// As parts of the home.
Region storage_parts(const Storage *storage, Arena *arena);

// Of a dense tensor, as parts of its pieces.
typedef Array(PiecePart) PiecePartArray;
PiecePartArray storage_piece_parts(const Storage *storage, Arena *arena);

// As entries, of a dense tensor all elements; those of a sparse one are in the order in which it is stored.
// The caller frees them, also after a failure. NULL, or why not (no_memory_to_list).
const char *storage_list(const Storage *storage, Entries *entries, Arena *arena);
// The elements of a part become the entries from `first` on, row-major; their number.
int64_t list_part(const PiecePart *part, Entries *entries, int64_t first);

#endif
