// SPDX-License-Identifier: BSD-3-Clause
// Entry moves: entries of a sparse tensor that go from the ranks which have them to others. Their coordinates
// move once, when the structure is new, their values in each execution.
#ifndef DISTAL_RUNTIME_ENTRY_MOVE_H
#define DISTAL_RUNTIME_ENTRY_MOVE_H

#include "runtime/exchange_entries.h"
#include "runtime/value_exchange.h"

typedef struct {
    int64_t *positions; // of the values to send, in the order of the exchange
    ValueExchange values;
    int64_t coordinate_bytes_sent, coordinate_bytes_received; // to and from other ranks
} EntryMove;

// The entries of a tensor in memory with their positions, of type i64, in place of values. Local; false with
// a diagnostic. entries_free follows in any case.
bool entry_positions(const Storage *storage, Entries *entries, Diagnostics *diagnostics);

// Moves the coordinates of entries of `storage`, whose positions are their values in `sent`, which is
// released. `received` gets entries in the order in which their values will come, and without any.
// Collective; entry_move_free and entries_free follow in any case.
bool entry_move_structure(EntryMove *move, const Storage *storage, int64_t message_limit, RankedEntries *sent,
                          Entries *received, MPI_Comm comm, Diagnostics *diagnostics);
// Moves the values, which are then in `incoming` of the exchange.
void entry_move_values(EntryMove *move, const void *values);
void entry_move_free(EntryMove *move);
// Memory that stays between executions.
int64_t entry_move_bytes(const EntryMove *move);

#endif
