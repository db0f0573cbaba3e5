// SPDX-License-Identifier: BSD-3-Clause
// Shrinking: makes a failing program as small as it can be while it still fails in the same way.
#ifndef DISTAL_TESTS_SHRINK_H
#define DISTAL_TESTS_SHRINK_H

#include "trial.h"

// `before` is called before each attempt, on all ranks. Collective over MPI_COMM_WORLD. The smallest failing
// trial that was found, freed by the caller.
Trial *shrink(const Trial *failing, void (*before)(const Trial *trial));

#endif
