// SPDX-License-Identifier: BSD-3-Clause
// Agreement: what fails on one rank fails on all, before the next collective step, so that none waits for a
// rank that has given up. Every function here is collective over `comm`.
#ifndef DISTAL_RUNTIME_AGREEMENT_H
#define DISTAL_RUNTIME_AGREEMENT_H

#include "base/diagnostic.h"

#include <mpi.h>

// Whether `ok` holds on all ranks.
bool agree(MPI_Comm comm, bool ok);

// The same; where it does not, all ranks end up with the latest error of the lowest rank that failed.
bool agree_on(MPI_Comm comm, bool ok, Diagnostics *diagnostics);

// Finds out together whether what ranks need fits: the first of the ranks with the largest shortage; -1: no
// rank is short. `shortage` returns that of this rank, and is collective. While some rank is short, all call
// `reduce`, and try again where it returns true on all.
int agree_on_fit(MPI_Comm comm, double (*shortage)(void *arguments), bool (*reduce)(void *arguments),
                 void *arguments);

// What each rank does alone between two collective steps. False with a diagnostic where it fails.
typedef bool (*LocalPart)(void *arguments, Diagnostics *diagnostics);
// Does it and agrees on how it went. That memory runs out, in any arena that has the outermost one in common
// with that of the diagnostics, is a failure like others: no rank leaves while the other ranks wait.
bool agree_on_part(MPI_Comm comm, LocalPart part, void *arguments, Diagnostics *diagnostics);
// The same; *flag, which the part may set, is then whether it is set on any rank.
bool agree_on_part_and_any(MPI_Comm comm, LocalPart part, void *arguments, bool *flag,
                           Diagnostics *diagnostics);

#endif
