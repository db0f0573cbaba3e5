// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait.h"

#include "base/integer.h"

#include <stdint.h>
#include <time.h>

static bool sleeps;

void wait_set_sleep(bool sleep) {
    sleeps = sleep;
}

bool wait_sleeps(void) {
    return sleeps;
}

void wait_all(int count, MPI_Request *requests) {
    if (!sleeps) {
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        return;
    }
    // Longer from time to time, so that many ranks that wait long take little from one that computes.
    const int64_t longest = 1000000;
    int polls = 0, done;
    struct timespec pause = {.tv_nsec = 10000};
    for (;;) {
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (done)
            return;
        if (++polls < 20)
            continue;
        nanosleep(&pause, NULL);
        pause.tv_nsec = min_i64(2 * pause.tv_nsec, longest);
    }
}

void all_reduce(void *values, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, comm, &request);
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
