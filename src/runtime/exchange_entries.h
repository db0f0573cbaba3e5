// SPDX-License-Identifier: BSD-3-Clause
// Entries of a sparse tensor on their way between ranks: from those that have them, in any order, to those
// that have them at home or use them, and from their homes to one rank. Functions that are collective over
// `comm` say so; a failure on one rank is the same diagnostic on all.
#ifndef DISTAL_RUNTIME_EXCHANGE_ENTRIES_H
#define DISTAL_RUNTIME_EXCHANGE_ENTRIES_H

#include "runtime/agreement.h"
#include "runtime/storage.h"

// Entries in the order of the ranks that they go to, or come from; those of this rank too.
typedef struct {
    Entries entries;
    int64_t *counts; // by rank
} RankedEntries;

// No entries yet, and counts of zero. False: no memory. ranked_entries_free follows in any case.
bool ranked_entries_create(RankedEntries *ranked, const Storage *storage, int ranks);
void ranked_entries_free(RankedEntries *ranked);

// Copies entries for the ranks that have them at home: for each of them, where there are several. Local;
// ranked_entries_free follows in any case.
bool rank_by_home(const Storage *storage, const Entries *given, int ranks, RankedEntries *ranked,
                  Diagnostics *diagnostics);
// Sends entries to their ranks: `received` gets those of this rank, entries of one sender in their order
// there, without values where `with_values` is false. Collective. ranked_entries_free follows in any case.
bool exchange_entries(const Storage *storage, const RankedEntries *sent, bool with_values,
                      RankedEntries *received, MPI_Comm comm, Diagnostics *diagnostics);

// Sends the entries that each rank gives, in any order, to the ranks that have them at home. `given` stays as
// it is; `own` gets those that are at home here, those of lower ranks first, and entries_free follows in any
// case. Collective.
bool send_entries_home(const Storage *storage, const Entries *given, Entries *own, MPI_Comm comm,
                       Diagnostics *diagnostics);

// Every entry once, in the order of ranks, on the first rank; on the others none. entries_free follows in any
// case. Collective.
bool gather_entries(const Storage *storage, Entries *entries, MPI_Comm comm, Diagnostics *diagnostics);

#endif
