// SPDX-License-Identifier: BSD-3-Clause
// What the machine can do, for bench/dense.py: a product of matrices by the BLAS, and reading and writing
// memory.
#include "plain.h"

#include <cblas.h>
#include <string.h>

void plain_gemm(int m, int n, int k, const double *a, const double *b, double *c);
void plain_gemm(int m, int n, int k, const double *a, const double *b, double *c) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
}

// The C library stores long blocks without reading them first.
void plain_write(int64_t n, double *x);
void plain_write(int64_t n, double *x) {
    enum { BLOCK = 1 << 21 };
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < n; first += BLOCK)
        memset(x + first, 0, (size_t)(n - first < BLOCK ? n - first : BLOCK) * sizeof *x);
}
