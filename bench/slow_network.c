// SPDX-License-Identifier: BSD-3-Clause
// A layer below MPI calls (PMPI) that makes the network between ranks of one node slow, to measure what is
// computed while data arrives: what a rank receives by MPI_Irecv takes DISTAL_LATENCY microseconds a message,
// and arrives at DISTAL_BANDWIDTH megabytes a second, one message after the other. Collectives are not
// slowed, so it is for statements whose messages are between two ranks (pattern gather). The network works by
// itself, as one with remote memory access does. For LD_PRELOAD.
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

// Receives under way, in a ring: where the requests are, and when the data has arrived.
enum { RECEIVES = 1024 };
static struct {
    const MPI_Request *request;
    double end;
} receives[RECEIVES];
static int next;
static double busy_until; // seconds

static double number(const char *name) {
    const char *text = getenv(name);
    return text ? strtod(text, NULL) : 0;
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    const double now = PMPI_Wtime(), bandwidth = 1e6 * number("DISTAL_BANDWIDTH");
    int size;
    PMPI_Type_size(type, &size);
    busy_until = (busy_until > now ? busy_until : now) + 1e-6 * number("DISTAL_LATENCY") +
                 (bandwidth > 0 ? (double)count * size / bandwidth : 0);
    receives[next].request = request;
    receives[next].end = busy_until;
    next = (next + 1) % RECEIVES;
    return PMPI_Irecv(to, count, type, from, tag, comm, request);
}

// When the data of the last of these requests has arrived.
static double end_of(int count, const MPI_Request *requests) {
    double end = 0;
    for (int i = 0; i < RECEIVES; i++)
        if (receives[i].request >= requests && receives[i].request < requests + count &&
            receives[i].end > end)
            end = receives[i].end;
    return end;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
    const struct timespec pause = {.tv_nsec = 5000};
    const double end = end_of(count, requests);
    const int status = PMPI_Waitall(count, requests, statuses);
    while (PMPI_Wtime() < end)
        nanosleep(&pause, NULL);
    return status;
}

int MPI_Testall(int count, MPI_Request *requests, int *done, MPI_Status *statuses) {
    const int status = PMPI_Testall(count, requests, done, statuses);
    *done = *done && PMPI_Wtime() >= end_of(count, requests);
    return status;
}
