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

// The entries at home, in the order in which it is stored; entries_free follows in any case. NULL, or why
// not: there is not enough memory.
const char *sparse_list(const Storage *storage, Entries *entries, Arena *arena);
// That there is not, for so many elements of a tensor.
const char *no_memory_to_list(const Storage *storage, int64_t count, Arena *arena);
// The same as sparse_list; false with a diagnostic.
bool sparse_entries(const Storage *storage, Entries *entries, Diagnostics *diagnostics);
int64_t sparse_count(const Storage *storage, Arena *arena); // their number; what it allocates is freed
// Those that it had before it was set aside.
bool sparse_entries_before(const Storage *storage, const SetAside *before, Entries *entries,
                           Diagnostics *diagnostics);
// Writes the stored elements into `whole`, row-major.
bool sparse_scatter(const Storage *storage, void *whole, Diagnostics *diagnostics);

#endif
