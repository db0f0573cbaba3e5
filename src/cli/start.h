// SPDX-License-Identifier: BSD-3-Clause
// Starting a command that computes: on ranks that it launches, or on this process alone.
#ifndef DISTAL_CLI_START_H
#define DISTAL_CLI_START_H

#include "cli/session.h"

// What the ranks do, between MPI_Init and MPI_Finalize; all of them return the same.
typedef ExitStatus (*RanksBody)(Session *session);

// First in such a command: chooses the routines of the BLAS, for which this process may start again, and
// leaves a temporary folder that cannot be used.
void start_prepare(Session *session);
// On this process, one of several that a launcher has started (launch_is_inside).
ExitStatus start_here(Session *session, RanksBody body);
// In the process that the user has started: launches `ranks` ranks, or runs the body here where that is 1.
ExitStatus start(Session *session, int64_t ranks, RanksBody body);

#endif
