// SPDX-License-Identifier: BSD-3-Clause
// Sparse tensors in and out, on the rank that has one at home; other ranks call these as well, and have
// nothing. Local: the callers agree on failures.
#ifndef DISTAL_RUNTIME_LOAD_SPARSE_H
#define DISTAL_RUNTIME_LOAD_SPARSE_H

#include "io/source.h"
#include "runtime/storage.h"

// Puts in what the source gives. False with a diagnostic.
bool sparse_load(Storage *storage, const SourceSpec *source, Diagnostics *diagnostics);
// Puts in these entries, which are sorted and summed in place and remain the caller's.
bool sparse_put_entries(Storage *storage, Entries *entries, Diagnostics *diagnostics);

// The entries of the tensor, in the order in which it is stored; entries_free follows in any case. False with
// a diagnostic.
bool sparse_entries(const Storage *storage, Entries *entries, Diagnostics *diagnostics);
// Writes the stored elements into `whole`, row-major.
bool sparse_scatter(const Storage *storage, void *whole, Diagnostics *diagnostics);

#endif
