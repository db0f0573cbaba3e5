// SPDX-License-Identifier: BSD-3-Clause
// Exchanges entries of a sparse tensor between ranks as lists of coordinates: from those that read or compute
// them, in any order, to those that have them at home, and from their homes to one rank. Functions that are
// collective over `comm` say so; a failure on one rank is the same diagnostic on all.
#ifndef DISTAL_RUNTIME_EXCHANGE_ENTRIES_H
#define DISTAL_RUNTIME_EXCHANGE_ENTRIES_H

#include "runtime/agreement.h"
#include "runtime/storage.h"

// Sends the entries that each rank gives, in any order, to the ranks that have them at home. `given` stays as
// it is; `own` gets those that are at home here, those of lower ranks first, and entries_free follows in any
// case. Collective.
bool send_entries_home(const Storage *storage, const Entries *given, Entries *own, MPI_Comm comm,
                       Diagnostics *diagnostics);

// Those of the entries at home here that count for this rank, as of replicas the first one's do: over all
// ranks each once. entries_free follows in any case. Local.
bool sparse_list(const Storage *storage, Entries *entries, Diagnostics *diagnostics);

// Every entry once, in the order of ranks, on the first rank; on the others none. entries_free follows in any
// case. Collective.
bool gather_entries(const Storage *storage, Entries *entries, MPI_Comm comm, Diagnostics *diagnostics);

#endif
