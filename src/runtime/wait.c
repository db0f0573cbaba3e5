// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait.h"

#include "base/clock.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Even the shortest sleep takes about 100 microseconds, and large messages go in many parts, for each of
// which both ranks have to poll. So a rank polls and yields its core for some time before it sleeps: the
// latency of a message that comes soon is some microseconds. Sleeps become longer, so that polling takes
// little from the ranks that compute, but slowly: where messages depend on each other, a rank that sleeps too
// long delays the next one, whose sleep is then longer, too.
static const double yield_seconds = 1e-3, longest_sleep = 1e-3;

static bool sleeps;

void wait_set_sleep(bool sleep) {
    sleeps = sleep;
}

void wait_choose(bool crowded) {
    const char *value = getenv("DISTAL_WAIT");
    if (value && strcmp(value, "poll") == 0)
        return;
    if (crowded || (value && strcmp(value, "sleep") == 0))
        wait_set_sleep(true);
}

bool wait_sleeps(void) {
    return sleeps;
}

// Between two polls of a rank that began to wait then.
static void pause_since(double begin) {
    const double waited = clock_seconds() - begin, pause = fmin(waited / 256, longest_sleep);
    if (waited < yield_seconds)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * pause)}, NULL);
}

void wait_all(int count, MPI_Request *requests) {
    if (!sleeps) {
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        return;
    }
    const double begin = clock_seconds();
    for (;;) {
        int done;
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (done)
            return;
        pause_since(begin);
    }
}

void wait_for(const _Atomic int64_t *number, int64_t least, MPI_Comm comm) {
    enum { POLLS = 256 };
    double begin = 0;
    for (int64_t polls = 0; atomic_load_explicit(number, memory_order_acquire) < least; polls++) {
        if (polls % POLLS != 0 && !sleeps)
            continue;
        int arrived;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &arrived, MPI_STATUS_IGNORE);
        if (sleeps && begin == 0)
            begin = clock_seconds();
        if (sleeps)
            pause_since(begin);
    }
}

void all_reduce(void *values, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, comm, &request);
    wait_all(1, &request);
}

void reduce_in_place(void *values, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    MPI_Request request;
    int rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Ireduce(rank == root ? MPI_IN_PLACE : values, rank == root ? values : NULL, count, type, op, root,
                comm, &request);
    wait_all(1, &request);
}

void all_gather(const void *own, void *all, int count, MPI_Datatype type, MPI_Comm comm) {
    MPI_Request request;
    MPI_Iallgather(own, count, type, all, count, type, comm, &request);
    wait_all(1, &request);
}

void broadcast(void *values, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    MPI_Request request;
    MPI_Ibcast(values, count, type, root, comm, &request);
    wait_all(1, &request);
}

void barrier(MPI_Comm comm) {
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    wait_all(1, &request);
}

void duplicate(MPI_Comm comm, MPI_Comm *copy) {
    MPI_Request request;
    MPI_Comm_idup(comm, copy, &request);
    wait_all(1, &request);
}
