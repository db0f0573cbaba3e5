// SPDX-License-Identifier: BSD-3-Clause
// libcublas.so.13 of tests: products of matrices and vectors on the host, in the queue of fake_cuda.c.
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

static CUstream used;

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    (void)handle;
    used = (CUstream)stream;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasPointerMode_t pointer_mode;

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
    (void)handle;
    pointer_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

typedef struct {
    int64_t m, n, k, lda, ldb, ldc, count, a_step, b_step, c_step;
    int a_transposed, b_transposed;
    double _Complex alpha, beta;
    const void *a, *b;
    void *c;
    const void *const *a_pointers, *const *b_pointers;
    void *const *c_pointers;
    int64_t incx, incy; // of a product with a vector; 0 else
} Product;

static int is_valid(const Product *p) {
    if (p->incx)
        return p->m >= 0 && p->k >= 0 && p->lda >= (p->a_transposed ? p->k : p->m) && p->lda >= 1 &&
               p->incx > 0 && p->incy > 0;
    return p->m >= 0 && p->n >= 0 && p->k >= 0 && p->count >= 0 &&
           p->lda >= (p->a_transposed ? p->k : p->m) && p->lda >= 1 &&
           p->ldb >= (p->b_transposed ? p->n : p->k) && p->ldb >= 1 && p->ldc >= p->m && p->ldc >= 1;
}

// With beta 0, elements of C that are there are not read.
#define DEFINE_GEMM(letter, type)                                                                            \
    static void run_##letter(void *arguments) {                                                              \
        const Product *p = arguments;                                                                        \
        for (int64_t each = 0; each < p->count; each++) {                                                    \
            const type *a = p->a_pointers ? p->a_pointers[each] : (const type *)p->a + each * p->a_step;     \
            const type *b = p->b_pointers ? p->b_pointers[each] : (const type *)p->b + each * p->b_step;     \
            type *c = p->c_pointers ? p->c_pointers[each] : (type *)p->c + each * p->c_step;                 \
            for (int64_t i = 0; i < p->m; i++)                                                               \
                for (int64_t j = 0; j < p->n; j++) {                                                         \
                    type *element = &c[p->incy ? i * p->incy : i + j * p->ldc];                              \
                    type sum = 0;                                                                            \
                    for (int64_t l = 0; l < p->k; l++)                                                       \
                        sum += a[p->a_transposed ? l + i * p->lda : i + l * p->lda] *                        \
                               b[p->incx           ? l * p->incx                                             \
                                 : p->b_transposed ? j + l * p->ldb                                          \
                                                   : l + j * p->ldb];                                        \
                    *element = (type)p->alpha * sum + (p->beta == 0 ? 0 : (type)p->beta * *element);         \
                }                                                                                            \
        }                                                                                                    \
    }                                                                                                        \
    static cublasStatus_t begin_##letter(const Product *product) {                                           \
        if (!is_valid(product) || pointer_mode != CUBLAS_POINTER_MODE_HOST)                                  \
            return CUBLAS_STATUS_INVALID_VALUE;                                                              \
        fake_cuda.library = product->incx ? "gemv" : "gemm";                                                 \
        fake_cuda_begin(used, run_##letter, product, sizeof *product);                                       \
        return CUBLAS_STATUS_SUCCESS;                                                                        \
    }
#define COMMON(type)                                                                                         \
    .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc, .a_transposed = transa == CUBLAS_OP_T,       \
    .b_transposed = transb == CUBLAS_OP_T, .alpha = *(const type *)alpha, .beta = *(const type *)beta
#define DEFINE_CALL(letter, suffix, type, Number, Size)                                                      \
    cublasStatus_t cublas##letter##gemm##suffix(                                                             \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Size m, Size n, Size k,   \
        const Number *alpha, const Number *a, Size lda, const Number *b, Size ldb, const Number *beta,       \
        Number *c, Size ldc) {                                                                               \
        const Product product = {COMMON(type), .count = 1, .a = a, .b = b, .c = c};                          \
        (void)handle;                                                                                        \
        return begin_##letter(&product);                                                                     \
    }                                                                                                        \
    cublasStatus_t cublas##letter##gemmStridedBatched##suffix(                                               \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Size m, Size n, Size k,   \
        const Number *alpha, const Number *a, Size lda, long long a_step, const Number *b, Size ldb,         \
        long long b_step, const Number *beta, Number *c, Size ldc, long long c_step, Size count) {           \
        const Product product = {COMMON(type), .count = count,   .a = a,           .b = b,                   \
                                 .c = c,       .a_step = a_step, .b_step = b_step, .c_step = c_step};        \
        (void)handle;                                                                                        \
        return begin_##letter(&product);                                                                     \
    }                                                                                                        \
    cublasStatus_t cublas##letter##gemmBatched##suffix(                                                      \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, Size m, Size n, Size k,   \
        const Number *alpha, const Number *const *a, Size lda, const Number *const *b, Size ldb,             \
        const Number *beta, Number *const *c, Size ldc, Size count) {                                        \
        const Product product = {COMMON(type), .count = count, .a_pointers = (const void *const *)a,         \
                                 .b_pointers = (const void *const *)b, .c_pointers = (void *const *)c};      \
        (void)handle;                                                                                        \
        return begin_##letter(&product);                                                                     \
    }                                                                                                        \
    cublasStatus_t cublas##letter##gemv##suffix(                                                             \
        cublasHandle_t handle, cublasOperation_t trans, Size rows, Size columns, const Number *alpha,        \
        const Number *a, Size lda, const Number *x, Size incx, const Number *beta, Number *y, Size incy) {   \
        const int transposed = trans == CUBLAS_OP_T;                                                         \
        const Product product = {.m = transposed ? columns : rows,                                           \
                                 .n = 1,                                                                     \
                                 .k = transposed ? rows : columns,                                           \
                                 .lda = lda,                                                                 \
                                 .a_transposed = transposed,                                                 \
                                 .alpha = *(const type *)alpha,                                              \
                                 .beta = *(const type *)beta,                                                \
                                 .count = 1,                                                                 \
                                 .a = a,                                                                     \
                                 .b = x,                                                                     \
                                 .c = y,                                                                     \
                                 .incx = incx,                                                               \
                                 .incy = incy};                                                              \
        (void)handle;                                                                                        \
        return incx ? begin_##letter(&product) : CUBLAS_STATUS_INVALID_VALUE;                                \
    }

typedef struct {
    int64_t m, n, incx, incy, lda;
    double _Complex alpha;
    const void *x, *y;
    void *result;
} Vectors;

static int are_valid(const Vectors *v) {
    return v->m >= 0 && v->n >= 0 && v->incx > 0 && v->incy > 0 && v->lda >= v->m;
}

#define DEFINE_VECTORS(letter, type)                                                                         \
    static void run_ger_##letter(void *arguments) {                                                          \
        const Vectors *v = arguments;                                                                        \
        const type *x = v->x, *y = v->y;                                                                     \
        type *a = v->result;                                                                                 \
        for (int64_t i = 0; i < v->m; i++)                                                                   \
            for (int64_t j = 0; j < v->n; j++)                                                               \
                a[i + j * v->lda] += (type)v->alpha * x[i * v->incx] * y[j * v->incy];                       \
    }                                                                                                        \
    static void run_dot_##letter(void *arguments) {                                                          \
        const Vectors *v = arguments;                                                                        \
        const type *x = v->x, *y = v->y;                                                                     \
        type sum = 0;                                                                                        \
        for (int64_t i = 0; i < v->m; i++)                                                                   \
            sum += x[i * v->incx] * y[i * v->incy];                                                          \
        *(type *)v->result = sum;                                                                            \
    }                                                                                                        \
    static void run_axpy_##letter(void *arguments) {                                                         \
        const Vectors *v = arguments;                                                                        \
        const type *x = v->x;                                                                                \
        type *y = v->result;                                                                                 \
        for (int64_t i = 0; i < v->m; i++)                                                                   \
            y[i * v->incy] += (type)v->alpha * x[i * v->incx];                                               \
    }
#define DEFINE_VECTOR_CALLS(letter, suffix, type, Number, Size, ger, dot)                                    \
    cublasStatus_t cublas##letter##ger##suffix(cublasHandle_t handle, Size m, Size n, const Number *alpha,   \
                                               const Number *x, Size incx, const Number *y, Size incy,       \
                                               Number *a, Size lda) {                                        \
        const Vectors v = {m, n, incx, incy, lda, *(const type *)alpha, x, y, a};                            \
        (void)handle;                                                                                        \
        return begin_vectors("ger", run_ger_##letter, &v, CUBLAS_POINTER_MODE_HOST);                         \
    }                                                                                                        \
    cublasStatus_t cublas##letter##dot##suffix(cublasHandle_t handle, Size n, const Number *x, Size incx,    \
                                               const Number *y, Size incy, Number *result) {                 \
        const Vectors v = {n, 1, incx, incy, n, 1, x, y, result};                                            \
        (void)handle;                                                                                        \
        return begin_vectors("dot", run_dot_##letter, &v, CUBLAS_POINTER_MODE_DEVICE);                       \
    }                                                                                                        \
    cublasStatus_t cublas##letter##axpy##suffix(cublasHandle_t handle, Size n, const Number *alpha,          \
                                                const Number *x, Size incx, Number *y, Size incy) {          \
        const Vectors v = {n, 1, incx, incy, n, *(const type *)alpha, x, NULL, y};                           \
        (void)handle;                                                                                        \
        return begin_vectors("axpy", run_axpy_##letter, &v, CUBLAS_POINTER_MODE_HOST);                       \
    }

static cublasStatus_t begin_vectors(const char *name, void (*run)(void *arguments), const Vectors *v,
                                    cublasPointerMode_t mode) {
    if (!are_valid(v) || pointer_mode != mode)
        return CUBLAS_STATUS_INVALID_VALUE;
    fake_cuda.library = name;
    fake_cuda_begin(used, run, v, sizeof *v);
    return CUBLAS_STATUS_SUCCESS;
}

DEFINE_VECTORS(S, float)
DEFINE_VECTORS(D, double)
DEFINE_VECTORS(C, float _Complex)
DEFINE_VECTORS(Z, double _Complex)
DEFINE_VECTOR_CALLS(S, , float, float, int, ger, dot)
DEFINE_VECTOR_CALLS(D, , double, double, int, ger, dot)
DEFINE_VECTOR_CALLS(C, , float _Complex, cuComplex, int, geru, dotu)
DEFINE_VECTOR_CALLS(Z, , double _Complex, cuDoubleComplex, int, geru, dotu)
#ifdef cublasSgemm_64
DEFINE_VECTOR_CALLS(S, _64, float, float, int64_t, ger, dot)
DEFINE_VECTOR_CALLS(D, _64, double, double, int64_t, ger, dot)
DEFINE_VECTOR_CALLS(C, _64, float _Complex, cuComplex, int64_t, geru, dotu)
DEFINE_VECTOR_CALLS(Z, _64, double _Complex, cuDoubleComplex, int64_t, geru, dotu)
#endif
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
