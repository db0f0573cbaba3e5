// SPDX-License-Identifier: BSD-3-Clause
// The condition of a repetition: whether the value of an expression of scalars is less than a number. The
// first rank evaluates it and tells the others, so that all do the same whatever their copies of the scalars
// have been rounded to.
#ifndef DISTAL_RUNTIME_CONDITION_H
#define DISTAL_RUNTIME_CONDITION_H

#include "index/notation.h"
#include "runtime/storage.h"

#include <mpi.h>

typedef struct Condition Condition;

// `expression` has a right side only, which reads scalars with ids less than `tensor_count`. Lives in the
// arena, and keeps pointers to the arguments.
Condition *condition_create(const Assignment *expression, double limit, int tensor_count,
                            const int64_t *params, Arena *arena);

// Sets *holds, the same on all ranks; a NaN is not less than anything. `storages` by tensor id. Collective;
// false with the same diagnostic on all ranks where memory runs out.
bool condition_holds(const Condition *condition, Storage *const *storages, MPI_Comm comm, bool *holds,
                     Diagnostics *diagnostics);

#endif
