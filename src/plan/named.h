// SPDX-License-Identifier: BSD-3-Clause
// Named fetches: of a dense operand that is multiplied by a sparse one, a rank needs the elements whose
// coordinates the entries name that it uses of the sparse one, and no others of its footprint. Which these
// are is known with the structure; then each rank finds its own, and asks those that have them at home.
#ifndef DISTAL_PLAN_NAMED_H
#define DISTAL_PLAN_NAMED_H

#include "format/entries.h"
#include "plan/plan.h"
#include "plan/rank_plan.h"

// Whether a transfer is one: it has one step, and intervals of coordinates at home and in footprints.
bool transfer_is_named(const StatementPlan *plan, int transfer);

typedef Array(Part) NamedParts;

// What `rank` lacks: disjoint parts, sorted by the ranks that have them at home, and those of one rank by
// coordinates. `entries` are those of the sparse operand that the rank has at home; they are changed. NULL on
// success, else the reason of the failure.
const char *named_parts(const StatementPlan *plan, int transfer, int64_t rank, Entries *entries, Arena *arena,
                        NamedParts *parts);

// Elements of the parts, and the messages in which they come; elements from one rank are added to `sent`, by
// rank, unless that is NULL.
Cost named_cost(const StatementPlan *plan, int transfer, const NamedParts *parts, int64_t *sent);

#endif
