// SPDX-License-Identifier: BSD-3-Clause
// Agreement: what fails on one rank fails on all, before the next collective step, so that nobody waits for a
// rank that has given up. Every function here is collective over `comm`.
#ifndef DISTAL_RUNTIME_COMM_H
#define DISTAL_RUNTIME_COMM_H

#include "base/diagnostic.h"

#include <mpi.h>

// Whether `ok` holds on all ranks.
bool agree(MPI_Comm comm, bool ok);

// The same; where it does not, all ranks end up with the latest error of the lowest rank that failed.
bool agree_on(MPI_Comm comm, bool ok, Diagnostics *diagnostics);

#endif
