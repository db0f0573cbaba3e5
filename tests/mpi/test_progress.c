// SPDX-License-Identifier: BSD-3-Clause
// Messages that a thread of the rank moves while the rank computes. ranks: 4
#include "base/clock.h"
#include "report.h"
#include "runtime/progress.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

// Too long for what MPI sends before the receiver has asked for it.
enum { ELEMENTS = 1 << 20 };
static const double limit_seconds = 60;

// All ranks but the first send, and make no call of MPI until the first has received everything.
static void test_send_while_computing(MPI_Comm comm, int rank, int ranks) {
    _Atomic int *received;
    MPI_Win window;
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(rank == 0 ? sizeof *received : 0, 1, MPI_INFO_NULL, comm, (void *)&received,
                            &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, (void *)&received);
    if (rank == 0)
        atomic_store(received, 0);
    MPI_Barrier(comm);
    ProgressThread *progress = progress_create();
    CHECK(progress, "no thread");
    int *elements = malloc(sizeof *elements * ELEMENTS);
    for (int round = 0; round < 3 && elements && progress; round++) {
        if (rank == 0) {
            for (int from = 1; from < ranks; from++) {
                MPI_Recv(elements, ELEMENTS, MPI_INT, from, round, comm, MPI_STATUS_IGNORE);
                CHECK(elements[0] == from && elements[ELEMENTS - 1] == from + round, "elements of rank %d",
                      from);
            }
            atomic_store(received, round + 1);
            continue;
        }
        elements[0] = rank;
        elements[ELEMENTS - 1] = rank + round;
        MPI_Request request;
        MPI_Isend(elements, ELEMENTS, MPI_INT, 0, round, comm, &request);
        progress_allow(progress);
        const double begin = clock_seconds();
        while (atomic_load(received) <= round && clock_seconds() - begin < limit_seconds)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        progress_stop(progress);
        CHECK(atomic_load(received) > round, "the message did not go on");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    progress_free(progress);
    free(elements);
    MPI_Win_free(&window);
}

int main(int argc, char **argv) {
    static const ReportCase cases[] = {{"send while computing", test_send_while_computing}, {NULL, NULL}};
    return report_all(argc, argv, cases);
}
