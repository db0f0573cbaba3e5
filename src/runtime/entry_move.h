// SPDX-License-Identifier: BSD-3-Clause
// Entry moves: entries of a sparse tensor that go from the ranks which have them to others, as slices of the
// arrays of its levels and of its values. The structure moves once, when it is new, as a sub-tree for each
// pair of ranks (format/sub_tree.h), values in each execution.
#ifndef DISTAL_RUNTIME_ENTRY_MOVE_H
#define DISTAL_RUNTIME_ENTRY_MOVE_H

#include "runtime/part_exchange.h"
#include "runtime/part_sharing.h"
#include "runtime/shared_buffer.h"
#include "runtime/storage.h"
#include "runtime/value_exchange.h"

// What an aggregator receives for this rank of one owner: elements in slices of its buffer, which are a copy
// of those from `first` on of all that arrive.
typedef struct {
    const char *buffer; // NULL: there are none
    int64_t slice_count, first, count;
} SharedEntries;

// Where ranks of a node receive parts together. All zero: they do not.
typedef struct {
    SharedBuffer buffer;
    char *arrived; // all elements that arrive, in the order of their owners; NULL: only messages arrive
    int64_t arrived_count;
    int64_t entries_count;
    SharedEntries *entries;
    int64_t slice_count;
    Slice *slices; // of all, one after the other
} EntrySharing;

typedef struct {
    int64_t slice_count;
    Slice *slices; // of the values to send, in the order of the exchange
    ValueExchange values;
    EntrySharing sharing;
    Cost received;                                          // as if all came in messages to this rank alone
    int64_t structure_bytes_sent, structure_bytes_received; // to and from other ranks; received as those
} EntryMove;

// Moves the structure of the entries of `storage` that are in `parts`, disjoint ones for each rank.
// `received` gets entries in the order in which their values will come, without any. All of this takes at
// most `limit` bytes. `sharing`: what was requested, of which aggregators receive parts; NULL: each rank
// receives what it has requested. Collective; entry_move_free and entries_free follow in any case.
bool entry_move_structure(EntryMove *move, const Storage *storage, const PartList *parts,
                          const PartSharing *sharing, int64_t limit, int64_t message_limit, Entries *received,
                          MPI_Comm comm, Diagnostics *diagnostics);
// Moves the values, and returns them in that order. Collective; where parts are shared, in an execution.
const char *entry_move_values(EntryMove *move, const void *values);
void entry_move_free(EntryMove *move);
// Memory that stays between executions.
int64_t entry_move_bytes(const EntryMove *move);

#endif
