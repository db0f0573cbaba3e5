// SPDX-License-Identifier: BSD-3-Clause
// Tensors in and out: all ranks together fill one from a generator or a file, write one to a file, or gather
// one whole for a check. Every function here is collective over `comm`, and a failure on one rank is the same
// diagnostic on all.
#ifndef DISTAL_RUNTIME_LOAD_H
#define DISTAL_RUNTIME_LOAD_H

#include "io/output.h"
#include "io/source.h"
#include "runtime/agreement.h"
#include "runtime/storage.h"

bool storage_load(Storage *storage, const SourceSpec *source, MPI_Comm comm, Diagnostics *diagnostics);

// The same in two steps: each rank reads a share of the entries, before it is known where they are at home;
// then these go there, and those of equal coordinates are summed. `entries` has type, order and extents of
// the tensor set; the tensor takes what is in them, and entries_free follows in any case.
bool load_share(const SourceSpec *source, const char *tensor, int64_t limit, Entries *entries, MPI_Comm comm,
                Diagnostics *diagnostics);
bool storage_take_share(Storage *storage, Entries *entries, MPI_Comm comm, Diagnostics *diagnostics);

// Writes `path` in the format that its ending says: whole under this name, or not at all. Of replicas the
// first writes. `token` names the draft; the first rank's counts.
bool storage_save(const Storage *storage, const char *path, DraftToken token, MPI_Comm comm,
                  Diagnostics *diagnostics);

// What this rank has at home as entries, of a dense tensor all elements; over all ranks each once. The caller
// frees them, also after a failure. Local.
bool storage_list(const Storage *storage, Entries *entries, Diagnostics *diagnostics);

// The whole tensor, dense and row-major, on every rank; freed with free(). NULL with a diagnostic where a
// rank lacks the memory.
void *storage_gather(const Storage *storage, MPI_Comm comm, Diagnostics *diagnostics);
// The same from its source, whatever is at home.
void *storage_read_whole(const Storage *storage, const SourceSpec *source, MPI_Comm comm,
                         Diagnostics *diagnostics);
// What is at home into `whole`, which has room for it.
bool storage_gather_into(const Storage *storage, void *whole, MPI_Comm comm, Diagnostics *diagnostics);

#endif
