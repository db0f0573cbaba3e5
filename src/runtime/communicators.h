// SPDX-License-Identifier: BSD-3-Clause
// Communicators of groups of ranks. MPI libraries have few of them, and making one takes long, so a context
// or a run has one for each distinct group, which all of its executions share. They live as long as it.
#ifndef DISTAL_RUNTIME_COMMUNICATORS_H
#define DISTAL_RUNTIME_COMMUNICATORS_H

#include "plan/rank_plan.h"

#include <mpi.h>

typedef struct Communicators Communicators;
typedef struct Neighbours Neighbours; // runtime/neighbours.h

// Of groups of ranks of `comm`, which stays the caller's. Collective. NULL on all ranks where one lacks
// memory.
Communicators *communicators_create(MPI_Comm comm);
// Collective, after all executions with these have been freed.
void communicators_free(Communicators *communicators);

MPI_Comm communicators_all(const Communicators *communicators);
// Whether some rank sleeps while it waits (runtime/wait.h), which only nonblocking operations allow.
bool communicators_sleep(const Communicators *communicators);

// The neighbours that plans for these ranks are made for, which stay the caller's; NULL: none.
void communicators_set_neighbours(Communicators *communicators, Neighbours *neighbours);
Neighbours *communicators_neighbours(const Communicators *communicators);

// Whether executions need a thread for their messages (runtime/progress.h); at first they do not.
void communicators_set_progress(Communicators *communicators, bool needed);
bool communicators_need_progress(const Communicators *communicators);

// How many communicators there are beside that of all ranks; for tests.
int64_t communicators_count(const Communicators *communicators);

// Takes note of a group that this rank is a member of; *is_new is set where it has no communicator yet, or
// where its members add up in memory of their GPUs (`sums_on_gpus`) and are no group there yet. Local; false:
// no memory.
bool communicators_note(Communicators *communicators, const Group *group, bool sums_on_gpus, bool *is_new);
// Makes the communicators of all groups that have been noted, and joins their GPUs. Collective over each of
// these groups: all of its members have noted it. Where a rank cannot join GPUs, those of the group are
// joined for no member, and its failure is noted (device_check).
void communicators_complete(Communicators *communicators);
// Forgets what has been noted, after some rank could not.
void communicators_forget(Communicators *communicators);
// That of a group; MPI_COMM_NULL where it has been noted only.
MPI_Comm communicators_find(const Communicators *communicators, const Group *group);
// The GPUs of its members (DeviceSums); NULL where they have not been joined.
void *communicators_find_gpus(const Communicators *communicators, const Group *group);

#endif
