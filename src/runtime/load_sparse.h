// SPDX-License-Identifier: BSD-3-Clause
// Sparse tensors in and out: each rank has the entries that are at home there. All ranks call these alike;
// those without a home have nothing. Local: the callers agree on failures.
#ifndef DISTAL_RUNTIME_LOAD_SPARSE_H
#define DISTAL_RUNTIME_LOAD_SPARSE_H

#include "runtime/storage.h"

// Diagnoses that the tensor cannot be stored, and why; false.
bool sparse_refuse(const Storage *storage, const char *why, Diagnostics *diagnostics);

// Puts in these entries, all of which the home contains. They are sorted and summed in place and remain the
// caller's.
bool sparse_put_entries(Storage *storage, Entries *entries, Diagnostics *diagnostics);
// The structure of a tensor without entries.
bool sparse_put_nothing(Storage *storage, Diagnostics *diagnostics);

// The entries at home, in storage order; entries_free follows in any case. NULL, or the message that there is
// not enough memory.
const char *sparse_list(const Storage *storage, Entries *entries, Arena *arena);
// The message that the rank has not enough memory to list `count` elements of the tensor. In the arena.
const char *no_memory_to_list(const Storage *storage, int64_t count, Arena *arena);
// The same as sparse_list; false with a diagnostic.
bool sparse_entries(const Storage *storage, Entries *entries, Diagnostics *diagnostics);
// The number of entries at home. Scratch memory is allocated within the arena and freed.
int64_t sparse_count(const Storage *storage, Arena *arena);
// Those that it had before it was set aside.
bool sparse_entries_before(const Storage *storage, const SetAside *before, Entries *entries,
                           Diagnostics *diagnostics);
// Writes the stored elements into `whole`, row-major.
bool sparse_scatter(const Storage *storage, void *whole, Diagnostics *diagnostics);

#endif
