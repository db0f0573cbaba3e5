// SPDX-License-Identifier: BSD-3-Clause
// What the machine can do, for bench/dense.py: a product of matrices by the BLAS, and reading and writing
// memory.
#include <cblas.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

// As a pointer in Open MPI, and in MPICH an int, of which these are the lower bits.
void *plain_comm_self(void);
void *plain_comm_self(void) {
    return (void *)(intptr_t)MPI_COMM_SELF;
}

void plain_gemm(int n, const double *a, const double *b, double *c);
void plain_gemm(int n, const double *a, const double *b, double *c) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}

double plain_read(int64_t n, const double *x);
double plain_read(int64_t n, const double *x) {
    double sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

// The C library stores long blocks without reading them first.
void plain_write(int64_t n, double *x);
void plain_write(int64_t n, double *x) {
    enum { BLOCK = 1 << 21 };
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < n; first += BLOCK)
        memset(x + first, 0, (size_t)(n - first < BLOCK ? n - first : BLOCK) * sizeof *x);
}
