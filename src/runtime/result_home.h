// SPDX-License-Identifier: BSD-3-Clause
// Results that are computed elsewhere than at home: each rank has the entries that it computes as a tensor of
// their own, and sends them to where they are at home. There those of several ranks with the same coordinates
// are added. The result gets its structure at home when that of what is computed is new.
#ifndef DISTAL_RUNTIME_RESULT_HOME_H
#define DISTAL_RUNTIME_RESULT_HOME_H

#include "plan/plan.h"
#include "runtime/entry_move.h"

typedef struct ResultHome ResultHome;

// Of a tensor of the statement. `adds`: to what the result has. Local; NULL: no memory.
ResultHome *result_home_create(const StatementPlan *plan, const Tensor *tensor, Storage *home, bool adds);
void result_home_free(ResultHome *result); // which may be NULL
// Where this rank computes.
Storage *result_home_computed(const ResultHome *result);

// Whether the result has its structure already; the same on all ranks.
bool result_home_is_known(const ResultHome *result);
// Gives it one; that of what is computed is there. Collective over `comm`, with the same outcome on all
// ranks.
bool result_home_make(ResultHome *result, MPI_Comm comm, Diagnostics *diagnostics);
// Before values are computed, and after it. The second one is collective.
void result_home_begin(const ResultHome *result);
void result_home_finish(ResultHome *result);

const EntryMove *result_home_move(const ResultHome *result);
// What this rank has in memory beside the result.
int64_t result_home_bytes(const ResultHome *result);

#endif
