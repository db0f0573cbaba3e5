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

// Sets the loops of the function that appends the entries of assembled results (SpmdNest.entries); NULL where
// there is none. `values`: those of params by index, for estimates only; NULL where they are not known. False
// with a diagnostic where the schedule cannot be carried out.
bool lower_structure(const Spmd *spmd, const char *const *params, int param_count, const int64_t *values,
                     Diagnostics *diagnostics, const LoopKernel **structure);

#endif
