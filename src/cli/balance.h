// SPDX-License-Identifier: BSD-3-Clause
// Entries that placements and loops are balanced by are read before the plan is made, which depends on them.
#ifndef DISTAL_CLI_BALANCE_H
#define DISTAL_CLI_BALANCE_H

#include "cli/run.h"
#include "plan/balance.h"

// Whether entries of a tensor are to be read. Finds boundaries in the entries that are read here, NULL after
// a failure.
typedef bool (*BalanceGiven)(const Session *session, const Tensor *tensor);
typedef bool (*BalanceDivide)(void *context, const BalanceTask *task, const Entries *entries,
                              const Boundaries **boundaries);

// Gives the pipeline the boundaries of all that its program balances by entries; to be called before
// PASS_PLAN. False with a diagnostic.
bool session_balance(Session *session, const Bindings *bindings, BalanceGiven is_given, BalanceDivide divide,
                     void *context);

#endif
