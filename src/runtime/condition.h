// SPDX-License-Identifier: BSD-3-Clause
// The condition of a repetition: whether the value of an expression of scalars is less than a number. One
// rank evaluates it and broadcasts the outcome, so that all do the same whatever their copies of the scalars
// have been rounded to.
#ifndef DISTAL_RUNTIME_CONDITION_H
#define DISTAL_RUNTIME_CONDITION_H

#include "index/notation.h"
#include "runtime/storage.h"

#include <mpi.h>

typedef struct Condition Condition;

// `expression` has a right side only, which reads scalars with ids less than `tensor_count`. Lives in the
// arena, and keeps pointers to the arguments; `storages` by tensor id. Collective.
Condition *condition_create(const Assignment *expression, double limit, int tensor_count,
                            Storage *const *storages, const int64_t *params, MPI_Comm comm, Arena *arena);

// Sets *holds, the same on all ranks; a NaN is not less than anything. Collective; false with the same
// diagnostic on all ranks where memory runs out.
bool condition_holds(const Condition *condition, bool *holds, Diagnostics *diagnostics);

#endif
