// SPDX-License-Identifier: BSD-3-Clause
// Parts that entries balance, in programs that call the library (plan/balance.h): their boundaries follow
// from the entries that a tensor has now. Where it gets others, tensors that are placed by them move to their
// new homes, and plans are made again when they are executed.
#ifndef DISTAL_API_BALANCE_H
#define DISTAL_API_BALANCE_H

#include "api/context.h"

// The tensor whose entries balance this dimension of the placement; NULL: it has been freed.
distal_tensor *balance_tensor(const distal_context *context, const distal_tensor *tensor,
                              const PlaceEntry *entry);
// Whether the boundaries that a placement needs are those of the entries. Where these are not known yet,
// parts of equal length are assumed. Local.
bool balance_is_current(distal_context *context, const distal_tensor *tensor);
// All boundaries that are known. Those of one tensor stay until it gets other entries.
const BoundariesArray *balance_known(const distal_context *context, Arena *arena);

// Whether a placement or a loop is balanced by the entries of the tensor.
bool balance_divides(distal_context *context, const distal_tensor *tensor);

// To be called before a sparse tensor gets new entries, of which each rank has a part: finds boundaries in
// them; the tensor and those that are placed by its entries move to their new homes. The tensor has no
// entries after that, if its own home changes. Where that fails, nothing moves. Collective; nothing where
// entries balance nothing.
distal_status balance_by(distal_context *context, distal_tensor *tensor, const Entries *entries);
// To be called when it has got them; else boundaries are found again where they are needed.
void balance_settle(distal_tensor *tensor);

typedef Array(distal_tensor *) TensorArray;
// The tensors whose entries balance the placements or the loops of a compiled statement. Not its result where
// that has the structure of an operand: it is divided as the operand is.
void balance_tensors(distal_context *context, const distal_statement *statement, const int64_t *params,
                     Arena *arena, TensorArray *tensors);
// Finds the boundaries of these, where their entries are not those of which they are known; and before that
// what a statement divides besides. Collective; nothing is sent where they are known.
distal_status balance_update(distal_context *context, int64_t count, distal_tensor *const *tensors);
// The same for those by whose entries this one is placed.
distal_status balance_update_placement(distal_context *context, const distal_tensor *tensor);
distal_status balance_statement(distal_context *context, distal_statement *statement, const int64_t *params,
                                int64_t count, distal_tensor *const *tensors);
// Whether the entries of these are those of which boundaries are known.
bool balance_is_settled(int64_t count, distal_tensor *const *tensors);
// A number that is another one after boundaries of these have changed.
int64_t balance_version(int64_t count, distal_tensor *const *tensors);

#endif
