// SPDX-License-Identifier: BSD-3-Clause
// How MPI tests report: a case runs on the first n ranks of the launch, fails where any of them fails, and
// rank 0 prints one line for it.
#ifndef DISTAL_TESTS_MPI_REPORT_H
#define DISTAL_TESTS_MPI_REPORT_H

#include "runtime/node.h"
#include "runtime/wait.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { REPORT_LENGTH = 512, REPORT_MAX_RANKS = 12 };
static char report_failure[REPORT_LENGTH];          // of the running case on this rank; "" while it is well
static int report_failed;                           // cases so far
static MPI_Comm report_comms[REPORT_MAX_RANKS + 1]; // by number of ranks: the first ones of the launch

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

static inline void report_start(int *argument_count, char ***arguments) {
    int rank, provided;
    MPI_Init_thread(argument_count, arguments, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (node_is_crowded(MPI_COMM_WORLD))
        wait_set_sleep(true);
    for (int count = 1; count <= REPORT_MAX_RANKS; count++)
        MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &report_comms[count]);
}

// The exit status of the launch.
static inline int report_end(void) {
    for (int count = 1; count <= REPORT_MAX_RANKS; count++)
        if (report_comms[count] != MPI_COMM_NULL)
            MPI_Comm_free(&report_comms[count]);
    MPI_Finalize();
    return report_failed > 0;
}

typedef void ReportTest(MPI_Comm comm, int rank, int ranks);
typedef struct {
    const char *name;
    ReportTest *test;
} ReportCase;

// Runs `test` on the first `count` ranks, which have a communicator of their own, and prints how it went.
static inline void run_case(const char *name, int count, ReportTest *test) {
    int rank, launched;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &launched);
    if (count > launched) {
        report_failed++;
        if (rank == 0)
            printf("FAIL %s on %d: only %d ranks were launched\n", name, count, launched);
        return;
    }
    report_failure[0] = '\0';
    if (report_comms[count] != MPI_COMM_NULL)
        test(report_comms[count], rank, count);
    int first = report_failure[0] ? rank : count;
    const bool slept = wait_sleeps();
    wait_set_sleep(slept || rank >= count); // those that only wait leave their core to other tests
    all_reduce(&first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    wait_set_sleep(slept);
    if (first < count)
        broadcast(report_failure, sizeof report_failure, MPI_CHAR, first, MPI_COMM_WORLD);
    report_failed += first < count;
    if (rank != 0)
        return;
    if (first < count)
        printf("FAIL %s on %d: rank %d: %s\n", name, count, first, report_failure);
    else
        printf("ok %s on %d\n", name, count);
    fflush(stdout);
}

// The main program of tests that run each case on all numbers of ranks; the last case has no name.
static inline int report_all(int argument_count, char **arguments, const ReportCase *cases) {
    report_start(&argument_count, &arguments);
    int launched;
    MPI_Comm_size(MPI_COMM_WORLD, &launched);
    for (int ranks = 1; ranks <= launched; ranks++)
        for (const ReportCase *of = cases; of->name; of++)
            run_case(of->name, ranks, of->test);
    return report_end();
}

#endif
