// SPDX-License-Identifier: BSD-3-Clause
// How MPI tests report: a case runs on the first n ranks of the launch, fails where any of them fails, and
// rank 0 prints one line for it.
#ifndef DISTAL_TESTS_MPI_REPORT_H
#define DISTAL_TESTS_MPI_REPORT_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { REPORT_LENGTH = 512 };
static char report_failure[REPORT_LENGTH]; // of the running case on this rank; "" while it is well
static int report_failed;                  // cases so far

// Keeps the first failure of a case.
__attribute__((format(printf, 1, 2))) static inline void fail(const char *format, ...) {
    if (report_failure[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report_failure, sizeof report_failure, format, arguments);
    va_end(arguments);
}

#define CHECK(condition, ...)                                                                                \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail(__VA_ARGS__);                                                                               \
    } while (0)

// Runs `test` on the first `count` ranks, which get a communicator of their own, and prints how it went.
static inline void run_case(const char *name, int count, void (*test)(MPI_Comm comm, int rank, int ranks)) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    report_failure[0] = '\0';
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm != MPI_COMM_NULL) {
        test(comm, rank, count);
        MPI_Comm_free(&comm);
    }
    int first = report_failure[0] ? rank : count;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first < count)
        MPI_Bcast(report_failure, sizeof report_failure, MPI_CHAR, first, MPI_COMM_WORLD);
    report_failed += first < count;
    if (rank != 0)
        return;
    if (first < count)
        printf("FAIL %s on %d: rank %d: %s\n", name, count, first, report_failure);
    else
        printf("ok %s on %d\n", name, count);
    fflush(stdout);
}

#endif
