// SPDX-License-Identifier: BSD-3-Clause
// A BLAS whose matrix product computes nothing, for LD_PRELOAD: what is left of a distributed product is its
// communication.
#include <cblas.h>

void cblas_dgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transpose_a, CBLAS_TRANSPOSE transpose_b, blasint m,
                 blasint n, blasint k, double alpha, const double *a, blasint lda, const double *b,
                 blasint ldb, double beta, double *c, blasint ldc) {
    (void)layout, (void)transpose_a, (void)transpose_b, (void)m, (void)n, (void)k, (void)alpha;
    (void)a, (void)lda, (void)b, (void)ldb, (void)beta, (void)c, (void)ldc;
}

// That of Fortran, which ScaLAPACK calls.
void dgemm_(void);
void dgemm_(void) {}
