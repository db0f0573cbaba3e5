// SPDX-License-Identifier: BSD-3-Clause
// Exchanges entries of a sparse tensor between ranks as lists of coordinates: from those that read or compute
// them, in any order, to those that have them at home, and from their homes to one rank. Functions that are
// collective over `comm` say so; a failure on one rank is the same diagnostic on all.
#ifndef DISTAL_RUNTIME_EXCHANGE_ENTRIES_H
#define DISTAL_RUNTIME_EXCHANGE_ENTRIES_H

#include "runtime/agreement.h"
#include "runtime/storage.h"

// Sends the first counts[0] entries that each rank gives to rank 0, the next counts[1] to rank 1, and so on.
// `own` gets those of this rank, from lower ranks first, and entries_free follows in any case. Collective.
bool exchange_entries(const Storage *storage, const Entries *given, const int64_t *counts, Entries *own,
                      MPI_Comm comm, Diagnostics *diagnostics);

// Sends the entries that each rank gives, in any order, to the ranks that have them at home. `given` stays as
// it is; `own` gets those that are at home here, those of lower ranks first, and entries_free follows in any
// case. Collective.
bool send_entries_home(const Storage *storage, const Entries *given, Entries *own, MPI_Comm comm,
                       Diagnostics *diagnostics);

// Every entry once, in the order of ranks, on the first rank; on the others none. entries_free follows in any
// case. Collective.
bool gather_entries(const Storage *storage, Entries *entries, MPI_Comm comm, Diagnostics *diagnostics);

#endif
