// SPDX-License-Identifier: BSD-3-Clause
// Which threads the BLAS library computes with. One that shares those of OpenMP needs no care: it uses all of
// them outside of parallel loops, and one inside. One with threads of its own would use as many for each call
// that a thread of ours makes, so its number of threads is one while our loops are parallel.
#ifndef DISTAL_RUNTIME_BLAS_THREADS_H
#define DISTAL_RUNTIME_BLAS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { BLAS_THREADS_UNKNOWN, BLAS_THREADS_NONE, BLAS_THREADS_OWN, BLAS_THREADS_OPENMP } BlasThreads;

BlasThreads blas_threads(void);
// The processor that its routines are made for, "Zen"; NULL where the library does not say.
const char *blas_core_type(void);
// Where its routines are made for an older processor than this one: which of OpenBLAS would be better, as a
// value of OPENBLAS_CORETYPE. NULL where it has none better, or another library is used.
const char *blas_better_core(void);

// To be called before each call of the library, by any thread. Outside of parallel loops by one thread of the
// process at a time.
void blas_enter(void);
// To be called around an operation on a matrix of m times n elements and vectors: where a library that shares
// the threads of OpenMP would use several for a matrix that stays in a cache, it has one meanwhile, which
// takes less time. Returns what blas_unlimit is given.
int blas_limit(int64_t m, int64_t n);
void blas_unlimit(int threads);
// Gives the library the threads back that blas_enter took. Outside of parallel loops.
void blas_leave(void);

#endif
