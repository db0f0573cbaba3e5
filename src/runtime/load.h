// SPDX-License-Identifier: BSD-3-Clause
// Tensors in: all ranks together fill one from a generator or a file, or gather one whole for a check. Every
// function here is collective over `comm`, and a failure on one rank is the same diagnostic on all.
#ifndef DISTAL_RUNTIME_LOAD_H
#define DISTAL_RUNTIME_LOAD_H

#include "io/source.h"
#include "runtime/agreement.h"
#include "runtime/storage.h"

bool storage_load(Storage *storage, const SourceSpec *source, MPI_Comm comm, Diagnostics *diagnostics);

// The same in two steps: each rank reads a share of the entries, before it is known where they are at home;
// then these go there, and those of equal coordinates are summed. `entries` has type, order and extents of
// the tensor set; the tensor takes what is in them, and entries_free follows in any case.
// `keeps_zeros`: of an array also the elements that are zero.
bool load_share(const SourceSpec *source, const char *tensor, bool keeps_zeros, int64_t limit,
                Entries *entries, MPI_Comm comm, Diagnostics *diagnostics);
bool storage_take_share(Storage *storage, Entries *entries, MPI_Comm comm, Diagnostics *diagnostics);

// The whole tensor, dense and row-major, on every rank; freed with free(). NULL with a diagnostic where a
// rank lacks the memory.
void *storage_gather(const Storage *storage, MPI_Comm comm, Diagnostics *diagnostics);
// The same from its source, whatever is at home.
void *storage_read_whole(const Storage *storage, const SourceSpec *source, MPI_Comm comm,
                         Diagnostics *diagnostics);
// Both for a dense tensor, on the first rank only: *whole is NULL on the others, which take GATHER_BYTES at
// most. False where a rank lacks the memory.
enum { GATHER_BYTES = 1 << 22 };
bool storage_gather_first(const Storage *storage, void **whole, MPI_Comm comm, Diagnostics *diagnostics);
bool storage_read_first(const Storage *storage, const SourceSpec *source, void **whole, MPI_Comm comm,
                        Diagnostics *diagnostics);
// What is at home into `whole`, which has room for it.
bool storage_gather_into(const Storage *storage, void *whole, MPI_Comm comm, Diagnostics *diagnostics);

// What all ranks store of the `count` sparse tensors of these numbers in `storages`. `counts` has two rows
// for each of them: entries by rank, and bytes (storage_bytes) by rank. Collective; false with the same
// diagnostic on all ranks.
bool storage_gather_counts(Storage *const *storages, int count, const int *tensors, int64_t ranks,
                           MPI_Comm comm, int64_t *counts, Diagnostics *diagnostics);

#endif
