// SPDX-License-Identifier: BSD-3-Clause
// The same program through the calls of distal.h.
#ifndef DISTAL_TESTS_LIBRARY_H
#define DISTAL_TESTS_LIBRARY_H

#include "trial.h"

// Declares the program of a trial in a context, plans and executes its statements twice, with different
// inputs, and compares results with the reference and what is counted with the figures of the plans.
// Programs with repetitions, which the library leaves to its callers, and those with chosen schedules are
// passed over. Collective over `comm`, which has the ranks of the trial.
void library_execute(Trial *trial, MPI_Comm comm);

#endif
