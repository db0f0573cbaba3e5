// SPDX-License-Identifier: BSD-3-Clause
// Progress of messages while a leaf computes. Many MPI libraries move large messages over a network only
// while they are called. So where fetches start a step ahead, a thread of the rank calls MPI from time to
// time, and only while no other thread of the rank does (MPI_THREAD_SERIALIZED).
#ifndef DISTAL_RUNTIME_PROGRESS_H
#define DISTAL_RUNTIME_PROGRESS_H

#include <mpi.h>
#include <stdbool.h>

// Whether messages need that: some ranks of `all` are not on `node`, and MPI permits it. The environment
// variable DISTAL_PROGRESS decides otherwise: `off`, or `on` for ranks of one node as well. Local.
bool progress_is_needed(MPI_Comm node, MPI_Comm all);

typedef struct ProgressThread ProgressThread;

// With its thread, which waits; NULL: there is no memory, or no thread.
ProgressThread *progress_create(void);
// Before MPI is finalized. NULL is fine.
void progress_free(ProgressThread *progress);

// The thread may call MPI, until progress_stop returns; meanwhile no other thread may. NULL is fine.
void progress_allow(ProgressThread *progress);
void progress_stop(ProgressThread *progress);

#endif
