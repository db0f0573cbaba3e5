// SPDX-License-Identifier: BSD-3-Clause
// What bench/dense_plain.c and bench/sparse_plain.c have in common: functions that Python finds by name, so
// they are defined here and not inline. Each of the two becomes a library of its own.
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include <mpi.h>
#include <stdint.h>

// The communicator of one process, which is a macro in C and has no name that Python could look up.
MPI_Comm plain_comm_self(void);
MPI_Comm plain_comm_self(void) {
    return MPI_COMM_SELF;
}

// The time of one sum over n elements says what bandwidth memory has for reading.
double plain_sum(int64_t n, const double *x);
double plain_sum(int64_t n, const double *x) {
    double sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

#endif
