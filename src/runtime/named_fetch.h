// SPDX-License-Identifier: BSD-3-Clause
// A named fetch in an execution (plan/named.h): the elements of a dense operand that entries of a sparse one
// name. They are found, and asked for, when the structure of the sparse operand is new; each execution moves
// their values.
#ifndef DISTAL_RUNTIME_NAMED_FETCH_H
#define DISTAL_RUNTIME_NAMED_FETCH_H

#include "plan/named.h"
#include "runtime/agreement.h"
#include "runtime/storage.h"
#include "runtime/value_exchange.h"

typedef struct NamedFetch NamedFetch;

// Of a dense operand; `by` has the entries that this rank uses of the sparse one. Local; NULL: no memory.
NamedFetch *named_fetch_create(const StatementPlan *plan, int transfer, const Storage *storage,
                               const Storage *by);
void named_fetch_free(NamedFetch *fetch); // which may be NULL

// Whether the elements are those that the structure of the sparse operand names now.
bool named_fetch_is_known(const NamedFetch *fetch);
// Finds them, and tells the ranks that have them. Collective over `comm`; false with the same diagnostic on
// all ranks.
bool named_fetch_find(NamedFetch *fetch, MPI_Comm comm, Diagnostics *diagnostics);
// Moves their values into `view`.
void named_fetch_start(NamedFetch *fetch);
void named_fetch_finish(NamedFetch *fetch, const Piece *view);

// What each execution moves.
const ValueExchange *named_fetch_values(const NamedFetch *fetch);

#endif
