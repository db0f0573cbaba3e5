// SPDX-License-Identifier: BSD-3-Clause
// The stages of a statement, each of which ends with what writes a sparse workspace or the result, and where
// the levels of that come from: they are those of an operand, its first ones, or made from entries.
#ifndef DISTAL_LOWER_STAGES_H
#define DISTAL_LOWER_STAGES_H

#include "lower/leaf.h"

// Sets the stages of `spmd`, and of each of its `nests` the stage. *converted: the operand whose structure
// the result shares once that is converted; NULL: none. False with a diagnostic where a structure cannot be
// found.
bool stages_choose(Spmd *spmd, SpmdNest *nests, const Access **converted, Diagnostics *diagnostics);

// Once `spmd` has its leaves: how the entries of what a stage assembles are found, and its values, which may
// take a row more. `params`: values by index, for the estimate only; NULL where they are not known.
void stage_choose_assembly(const Spmd *spmd, Stage *stage, const int64_t *params, RowWorkspaceArray *rows);

#endif
