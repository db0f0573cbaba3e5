// SPDX-License-Identifier: BSD-3-Clause
// An indexed fetch in an execution (plan/indexed.h): the elements of a dense operand at the coordinates of
// entries of a sparse one. They are found, and requested from their owners, when the structure of the sparse
// operand is new; each execution moves their values: those of neighbours are copied from where they are at
// home, others go in messages, where several ranks of a node use them to one of these (part_sharing.h).
#ifndef DISTAL_RUNTIME_INDEXED_FETCH_H
#define DISTAL_RUNTIME_INDEXED_FETCH_H

#include "plan/indexed.h"
#include "runtime/reading.h"
#include "runtime/storage.h"
#include "runtime/value_exchange.h"

typedef struct IndexedFetch IndexedFetch;

// Of a dense operand; `by` has the entries that this rank uses of the sparse one. Local; NULL: no memory.
IndexedFetch *indexed_fetch_create(const StatementPlan *plan, int transfer, const Storage *storage,
                                   const Storage *by);
// What neighbours have at home is read there: `pieces` are those of `part`, and have their memory before the
// first call of indexed_fetch_find.
void indexed_fetch_read(IndexedFetch *fetch, const RankTransfer *part, const Piece *pieces, Reading *reading);
void indexed_fetch_free(IndexedFetch *fetch); // which may be NULL

// Whether they were found for the structure that the sparse operand has now.
bool indexed_fetch_is_known(const IndexedFetch *fetch);
// Finds them, and requests them from their owners. Of the memory that the tensor may take, `taken` bytes are
// taken. Collective over `comm`; false with the same diagnostic on all ranks.
bool indexed_fetch_find(IndexedFetch *fetch, int64_t taken, MPI_Comm comm, Diagnostics *diagnostics);
// Which rows of the sparse operand need nothing but what is at home, where the transfer overlaps with those.
const IndexedRows *indexed_fetch_rows(const IndexedFetch *fetch);
// Moves their values into the view. From the start on it has those that are at home.
void indexed_fetch_start(IndexedFetch *fetch);
void indexed_fetch_progress(IndexedFetch *fetch);
void indexed_fetch_finish(IndexedFetch *fetch);

// What the kernel reads, in a home piece or a buffer; without data where this rank uses nothing. In a mode
// whose coordinates are numbered, the rectangle is one of numbers.
const Piece *indexed_fetch_view(const IndexedFetch *fetch);
// These numbers, for each position of the level of the sparse operand that lists coordinates of `mode`, with
// as many bits as there; NULL: none, the kernel uses the coordinates.
void *indexed_fetch_numbers(const IndexedFetch *fetch, int mode);
// The coordinates themselves; NULL where the operand has no structure.
void *listed_coordinates(const Storage *by, int level);
// What each execution brings to this rank.
Cost indexed_fetch_received(const IndexedFetch *fetch);
// Bytes of its buffers on this rank; and with the lists of what is copied.
int64_t indexed_fetch_buffers(const IndexedFetch *fetch);
int64_t indexed_fetch_bytes(const IndexedFetch *fetch);

#endif
