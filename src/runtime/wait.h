// SPDX-License-Identifier: BSD-3-Clause
// Waiting for other ranks. An MPI library polls while it waits, and not every one gives its core away
// meanwhile: with more ranks than cores, a rank that waits then keeps one that computes from its core until
// the kernel takes it away, milliseconds for each message. So ranks that share cores poll from time to time,
// and yield or sleep in between.
#ifndef DISTAL_RUNTIME_WAIT_H
#define DISTAL_RUNTIME_WAIT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

// Whether this process sleeps while it waits; at first MPI waits as it likes.
void wait_set_sleep(bool sleep);
// Makes it sleep where ranks share cores (`crowded`), unless the environment variable DISTAL_WAIT says what
// to do: `sleep` or `poll`.
void wait_choose(bool crowded);
bool wait_sleeps(void);

// As MPI_Waitall, without statuses.
void wait_all(int count, MPI_Request *requests);

// Until a number in memory that other processes write is at least `least`; meanwhile MPI makes progress on
// messages of this rank, which others may wait for.
void wait_for(const _Atomic int64_t *number, int64_t least, MPI_Comm comm);

// As MPI_Allreduce and MPI_Reduce in place, MPI_Allgather, MPI_Bcast, MPI_Barrier and MPI_Comm_dup. All ranks
// have to call these, as MPI does not match them with its own: some ranks may sleep and others not.
void all_reduce(void *values, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
void reduce_in_place(void *values, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
void all_gather(const void *own, void *all, int count, MPI_Datatype type, MPI_Comm comm);
void broadcast(void *values, int count, MPI_Datatype type, int root, MPI_Comm comm);
void barrier(MPI_Comm comm);
void duplicate(MPI_Comm comm, MPI_Comm *copy);

#endif
