// SPDX-License-Identifier: BSD-3-Clause
// What placements and statements divide by the entries of tensors.
#ifndef DISTAL_API_DIVISIONS_H
#define DISTAL_API_DIVISIONS_H

#include "api/context.h"

typedef Array(Division) DivisionArray;

// Adds what the placement of `tensor` divides by the entries of `by`, each with those around it first.
void divisions_of_placement(const distal_context *context, const distal_tensor *tensor,
                            const distal_tensor *by, Arena *arena, DivisionArray *list);
// All that is divided by the entries of a tensor: by placements, by statements, and by plans whose statement
// has been freed.
DivisionArray divisions_by(const distal_context *context, const distal_tensor *tensor, Arena *arena);

#endif
