// SPDX-License-Identifier: BSD-3-Clause
// NaN and infinity among the elements of a tensor.
#ifndef DISTAL_RUNTIME_FINITE_H
#define DISTAL_RUNTIME_FINITE_H

#include "runtime/storage.h"

#include <mpi.h>

// An element that is NaN or infinite; of a complex one `value` is the part that is.
typedef struct {
    double value;
    int64_t coordinates[MAX_ORDER]; // of a dense tensor
} NotFinite;

// Whether all elements that the ranks store are finite; else `found` is the same on all of them: the first
// one in the memory of the lowest rank that has any. Reads everything once. Collective.
bool storage_is_finite(const Storage *storage, MPI_Comm comm, NotFinite *found);

#endif
