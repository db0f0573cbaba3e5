// SPDX-License-Identifier: BSD-3-Clause
// The verifier of plans, for tests, and, where it is quick, for builds with assertions: it takes longer than
// planning.
#ifndef DISTAL_PLAN_VERIFY_H
#define DISTAL_PLAN_VERIFY_H

#include "plan/plan.h"

// Every coordinate of a tensor that is used has a home, one but for replicas, and is in a piece there. Every
// rank has room for what it needs, and gets exactly what it lacks, once, from a rank that has it there; every
// partial result reaches owners that hold its rectangle in one piece. On failure false, and *why says where
// (in the arena of the plan).
bool plan_verify(StatementPlan *plan, const char **why);

// Whether that takes a fraction of a second, as there are few ranks and steps.
bool plan_verify_is_quick(const StatementPlan *plan);

#endif
