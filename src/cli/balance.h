// SPDX-License-Identifier: BSD-3-Clause
// Entries that placements and loops are balanced by are read before the plan is made, which depends on them.
#ifndef DISTAL_CLI_BALANCE_H
#define DISTAL_CLI_BALANCE_H

#include "cli/run.h"
#include "plan/balance.h"

// Reads the entries of task->tensor and finds boundaries in them; NULL where they are not given. False with a
// diagnostic.
typedef bool (*BalanceFind)(void *context, const BalanceTask *task, const BoundariesArray *known,
                            const Boundaries **boundaries);

// Gives the pipeline the boundaries of all that its program balances by entries; to be called before
// PASS_PLAN. False with a diagnostic.
bool session_balance(Session *session, BalanceFind find, void *context);

// A list without entries of a tensor of the program.
Entries session_no_entries(const Session *session, const Tensor *tensor);

// Reads the entries of a sparse tensor that --in gives; order 0: it gives none. False with a diagnostic;
// entries_free follows in any case.
bool session_given_entries(Session *session, const Bindings *bindings, const Tensor *tensor, int64_t limit,
                           Entries *entries);

#endif
