// SPDX-License-Identifier: BSD-3-Clause
// Reducers as operations of MPI.
#ifndef DISTAL_RUNTIME_REDUCER_OP_H
#define DISTAL_RUNTIME_REDUCER_OP_H

#include "base/reducer.h"

#include <mpi.h>

// For elements of the type, which the reducer takes. MPI leaves open what its own maximum makes of NaN, so
// real numbers have an operation of ours, which is made by the first call and kept until the process ends.
// Local; not to be called by several threads at a time.
MPI_Op reducer_op(Reducer reducer, ElementType type);

#endif
