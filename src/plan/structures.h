// SPDX-License-Identifier: BSD-3-Clause
// Structures: what follows from the entries of sparse tensors that one process has as a whole: what every
// rank stores, what transfers move for them, and the memory that this takes. A run counts the same. Entries
// are cut and packed here by the functions by which ranks do it, one rank after the other.
#ifndef DISTAL_PLAN_STRUCTURES_H
#define DISTAL_PLAN_STRUCTURES_H

#include "plan/plan.h"

typedef struct Structures Structures;

// No tensor is known at first. What is allocated for one rank, or to store a tensor as a whole, takes at most
// `limit` bytes. The plan has to stay. Freed with structures_free.
Structures *structures_create(const Plan *plan, int64_t limit, Arena *arena);
void structures_free(Structures *structures);

// Gives a sparse tensor entries, which are released. NULL on success, else the reason of the failure.
const char *structures_put(Structures *structures, int tensor, Entries *entries);
// The same of a tensor that is stored already, in its own levels, as a whole: nothing is copied, it has to
// stay as long as the structures do.
const char *structures_lend(Structures *structures, int tensor, const StoredTensor *whole);
// Goes through the stages of a statement. A result with the structure of a known operand is known then,
// another one is not. NULL on success, else the reason of the failure, for *tensor.
const char *structures_execute(Structures *structures, int statement, const Tensor **tensor);

// Estimates in the plan what the entries of operands, before the statement is executed, say of it together;
// of its result if `counts_coordinates`.
void structures_estimate(Structures *structures, Plan *plan, int statement, bool counts_coordinates);

// The same as structures_execute, and counts in the plan what the statement moves; and what all tensors
// store, as far as that is known.
const char *structures_count(Structures *structures, Plan *plan, int statement, const Tensor **tensor);
void structures_count_stored(const Structures *structures, Plan *plan);

// Of the statement that was executed last: what a transfer moves; NULL: it does not depend on entries, or not
// on known ones. Bytes that each rank sends once to request what it lacks of a dense tensor; NULL: nothing.
const EntryFigures *structures_moved(const Structures *structures, int transfer);
const int64_t *structures_requests(const Structures *structures, int transfer);
// What a tensor stores now; its arrays are NULL where that is not known.
StoredFigures structures_stored(const Structures *structures, int tensor);

#endif
