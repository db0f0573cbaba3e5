// SPDX-License-Identifier: BSD-3-Clause
// libcublas.so.13 of tests: products of matrices on the host, in the queue of fake_cuda.c.
#include "fake_cuda.h"

#include <complex.h>
#include <cublas_v2.h>
#include <stdint.h>

cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    *handle = (cublasHandle_t)&fake_cuda;
    fake_cuda.live++;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    (void)handle;
    fake_cuda.live--;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    (void)handle;
    (void)stream;
    return CUBLAS_STATUS_SUCCESS;
}

typedef struct {
    int64_t m, n, k, lda, ldb, ldc;
    int a_transposed, b_transposed;
    double _Complex alpha, beta;
    const void *a, *b;
    void *c;
} Product;

static int is_valid(const Product *p) {
    return p->m >= 0 && p->n >= 0 && p->k >= 0 && p->lda >= (p->a_transposed ? p->k : p->m) && p->lda >= 1 &&
           p->ldb >= (p->b_transposed ? p->n : p->k) && p->ldb >= 1 && p->ldc >= p->m && p->ldc >= 1;
}

#define DEFINE_GEMM(letter, type)                                                                            \
    static void run_##letter(void *arguments) {                                                              \
        const Product *p = arguments;                                                                        \
        const type *a = p->a, *b = p->b;                                                                     \
        type *c = p->c;                                                                                      \
        for (int64_t i = 0; i < p->m; i++)                                                                   \
            for (int64_t j = 0; j < p->n; j++) {                                                             \
                type sum = 0;                                                                                \
                for (int64_t l = 0; l < p->k; l++)                                                           \
                    sum += a[p->a_transposed ? l + i * p->lda : i + l * p->lda] *                            \
                           b[p->b_transposed ? j + l * p->ldb : l + j * p->ldb];                             \
                c[i + j * p->ldc] = (type)p->alpha * sum + (type)p->beta * c[i + j * p->ldc];                \
            }                                                                                                \
    }                                                                                                        \
    static cublasStatus_t begin_##letter(const Product *product) {                                           \
        if (!is_valid(product))                                                                              \
            return CUBLAS_STATUS_INVALID_VALUE;                                                              \
        fake_cuda_begin(run_##letter, product, sizeof *product);                                             \
        return CUBLAS_STATUS_SUCCESS;                                                                        \
    }
#define DEFINE_CALL(letter, suffix, type, Number, Size)                                                      \
    cublasStatus_t cublas##letter##gemm##suffix(                                                             \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Size m, Size n, Size k,   \
        const Number *alpha, const Number *a, Size lda, const Number *b, Size ldb, const Number *beta,       \
        Number *c, Size ldc) {                                                                               \
        const Product product = {m,                                                                          \
                                 n,                                                                          \
                                 k,                                                                          \
                                 lda,                                                                        \
                                 ldb,                                                                        \
                                 ldc,                                                                        \
                                 transa == CUBLAS_OP_T,                                                      \
                                 transb == CUBLAS_OP_T,                                                      \
                                 *(const type *)alpha,                                                       \
                                 *(const type *)beta,                                                        \
                                 a,                                                                          \
                                 b,                                                                          \
                                 c};                                                                         \
        (void)handle;                                                                                        \
        return begin_##letter(&product);                                                                     \
    }
DEFINE_GEMM(S, float)
DEFINE_GEMM(D, double)
DEFINE_GEMM(C, float _Complex)
DEFINE_GEMM(Z, double _Complex)
DEFINE_CALL(S, , float, float, int)
DEFINE_CALL(D, , double, double, int)
DEFINE_CALL(C, , float _Complex, cuComplex, int)
DEFINE_CALL(Z, , double _Complex, cuDoubleComplex, int)
#ifdef cublasSgemm_64
DEFINE_CALL(S, _64, float, float, int64_t)
DEFINE_CALL(D, _64, double, double, int64_t)
DEFINE_CALL(C, _64, float _Complex, cuComplex, int64_t)
DEFINE_CALL(Z, _64, double _Complex, cuDoubleComplex, int64_t)
#endif
