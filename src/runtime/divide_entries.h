// SPDX-License-Identifier: BSD-3-Clause
// Parts that entries balance, found by all ranks together: each has a share of the entries, coordinates are
// sorted over the ranks by regular sampling (Shi and Schaeffer 1992), and the boundaries are looked up where
// they are. Collective over `comm`; a failure on one rank is the same diagnostic on all.
#ifndef DISTAL_RUNTIME_DIVIDE_ENTRIES_H
#define DISTAL_RUNTIME_DIVIDE_ENTRIES_H

#include "plan/balance.h"
#include "runtime/agreement.h"

// `entries`: the share of this rank, of the entries of the tensor `name`; shares cover all entries and may
// overlap. `known` has the boundaries of the levels around. NULL after a failure; lives in `arena`.
const Boundaries *divide_entries(const Division *division, const BoundariesArray *known, const char *name,
                                 const Entries *entries, MPI_Comm comm, Arena *arena,
                                 Diagnostics *diagnostics);

#endif
