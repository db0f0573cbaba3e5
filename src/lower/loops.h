// SPDX-License-Identifier: BSD-3-Clause
// From the SPMD program of a statement to the loop IR of its kernel, without optimization: loops, definitions
// and updates where the SPMD program has them.
#ifndef DISTAL_LOWER_LOOPS_H
#define DISTAL_LOWER_LOOPS_H

#include "loop/loop.h"
#include "spmd/spmd.h"

// `params` are names by index. NULL with a diagnostic if a command about a loop cannot be carried out, as the
// loop iterates over what sparse tensors store.
const LoopKernel *lower_loops(const Spmd *spmd, const char *const *params, int param_count,
                              Diagnostics *diagnostics);

// The loops of the function that appends the entries of an assembled result; NULL where the result is none.
const LoopKernel *lower_structure(const Spmd *spmd, const char *const *params, int param_count);

#endif
