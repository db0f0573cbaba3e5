// SPDX-License-Identifier: BSD-3-Clause
// Partial results that owners read in the views of neighbours (plan/neighbours.h), in place of getting them
// in messages.
#ifndef DISTAL_RUNTIME_PARTIAL_RESULTS_H
#define DISTAL_RUNTIME_PARTIAL_RESULTS_H

#include "runtime/transfer.h"

// Whether the transfer is a reduction of which neighbours read partial results.
bool partial_results_are_read(const RankTransfer *plan);
// Local: its buffer, in memory that neighbours can read. False: no memory.
bool partial_results_allocate(TransferState *state, bool on_gpu);
void partial_results_free(TransferState *state);

// The view of the step is complete: owners may take it, and this rank adds to its home what it owns of
// others.
void partial_results_take(TransferState *state, const RankStep *step);
// Waits until the buffer may be changed: owners have taken what was given last.
void partial_results_wait(TransferState *state);

#endif
